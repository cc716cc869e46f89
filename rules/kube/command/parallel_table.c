/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of parallel.c, whose head names their sources. If a flag has
 * several names, the usual one comes last, because messages use the last one.
 * Python's argparse accepts a unique prefix of a flag.
 */
#include "rules/kube/command/parallel_internal.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define WORDS(...)                                                             \
	{                                                                      \
		.names = NAMES(__VA_ARGS__)                                    \
	}

struct parallel_program parallel_programs[] = {
	{"torchrun", ID_TORCHRUN, PARALLEL_LAUNCHER,
	 WORDS("torchrun", "torch.distributed.run", "torch.distributed.launch"),
	 .by_env = true, .per_node = true},
	/* Without --nproc-per-node, `tune run` starts one process, whatever the
	 * variables contain. */
	{"tune run", ID_TUNE, PARALLEL_LAUNCHER, WORDS("tune"), .then = "run",
	 .per_node = true},
	{"accelerate", ID_ACCELERATE, PARALLEL_LAUNCHER, WORDS("accelerate"),
	 .then = "launch", .per_node = true,
	 .spread = NAMES("--config-file", "--deepspeed-hostfile", "--tpu")},
	{"accelerate", ID_ACCELERATE, PARALLEL_LAUNCHER,
	 WORDS("accelerate-launch", "accelerate.commands.launch"),
	 .per_node = true,
	 .spread = NAMES("--config-file", "--deepspeed-hostfile", "--tpu")},
	{"deepspeed", ID_DEEPSPEED, PARALLEL_LAUNCHER,
	 WORDS("deepspeed", "deepspeed.launcher.runner"), .per_node = true,
	 .spread = NAMES("-i", "--include", "-e", "--exclude")},
	{"mpirun", ID_MPIRUN, PARALLEL_MPI, WORDS("mpirun", "mpiexec"),
	 .per_node = true},
	{"horovodrun", ID_HOROVODRUN, PARALLEL_MPI, WORDS("horovodrun"),
	 .per_node = true,
	 .spread = NAMES("--min-np", "--max-np", "--host-discovery-script")},
#define VLLM_SPREAD                                                            \
	NAMES("--data-parallel-rank", "-dpn", "--data-parallel-start-rank",    \
	      "-dpr", "--data-parallel-hybrid-lb", "-dph",                     \
	      "--data-parallel-external-lb", "-dpe", "--headless",             \
	      "--worker-use-ray", "--config", "--data-parallel-backend",       \
	      "--node-rank", "--omni")
	{"vLLM", ID_VLLM, PARALLEL_SERVER, WORDS("vllm"), .then = "serve",
	 .image = "vllm-openai", .format = "vLLM", .spread = VLLM_SPREAD},
	{"vLLM", ID_VLLM, PARALLEL_SERVER,
	 WORDS("vllm.entrypoints.openai.api_server",
	       "vllm.entrypoints.api_server", "dynamo.vllm"),
	 .spread = VLLM_SPREAD},
	/* Transformers, which this server can use instead of vLLM, places a
	 * model on all devices. */
	{"KServe's Hugging Face server", ID_VLLM, PARALLEL_SERVER,
	 WORDS("huggingfaceserver"), .image = "huggingfaceserver",
	 .format = "huggingface", .takes_all = true, .spread = VLLM_SPREAD},
	{"SGLang", ID_SGLANG, PARALLEL_SERVER, WORDS("sglang"), .then = "serve",
	 .per_node = true,
	 .spread = NAMES("--use-ray", "--config", "--num-gpus")},
	{"SGLang", ID_SGLANG, PARALLEL_SERVER,
	 WORDS("sglang.launch_server", "sglang_router.launch_server",
	       "dynamo.sglang"),
	 .per_node = true, .spread = NAMES("--use-ray", "--config")},
	{"TGI", ID_TGI, PARALLEL_SERVER, WORDS("text-generation-launcher"),
	 .image = "text-generation-inference", .by_env = true,
	 .takes_all = true},
	{"LMDeploy", ID_LMDEPLOY, PARALLEL_SERVER, WORDS("lmdeploy"),
	 .then = "serve", .spread = NAMES("--dp", "--ep", "--proxy-url")},
	{"TensorRT-LLM", ID_TRTLLM, PARALLEL_SERVER, WORDS("trtllm-serve"),
	 .spread =
		 NAMES("--extra-llm-api-options", "--config", "--gpus-per-node",
		       "disaggregated", "disaggregated_mpi_worker")},
	{"Triton", ID_TRITON, PARALLEL_SERVER, WORDS("launch_triton_server.py"),
	 .spread = NAMES("--multi-model", "--oversubscribe")},
	{0},
};

const struct parallel_flag parallel_flags[] = {
	{ID_TORCHRUN, DEGREE_PROCESSES, "--nproc-per-node"},
	{ID_TORCHRUN, DEGREE_PROCESSES, "PET_NPROC_PER_NODE"},
	{ID_TORCHRUN, DEGREE_NODES, "--nnodes"},
	{ID_TORCHRUN, DEGREE_NODES, "PET_NNODES"},
	{ID_TUNE, DEGREE_PROCESSES, "--nproc-per-node"},
	{ID_TUNE, DEGREE_NODES, "--nnodes"},
	{ID_ACCELERATE, DEGREE_TOTAL, "--num-processes"},
	{ID_ACCELERATE, DEGREE_NODES, "--num-machines"},
	{ID_DEEPSPEED, DEGREE_PROCESSES, "--num-gpus"},
	{ID_DEEPSPEED, DEGREE_NODES, "--num-nodes"},
	{ID_MPIRUN, DEGREE_TOTAL, "-c"},
	{ID_MPIRUN, DEGREE_TOTAL, "--n"},
	{ID_MPIRUN, DEGREE_TOTAL, "-n"},
	{ID_MPIRUN, DEGREE_TOTAL, "--np"},
	{ID_MPIRUN, DEGREE_TOTAL, "-np"},
	{ID_MPIRUN, DEGREE_PROCESSES, "-npernode"},
	{ID_MPIRUN, DEGREE_PROCESSES, "--npernode"},
	{ID_MPIRUN, DEGREE_PROCESSES, "-ppn"},
	{ID_HOROVODRUN, DEGREE_TOTAL, "--num-proc"},
	{ID_HOROVODRUN, DEGREE_TOTAL, "-np"},
	{ID_VLLM, DEGREE_TENSOR, "-tp"},
	{ID_VLLM, DEGREE_TENSOR, "--tensor-parallel"},
	{ID_VLLM, DEGREE_TENSOR, "--tensor-parallel-size"},
	{ID_VLLM, DEGREE_PIPELINE, "-pp"},
	{ID_VLLM, DEGREE_PIPELINE, "--pipeline-parallel"},
	{ID_VLLM, DEGREE_PIPELINE, "--pipeline-parallel-size"},
	{ID_VLLM, DEGREE_CONTEXT, "-pcp"},
	{ID_VLLM, DEGREE_CONTEXT, "--prefill-context-parallel-size"},
	{ID_VLLM, DEGREE_DATA, "-dp"},
	{ID_VLLM, DEGREE_DATA, "--data-parallel-size"},
	{ID_VLLM, DEGREE_LOCAL, "-dpl"},
	{ID_VLLM, DEGREE_LOCAL, "--data-parallel-size-local"},
	{ID_VLLM, DEGREE_NODES, "--nnodes"},
	{ID_SGLANG, DEGREE_TENSOR, "--tp"},
	{ID_SGLANG, DEGREE_TENSOR, "--tp-size"},
	{ID_SGLANG, DEGREE_TENSOR, "--tensor-parallel"},
	{ID_SGLANG, DEGREE_TENSOR, "--tensor-parallel-size"},
	{ID_SGLANG, DEGREE_PIPELINE, "--pp"},
	{ID_SGLANG, DEGREE_PIPELINE, "--pp-size"},
	{ID_SGLANG, DEGREE_PIPELINE, "--pipeline-parallel"},
	{ID_SGLANG, DEGREE_PIPELINE, "--pipeline-parallel-size"},
	{ID_SGLANG, DEGREE_DATA, "--dp"},
	{ID_SGLANG, DEGREE_DATA, "--dp-size"},
	{ID_SGLANG, DEGREE_DATA, "--data-parallel-size"},
	{ID_SGLANG, DEGREE_NODES, "--nnodes"},
	{ID_TGI, DEGREE_TENSOR, "--num-shard"},
	{ID_TGI, DEGREE_TENSOR, "NUM_SHARD"},
	{ID_LMDEPLOY, DEGREE_TENSOR, "--tp"},
	{ID_LMDEPLOY, DEGREE_NODES, "--nnodes"},
	{ID_TRTLLM, DEGREE_TENSOR, "--tp-size"},
	{ID_TRTLLM, DEGREE_PIPELINE, "--pp-size"},
	{ID_TRTLLM, DEGREE_CONTEXT, "--cp-size"},
	{ID_TRITON, DEGREE_TENSOR, "--world-size"},
	{0},
};
