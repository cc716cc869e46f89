/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks for the signs of include/kube/purpose/purpose.h, the strongest first.
 * Only main containers count, because init containers and sidecars often have
 * the image of the container that computes. If another pod of the same object
 * has devices, an image alone is not a sign, because launchers, heads and
 * routers run it as well.
 *
 * The nvidia container runtime reads NVIDIA_VISIBLE_DEVICES
 * (nvidia-container-toolkit internal/config/image). MPI Operator hides GPUs
 * from the launcher (mpi_job_controller.go). KubeRay's head takes part in
 * scheduling unless rayStartParams num-gpus is "0".
 */
#include "kube/purpose/purpose.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/scheduling/node_devices.h"
#include "rules/kube/operator.h"

/* -- visibility ---------------------------------------------------------- */

static bool hides_all(const char *text)
{
	static const char *const none[] = {"",	 "none",       "void",
					   "-1", "NoDevFiles", NULL};

	return text_any(text, none, text_eq);
}

/* True for a value with `$X` or `${X}`, which is replaced before the API server
 * gets the object. */
static bool is_replaced_later(const struct env_value *value)
{
	return value->written && strchr(value->text, '$');
}

enum visible env_visible(const struct env_value *value)
{
	if (value->state == ENV_UNSET)
		return VISIBLE_UNSET;
	if (value->state == ENV_UNKNOWN || is_replaced_later(value))
		return VISIBLE_UNKNOWN;
	if (hides_all(value->text))
		return VISIBLE_NONE;
	return strcmp(value->text, "all") ? VISIBLE_SOME : VISIBLE_ALL;
}

/* Classifies an item of a list of devices. Unknown for an item with a `$`, and
 * for one that hides all devices if it stands alone. */
static enum visible item_visible(const char *item, size_t len)
{
	char text[16];

	if (memchr(item, '$', len))
		return VISIBLE_UNKNOWN;
	if (len >= sizeof(text))
		return VISIBLE_SOME;
	memcpy(text, item, len);
	text[len] = '\0';
	if (text_eq(text, "all"))
		return VISIBLE_ALL;
	return hides_all(text) ? VISIBLE_UNKNOWN : VISIBLE_SOME;
}

enum visible env_shows(const struct env_value *value)
{
	static const char between[] = ", \t\n\v\f\r";
	enum visible most = VISIBLE_UNKNOWN;
	size_t len;

	if (value->state != ENV_KNOWN || !is_replaced_later(value))
		return env_visible(value);
	for (const char *at = value->text; *at; at += len) {
		enum visible one;

		at += strspn(at, between);
		len = strcspn(at, between);
		one = item_visible(at, len);
		if (one == VISIBLE_ALL)
			return one;
		if (one == VISIBLE_SOME)
			most = one;
	}
	return most;
}

enum visible container_visible(const struct container *c, const char *name,
			       struct env_value *value)
{
	struct env_value found = container_env_value(c, name);

	if (value)
		*value = found;
	return env_visible(&found);
}

bool container_is_old_cuda(const struct container *c)
{
	static const char name[] = "NVIDIA_VISIBLE_DEVICES";
	const struct pod *pod = c->pod;
	const char *require;

	if (container_uses_gpu(c) != TRI_NO ||
	    container_env_after(c, name, NULL))
		return false;
	/* Operators request devices for main containers. */
	if (c->role == CONTAINER_MAIN &&
	    (pod->gpu_by & (GPU_BY_OPERATOR | GPU_BY_FIELD) ||
	     pod->gpu_unknown || pod->injects & INJECT_GPU))
		return false;
	require = container_env_text(c, "NVIDIA_REQUIRE_CUDA");
	return !require || !*require;
}

/* True for programs that forward requests to servers or scale these. */
static bool is_router(const struct argv *argv)
{
	static const char *const names[] = {"sglang_router.launch_router",
					    "sglang-router",
					    "vllm_router.app",
					    "vllm-router",
					    "dynamo.frontend",
					    "dynamo.router",
					    "dynamo.planner",
					    NULL};
	static struct argv_names routers = {.names = names};

	return argv_have_name(argv, &routers);
}

/* True for programs that only send requests to a server and measure it. A
 * script may start the server as well. */
static bool is_load_generator(const struct argv *argv)
{
	static const char *const names[] = {
		"aiperf",	  "genai-perf", "guidellm",
		"inference-perf", "locust",	"k6",
		"perf_analyzer",  "llmperf",	NULL};
	static const char *const servers[] = {"vllm", "sglang.launch_server",
					      "tritonserver", "trtllm-serve",
					      NULL};
	static struct argv_names generators = {.names = names};

	return argv_have_name(argv, &generators) &&
	       !argv_have_any(argv, servers);
}

/* True if the author hides all GPUs, selects the CPU as the device, runs a
 * router or a load generator, or uses an image for the CPU. */
static bool is_for_cpu(const struct argv *argv, const struct container *c)
{
	static const char *const hiding[] = {
		"NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
		"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", NULL};
	static const char *const flags[] = {"device", "accelerator", "backend",
					    "dist-backend", NULL};

	for (const char *const *name = hiding; *name; name++)
		if (container_visible(c, *name, NULL) == VISIBLE_NONE)
			return true;
	for (const char *const *flag = flags; *flag; flag++) {
		const char *value = argv_flag(argv, *flag, NULL);

		if (text_eq(value, "cpu") || text_eq(value, "gloo"))
			return true;
	}
	return argv_have(argv, "--cpu") || argv_have(argv, "--no-cuda") ||
	       argv_have(argv, "--use-cpu") || is_router(argv) ||
	       is_load_generator(argv) || image_is_cpu(c->image);
}

/* -- commands ------------------------------------------------------------ */

struct sign {
	const char *what;
	const struct node *at;
	int64_t devices;
};

static int64_t number(const char *text)
{
	char *end;
	long n = text ? strtol(text, &end, 10) : 0;

	return n > 1 && n <= 100000 && !*end ? n : 0;
}

/* True if a flag or NUM_SHARD requests several devices, or several processes or
 * shards that use one each. Describes it in *sign. */
static bool flag_sign(const struct argv *argv, const struct container *c,
		      struct sign *sign)
{
	static const char *const flags[] = {"--tensor-parallel-size",
					    "-tp",
					    "--tp",
					    "--tp-size",
					    "--num-shard",
					    "--nproc-per-node",
					    "--num-gpus",
					    NULL};
	struct env_value shards = container_env_value(c, "NUM_SHARD");

	for (const char *const *flag = flags; *flag; flag++) {
		const struct arg *arg;

		sign->devices = number(argv_flag(argv, *flag, &arg));
		if (!sign->devices)
			continue;
		sign->what = *flag;
		sign->at = arg->node;
		return true;
	}
	sign->devices = number(shards.text);
	sign->what = "NUM_SHARD";
	sign->at = shards.at;
	return sign->devices > 0;
}

/* True if Dynamo's engines only prepare requests and forward them because of
 * one of these flags. With --route-to-encoder they do compute. */
static bool only_routes(const struct argv *argv)
{
	return argv_have(argv, "--multimodal-processor") ||
	       argv_have(argv, "--ec-processor");
}

static const char *dynamo_engine(const struct argv *argv)
{
	static const char *const engines[] = {"dynamo.vllm", "dynamo.sglang",
					      "dynamo.trtllm", NULL};

	return only_routes(argv) ? NULL : argv_have_any(argv, engines);
}

static const struct node *word_at(const struct argv *argv, const char *name)
{
	for (size_t i = 0; i < argv->n; i++)
		if (text_ends(argv->items[i].text, name))
			return argv->items[i].node;
	return NULL;
}

/* True for programs that fail at once, or do nothing, without a device. */
static bool program_sign(const struct argv *argv, struct sign *sign)
{
	static const char *const programs[] = {
		"nvidia-smi",	   "dcgmi",
		"deviceQuery",	   "nvbandwidth",
		"vectorAdd",	   "rocm-smi",
		"all_reduce_perf", "all_gather_perf",
		"sendrecv_perf",   "gpu-burn",
		"gpu_burn",	   "trtllm-serve",
		"trtllm-build",	   NULL};

	const char *what = dynamo_engine(argv);

	if (!what)
		what = argv_have_any(argv, programs);
	if (what)
		*sign = (struct sign){.what = what, .at = word_at(argv, what)};
	return what;
}

/* True for vLLM's commands that only send requests to a server. is_chore()
 * recognizes scripts with that purpose by their names. */
static bool is_client(const struct argv *argv)
{
	return argv_have(argv, "vllm") &&
	       (argv_have(argv, "chat") || argv_have(argv, "complete") ||
		(argv_have(argv, "bench") && argv_have(argv, "serve")));
}

/* True for commands that need no device, because they fetch, convert, compile,
 * wait, show results, route requests, or start programs elsewhere. */
static bool is_chore(const struct argv *argv)
{
	static const char *const chores[] = {"huggingface-cli",
					     "hf",
					     "wget",
					     "curl",
					     "git",
					     "aws",
					     "gsutil",
					     "gcloud",
					     "rsync",
					     "tar",
					     "sleep",
					     "tail",
					     "ray",
					     "kubectl",
					     "pip",
					     "tensorboard",
					     "mpirun",
					     "mpiexec",
					     "horovodrun",
					     "sshd",
					     "http.server",
					     "nc",
					     "dynamo.frontend",
					     "dynamo.mocker",
					     "mooncake_master",
					     "mooncake.mooncake_store_service",
					     "mooncake.http_metadata_server",
					     "list-model-profiles",
					     "nvcc",
					     NULL};
	static const char *const parts[] = {
		"download", "prepare", "preprocess",	"convert",
		"tokeniz",  "upload",  "bench_serving", "benchmark_serving",
		"dataset",  NULL};

	if (only_routes(argv) || is_client(argv) || argv_have_any(argv, chores))
		return true;
	for (size_t i = 0; i < argv->n; i++)
		if (text_any(argv->items[i].text, parts, text_contains_ci))
			return true;
	return false;
}

/* -- roles --------------------------------------------------------------- */

/*
 * True for a role that works without a device while other roles have one:
 * launcher, Ray head configured without one, router, submitter.
 */
static bool is_cpu_role(const struct pod *pod)
{
	static const char *const roles[] = {
		"submitter", "PS",	 "Evaluator",	"Scheduler",
		"driver",    "launcher", "router",	"frontend",
		"Frontend",  "gateway",	 "client",	"planner",
		"epp",	     "ps",	 "transformer", "explainer",
		"scheduler", "proxy",	 NULL};
	const struct node *params = node_get(pod->group, "rayStartParams");

	return pod_is_launcher(pod) ||
	       node_eq(node_get(params, "num-gpus"), "0") ||
	       text_any(pod->role, roles, text_eq);
}

bool pod_is_preset(const struct pod *pod)
{
	const struct object *object = pod->object;
	const struct node *list = pod->group ? pod->group->parent : NULL;

	/* RoleBasedGroup: a role patches the template to which it refers. */
	if (list && text_eq(list->key, "roleTemplates"))
		return true;
	return object->class == KIND_TEMPLATE &&
	       !(object->type->flags & KIND_WHOLE);
}

bool pod_is_group_worker(const struct pod *pod)
{
	return pod->object->npods > 1 && text_contains_ci(pod->role, "worker");
}

/* True for the ranks of a training job, which are equal, unlike heads and
 * launchers. */
static bool is_rank(const struct pod *pod)
{
	return object_operator(pod->object)->ranks_are_equal &&
	       strcmp(pod->role, "Launcher") != 0;
}

static bool others_have_devices(const struct pod *pod)
{
	FOR_EACH_POD(pod->object, other)
		if (other != pod && pod_uses_gpu(other) != TRI_NO)
			return true;
	return false;
}

/* True if the pod's image or placement may count as a sign. They do not count
 * for a proxy among several roles, which shares nodes and image with the pods
 * that it serves. */
static bool stands_alone(const struct pod *pod)
{
	return is_rank(pod) || !others_have_devices(pod);
}

static bool image_counts(const struct pod *pod)
{
	const struct object *object = pod->object;

	return stands_alone(pod) && object->class != KIND_INTERACTIVE &&
	       (object->class != KIND_RAY || strcmp(pod->role, "Head") != 0);
}

/* True if the map contains another extended resource, which may be a device
 * that is in no table. */
static bool asks_for_other_device(const struct accelerator_extra *extra,
				  const struct node *map)
{
	FOR_EACH_CHILD(map, value)
		if (strchr(value->key, '/') && !fabric_resource(value->key) &&
		    !accelerator_resembles(extra, value->key))
			return true;
	return false;
}

bool pod_wrote(const struct pod *pod, const struct node *node)
{
	while (pod->made && node && node != pod->object->root)
		node = node->parent;
	return node;
}

/* -- result --------------------------------------------------------------- */

static bool image_sign(const struct pod *pod, const struct container *c)
{
	return container_image(c).gpu && image_counts(pod) &&
	       pod_wrote(pod, node_get(c->node, "image"));
}

/* Returns the first sign in the commands, or an image. Sets *main to the
 * container that may use a device, or to NULL if all run on the CPU. */
static struct intent containers_intent(const struct pod *pod,
				       const struct container **main)
{
	struct intent intent = {.by = INTENT_NONE};
	struct sign sign;

	*main = NULL;
	FOR_EACH_CONTAINER(pod, c) {
		struct argv argv;

		if (c->role != CONTAINER_MAIN)
			continue;
		argv = container_argv(c);
		if (is_for_cpu(&argv, c))
			continue;
		if (!*main)
			*main = c;
		if (flag_sign(&argv, c, &sign))
			return (struct intent){INTENT_FLAG, c, sign.at,
					       sign.what, sign.devices};
		if (program_sign(&argv, &sign))
			return (struct intent){INTENT_PROGRAM, c, sign.at,
					       sign.what, 0};
		if (intent.by == INTENT_NONE && image_sign(pod, c) &&
		    !is_chore(&argv) && !argv.unknown &&
		    !container_script_is_plain(c))
			intent = (struct intent){INTENT_IMAGE, c,
						 node_get(c->node, "image"),
						 c->image, 0};
	}
	return intent;
}

static const struct node *taint_tolerated(const struct accelerator_extra *extra,
					  const struct pod *pod)
{
	FOR_EACH_CHILD(pod_field(pod, "tolerations"), toleration) {
		const struct node *key = node_get(toleration, "key");

		if (gpu_taint_key(extra, node_str(key)))
			return key;
	}
	return NULL;
}

/* Returns the sign in the pod's placement. */
static struct intent placement_intent(const struct accelerator_extra *extra,
				      const struct pod *pod,
				      const struct container *c)
{
	const struct node *class = pod_field(pod, "runtimeClassName");
	const struct node *at;

	if (text_starts(node_str(class), "nvidia") && pod_wrote(pod, class))
		return (struct intent){INTENT_RUNTIME_CLASS, c, class,
				       node_str(class), 0};
	/* The nodes may be chosen for their fabric. */
	if (pod_asks_extended(pod))
		return (struct intent){.by = INTENT_NONE};
	at = pod_gpu_selector(pod, NULL);
	if (at && pod_wrote(pod, at))
		return (struct intent){INTENT_SELECTOR, c, at,
				       gpu_selector_key(at), 0};
	/* If a pod has a toleration without any other sign, it is probably left
	 * over; cpu-pod-tolerates-gpu-taint reports it. */
	at = taint_tolerated(extra, pod);
	if (at && pod_wrote(pod, at) &&
	    (pod_is_training(pod) || pod_is_serving(pod)))
		return (struct intent){INTENT_TOLERATION, c, at, node_str(at),
				       0};
	return (struct intent){.by = INTENT_NONE};
}

struct intent pod_gpu_intent(const struct accelerator_extra *extra,
			     const struct pod *pod)
{
	struct intent intent = {.by = INTENT_NONE}, placed;
	const struct container *main;

	/* A DaemonSet runs on GPU nodes in order to manage them. */
	if (is_cpu_role(pod) || pod_is_preset(pod) ||
	    pod->object->class == KIND_OTHER ||
	    pod->object->class == KIND_DAEMON)
		return intent;
	FOR_EACH_CONTAINER(pod, c)
		if (asks_for_other_device(extra, container_limits(c)) ||
		    asks_for_other_device(extra, container_requests(c)))
			return intent;
	intent = containers_intent(pod, &main);
	if (!main || intent.by == INTENT_FLAG || intent.by == INTENT_PROGRAM)
		return intent;
	if (pod->flat || !stands_alone(pod))
		return intent;
	placed = placement_intent(extra, pod,
				  intent.container ? intent.container : main);
	return placed.by == INTENT_NONE ? intent : placed;
}

static bool shows_server(const struct pod *pod)
{
	static const char *const words[] = {"server", "serving", "inference",
					    NULL};

	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN &&
		    (text_any(c->name, words, text_contains) ||
		     text_any(c->image, words, text_contains) ||
		     !node_is_unset(node_get(c->node, "readinessProbe"))))
			return true;
	return false;
}

bool pod_may_serve(const struct pod *pod)
{
	struct pod_memo *memo = pod->memo;

	if (!memo->may_serve_known) {
		memo->may_serve = shows_server(pod);
		memo->may_serve_known = true;
	}
	return memo->may_serve;
}
