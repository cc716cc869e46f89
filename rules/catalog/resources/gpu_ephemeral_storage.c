/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers that download weights into their own writable layer
 * without an ephemeral-storage request. The cache of a model hub is below the
 * home directory (or at the path of a variable) and grows to the size of the
 * model; without an ephemeral-storage request the scheduler does not plan for
 * it, and the kubelet evicts the pod for disk pressure in the middle of the
 * download.
 *
 * The folder is read from --download-dir or the variables of huggingface_hub
 * (default: ~/.cache/huggingface; the images of TGI and of Text Embeddings
 * Inference set /data, TGI's cloud builds set /tmp). The home folder is known
 * only for images that run as root.
 *
 * Source: kubernetes-engine-samples#1581 (57 GB used, request 0, /data was
 * mounted, the cache elsewhere); LMCache#1399.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/command/server.h"
#include "kube/purpose/purpose.h"

/* --- the cache ------------------------------------------------------------ */

/* True if a volume is mounted, or may be mounted, at the path, above it or
 * below it. */
static bool mounts_near(const struct container *c, const char *path)
{
	const struct node *mounts = node_get(c->node, "volumeMounts");

	FOR_EACH_CHILD(mounts, mount) {
		const char *at = node_str(node_get(mount, "mountPath"));

		if (!at || text_eq(at, path) || path_is_below(at, path) ||
		    path_is_below(path, at))
			return true;
	}
	return node_is_unknown(mounts);
}

/* True if Dynamo mounts a claim into the container, by the field `pvc` of
 * releases that lack `volumeMounts`. */
static bool mounts_claim(const struct container *c)
{
	return !node_is_unset(node_path(c->pod->source, "pvc.mountPoint"));
}

static bool runs_as_root(const struct container *c)
{
	static const char *const images[] = {"vllm-openai",	"vllm/vllm-tpu",
					     "lmsysorg/sglang", "rocm/vllm",
					     "rocm/sgl-dev",	NULL};

	return text_any(c->image, images, text_contains);
}

/* True if HOME or runAsUser is set, because users other than root have other
 * home folders. */
static bool home_is_unknown(const struct container *c)
{
	return container_env(c, "HOME") || container_security(c, "runAsUser");
}

/* Returns the folder of hub files in KServe's own image for Hugging Face, from
 * its Dockerfile. For images of other runtimes it is unknown. */
static const char *kserve_cache(const struct container *c)
{
	const struct node *format = node_path(c->node, "modelFormat.name");

	if (c->image)
		return text_contains(c->image, "kserve/huggingfaceserver")
			       ? "/tmp/huggingface"
			       : NULL;
	return node_eq(format, "huggingface") &&
			       node_is_unset(node_get(c->node, "runtime"))
		       ? "/tmp/huggingface"
		       : NULL;
}

/* True if variables from envFrom, or the shell that starts the program, may
 * set the cache folder. */
static bool may_be_elsewhere(const struct container *c)
{
	return !node_is_unset(node_get(c->node, "envFrom")) ||
	       container_says(c, "HF_HOME") || container_says(c, "_CACHE");
}

/* Returns the cache folder of the hub; NULL if it is unknown. */
static const char *cache_folder(const struct argv *argv,
				const struct container *c)
{
	static const char *const names[] = {
		"HF_HUB_CACHE",	      "HUGGINGFACE_HUB_CACHE", "HF_HOME",
		"TRANSFORMERS_CACHE", "XDG_CACHE_HOME",	       NULL};
	const struct arg *arg;
	const char *dir = argv_flag(argv, "--download-dir", &arg);

	if (arg)
		return dir;
	for (const char *const *name = names; *name; name++)
		if (container_env(c, *name))
			return container_env_text(c, *name);
	if (may_be_elsewhere(c))
		return NULL;
	dir = kserve_cache(c);
	if (dir || !c->image)
		return dir;
	if (home_is_unknown(c))
		return NULL;
	if (text_contains(c->image, "text-embeddings-inference"))
		return "/data";
	if (!text_contains(c->image, "text-generation-inference"))
		return runs_as_root(c) ? "/root/.cache/huggingface" : NULL;
	return mounts_near(c, "/tmp") ? NULL : "/data";
}

/* --- the layer ------------------------------------------------------------ */

static bool plans_storage(const struct container *c)
{
	return !node_is_unset(node_get(c->requests, "ephemeral-storage")) ||
	       !node_is_unset(node_get(c->limits, "ephemeral-storage"));
}

/* True for a model with up to 3 billion parameters (6 GB), which is smaller
 * than most images. */
static bool is_small(const struct container *c)
{
	int64_t size = container_model_size(c);

	return size > 0 && size <= 30;
}

/* True if nothing but /dev/shm is mounted, so that all other paths are in the
 * container's own layer. */
static bool mounts_shm_alone(const struct container *c)
{
	const struct node *mounts = node_get(c->node, "volumeMounts");

	FOR_EACH_CHILD(mounts, mount)
		if (!node_eq(node_get(mount, "mountPath"), "/dev/shm"))
			return false;
	return !node_is_unknown(mounts);
}

static bool is_set(const struct container *c, const char *name)
{
	struct env_value value = container_env_value(c, name);

	return value.state != ENV_UNSET && !text_eq(value.text, "0") &&
	       !text_eq(value.text, "false");
}

/* True if nothing is downloaded, because the weights exist or are dummies, or
 * ModelScope's cache is used, which has another path. */
static bool fetches_none(const struct argv *argv, const struct container *c)
{
	static const char *const names[] = {
		"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "VLLM_USE_MODELSCOPE",
		"SGLANG_USE_MODELSCOPE", NULL};

	for (const char *const *name = names; *name; name++)
		if (is_set(c, *name))
			return true;
	return text_eq(argv_flag(argv, "--load-format", NULL), "dummy");
}

/* True for a script whose name says that it only prepares or forwards requests,
 * which takes the tokenizer and not the weights (`processor.py`). */
static bool reads_tokenizer_only(const struct argv *argv)
{
	static const char *const words[] = {"processor", "tokeniz", "router",
					    "frontend",	 "proxy",   "client",
					    NULL};

	for (size_t i = 0; i < argv->n; i++) {
		const char *text = argv->items[i].text;
		const char *base = text ? strrchr(text, '/') : NULL;

		if (text_ends(text, ".py") &&
		    text_any(base ? base : text, words, text_contains_ci))
			return true;
	}
	return false;
}

/* True if the container's own layer is, or may be, read-only. */
static bool is_read_only(const struct container *c)
{
	const struct node *at =
		node_path(c->node, "securityContext.readOnlyRootFilesystem");

	return !node_is_unset(at) && !node_is_false(at);
}

static void check_container(struct rule_run *run, const struct container *c)
{
	struct argv argv = container_argv(c);
	const char *model = container_hub_model(&argv, c);
	const char *path = model ? cache_folder(&argv, c) : NULL;
	struct finding *f;

	if (!model || is_small(c) || is_read_only(c) || mounts_claim(c) ||
	    fetches_none(&argv, c) || reads_tokenizer_only(&argv))
		return;
	if (!path || path[0] != '/') {
		if (!c->image || !mounts_shm_alone(c))
			return;
		f = report_container(
			run, c, c->resources,
			"container `%s` downloads `%s` into its writable layer but requests no ephemeral storage",
			container_title(c), model);
	} else {
		if (mounts_near(c, path))
			return;
		f = report_container(
			run, c, c->resources,
			"container `%s` downloads `%s` into `%s` in its writable layer but requests no ephemeral storage",
			container_title(c), model, path);
	}
	finding_missing(f, c->pod->object, c->node,
			"resources.requests.ephemeral-storage");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod_is_preset(pod))
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN &&
		    container_uses_gpu(c) == TRI_YES && !plans_storage(c))
			check_container(run, c);
}

const struct rule rule_gpu_ephemeral_storage = {
	.name = "gpu-ephemeral-storage",
	.category = "resources",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"a model is downloaded into the container's writable layer without an ephemeral-storage request",
	.why = "The scheduler does not plan for the download: if the node's disk fills up, the pod is evicted in the middle of it, and again after every restart.",
	.remedy =
		"Mount a volume at the cache, or request ephemeral-storage of the model's size.",
	.evidence =
		"https://github.com/GoogleCloudPlatform/kubernetes-engine-samples/issues/1581; https://github.com/LMCache/LMCache/issues/1399",
	.check_pod = check,
};
