/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of parallel.c, whose head names their sources, and the variables
 * that they read. If a flag has several names, the usual one comes last,
 * because messages use the last one. Python's argparse accepts a unique prefix
 * of a flag.
 */
#include "command_internal.h"

#include <stdlib.h>
#include <string.h>

#include "kube/command/env.h"
#include "kube/command/parallel.h"
#include "kube/pod.h"
#include "rules/kube/kinds.h"

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

/*
 * Variables that a command assigns by `NAME=value` words. They are sorted by
 * name, because a script may have very many words, and each may refer to a
 * variable.
 */

struct assignment {
	const char *name; /* ends at the '=' */
	size_t len;
	const struct arg *arg;
};

struct assignments {
	struct assignment *items;
	size_t n;
};

static int compare(const void *a, const void *b)
{
	const struct assignment *x = a, *y = b;
	size_t len = x->len < y->len ? x->len : y->len;
	int order = memcmp(x->name, y->name, len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static const struct assignments *read_all(const struct container *c)
{
	struct arena *arena = c->pod->memo->arena;
	struct argv argv = container_argv(c);
	struct assignments *all = ARENA_NEW(arena, struct assignments);

	all->items = ARENA_ARRAY(arena, struct assignment, argv.n + 1);
	for (size_t i = 0; i < argv.n; i++) {
		const char *text = argv.items[i].text;
		const char *end = text ? strchr(text, '=') : NULL;

		if (end && end > text)
			all->items[all->n++] = (struct assignment){
				text, (size_t)(end - text), &argv.items[i]};
	}
	qsort(all->items, all->n, sizeof(*all->items), compare);
	return all;
}

const char *assigned_value(const struct container *c, const char *name,
			   bool *set)
{
	const struct assignment key = {name, strlen(name), NULL}, *found;
	const struct argv argv = container_argv(c);
	const struct assignments *all;

	*set = false;
	if (!argv_may_assign(&argv, name))
		return NULL;
	if (!c->memo->assigned)
		c->memo->assigned = read_all(c);
	all = c->memo->assigned;
	found = bsearch(&key, all->items, all->n, sizeof(key), compare);
	if (!found)
		return NULL;
	*set = true;
	/* If it is assigned twice, its effective value is unknown. */
	if (found->arg->unknown ||
	    (found > all->items && !compare(found - 1, found)) ||
	    (found + 1 < all->items + all->n && !compare(found + 1, found)))
		return NULL;
	return found->name + found->len + 1;
}

/*
 * Decides whether torchrun uses its default address. Source: torch
 * distributed/run.py at 010929fd (--master-addr, --node-rank),
 * argparse_util.py (PET_* variables).
 */

/* True if a flag, or a variable of torchrun, may give it an address or a
 * rank. */
static bool may_have_address(const struct container *c)
{
	static const char *const texts[] = {
		"--rdzv", "--master", "--node", "--standalone", "PET_", NULL};
	static const char *const names[] = {
		"PET_RDZV_ENDPOINT", "PET_RDZV_BACKEND", "PET_MASTER_ADDR",
		"PET_NODE_RANK",     "PET_STANDALONE",	 NULL};

	for (const char *const *text = texts; *text; text++)
		if (container_says(c, *text))
			return true;
	for (const char *const *name = names; *name; name++)
		if (container_env(c, *name) || container_env_from(c, *name))
			return true;
	return false;
}

const struct degree *torchrun_without_address(struct parallel_list list,
					      const struct container *c)
{
	const struct degree *nodes;

	if (list.n != 1 || strcmp(list.items[0].program, "torchrun") != 0 ||
	    list.items[0].unknown)
		return NULL;
	nodes = &list.items[0].degrees[DEGREE_NODES];
	return nodes->given && !nodes->unknown && nodes->n > 1 &&
			       !may_have_address(c)
		       ? nodes
		       : NULL;
}
