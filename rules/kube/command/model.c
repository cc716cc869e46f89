/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the model in flags of vLLM, SGLang and Text Generation Inference, and
 * its cache folder in the variables of huggingface_hub (default:
 * ~/.cache/huggingface; the images of TGI and of Text Embeddings Inference set
 * /data, TGI's cloud builds set /tmp). The home folder is known only for images
 * that run as root.
 */
#include "kube/command/model.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "kube/command/argv.h"
#include "kube/command/env.h"

static bool is_tgi(const struct container *c)
{
	return text_contains(c->image, "text-generation-inference");
}

/* True for owner/name, the form of ids on a hub, and not for a path or an
 * address. */
static bool is_hub_id(const char *text)
{
	const char *slash = text ? strchr(text, '/') : NULL;

	if (!slash || slash == text || !slash[1] || strchr(slash + 1, '/') ||
	    strpbrk(text, ":$ ~{="))
		return false;
	return isalnum((unsigned char)text[0]) && !text_ends(text, ".py");
}

const char *container_hub_model(const struct argv *argv,
				const struct container *c)
{
	static const char *const flags[] = {"--model", "--model-id",
					    "--model-path",
					    "--model-name-or-path", NULL};
	const char *id;

	for (const char *const *flag = flags; *flag; flag++) {
		id = argv_flag(argv, *flag, NULL);
		if (is_hub_id(id))
			return id;
	}
	for (size_t i = 0; i + 1 < argv->n; i++)
		if (text_eq(argv->items[i].text, "serve") &&
		    is_hub_id(argv->items[i + 1].text))
			return argv->items[i + 1].text;
	id = container_env_text(c, "MODEL_ID");
	return is_tgi(c) && is_hub_id(id) ? id : NULL;
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

/* True if variables from a ConfigMap, or the shell that starts the program, may
 * set the cache folder. */
static bool may_be_elsewhere(const struct container *c)
{
	return !node_is_unset(node_get(c->node, "envFrom")) ||
	       container_says(c, "HF_HOME") || container_says(c, "_CACHE");
}

const char *container_model_cache(const struct argv *argv,
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
	if (!is_tgi(c))
		return runs_as_root(c) ? "/root/.cache/huggingface" : NULL;
	return container_mounts_near(c, "/tmp") ? NULL : "/data";
}

bool container_mounts_near(const struct container *c, const char *path)
{
	const struct node *mounts = node_get(c->node, "volumeMounts");

	FOR_EACH_CHILD(mounts, mount) {
		const char *at = node_str(node_get(mount, "mountPath"));

		if (!at || !strcmp(at, path) || path_is_below(at, path) ||
		    path_is_below(path, at))
			return true;
	}
	return node_is_unknown(mounts);
}
