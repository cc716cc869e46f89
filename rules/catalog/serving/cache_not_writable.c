/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports cache folders on a read-only mount, and users without a home folder,
 * if a server must write there but cannot. vllm/vllm-openai has the users root
 * and, in later releases, vllm (2000): for any other user HOME is "/", where
 * only root may create folders. Source: vllm-project/vllm issues 9118, 10185;
 * ai-dynamo/dynamo pull 12457. KServe mounts the model read-only by default
 * (kserve pkg/webhook/admission/pod/storage_initializer_injector.go). A model
 * cache may be filled in advance: huggingface_hub writes only missing files
 * (file_download.py), and NIMService has `storage.readOnly`.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"

enum holds {
	HOLDS_FILES, /* files that the server creates */
	/* models, which may exist already, and files that the server creates */
	HOLDS_BOTH,
	HOLDS_MODELS,
};

/* Variables that set a cache folder. hub: the folder does not matter if access
 * to the hub is switched off, because all files exist then. */
static const struct {
	const char *name;
	bool hub;
	enum holds what;
} caches[] = {
	{"HF_HOME", true, HOLDS_BOTH},
	{"HF_HUB_CACHE", true, HOLDS_MODELS},
	{"HUGGINGFACE_HUB_CACHE", true, HOLDS_MODELS},
	{"TRANSFORMERS_CACHE", true, HOLDS_MODELS},
	{"NIM_CACHE_PATH", false, HOLDS_BOTH},
	{"VLLM_CACHE_ROOT", false, HOLDS_FILES},
	{"XDG_CACHE_HOME", false, HOLDS_FILES},
	{"TRITON_CACHE_DIR", false, HOLDS_FILES},
	{"TORCHINDUCTOR_CACHE_DIR", false, HOLDS_FILES},
};

/* --- read-only mounts ----------------------------------------------------- */

/* True if the folder contains the path. A trailing slash does not matter. */
static bool contains_path(const char *folder, const char *path)
{
	size_t len = folder ? strlen(folder) : 0;

	while (len > 1 && folder[len - 1] == '/')
		len--;
	return len > 1 && !strncmp(path, folder, len) &&
	       (path[len] == '/' || !path[len]);
}

/*
 * Returns the innermost mount that contains the path, or NULL. Sets *unsure if
 * an unknown mount may contain it, or if another mount, which may be writable,
 * is below it.
 */
static const struct node *mount_of(const struct container *c, const char *path,
				   bool *unsure)
{
	const struct node *mounts = node_get(c->node, "volumeMounts");
	const struct node *found = NULL;
	size_t longest = 0;

	*unsure = node_is_unknown(mounts);
	FOR_EACH_CHILD(mounts, mount) {
		const struct node *folder = node_get(mount, "mountPath");
		const char *text = node_str(folder);

		*unsure |= node_is_unknown(mount) || node_is_unknown(folder) ||
			   (text && contains_path(path, text) &&
			    !contains_path(text, path));
		if (!contains_path(text, path) || folder->len < longest)
			continue;
		longest = folder->len;
		found = mount;
	}
	return found;
}

static const struct node *volume_of(const struct container *c,
				    const struct node *mount)
{
	const char *name = node_str(node_get(mount, "name"));

	return name ? pod_volume(c->pod, name) : NULL;
}

/* Returns the source of a volume that contains only settings (a ConfigMap, a
 * Secret) and no model, or NULL. */
static const struct node *settings_of(const struct node *volume)
{
	static const char *const kinds[] = {"configMap", "secret", "projected",
					    "downwardAPI", NULL};

	for (const char *const *kind = kinds; *kind; kind++)
		if (!node_is_unset(node_get(volume, *kind)))
			return node_get(volume, *kind);
	return NULL;
}

/* Returns the value that makes the mount read-only, or NULL. */
static const struct node *read_only(const struct container *c,
				    const struct node *mount)
{
	const struct node *volume = volume_of(c, mount);
	const struct node *claim = node_get(volume, "persistentVolumeClaim");

	if (node_is_true(node_get(mount, "readOnly")))
		return node_get(mount, "readOnly");
	if (node_is_true(node_get(claim, "readOnly")))
		return node_get(claim, "readOnly");
	if (!node_is_unset(node_get(volume, "image")))
		return node_get(volume, "image");
	return settings_of(volume);
}

/* Returns the URI of the model that KServe mounts at /mnt/models, if that
 * folder contains the path and is read-only; or NULL. The folder of a model in
 * an image is a link to another container, or a volume, depending on KServe's
 * configuration. */
static const struct node *model_mount(const struct container *c,
				      const char *path)
{
	const struct object *object = c->pod->object;
	const struct node *uri =
		node_path(object->root, "spec.predictor.model.storageUri");
	const struct node *writable =
		object_annotation(object, "storage.kserve.io/readonly");

	return object_is(object, "serving.kserve.io", "InferenceService") &&
			       node_str(uri) && !writable &&
			       !text_starts(uri->str, "oci") &&
			       contains_path("/mnt/models", path)
		       ? uri
		       : NULL;
}

static bool is_offline(const struct container *c)
{
	const char *hub = container_env_text(c, "HF_HUB_OFFLINE");
	const char *models = container_env_text(c, "TRANSFORMERS_OFFLINE");

	return (hub && *hub && strcmp(hub, "0") != 0) ||
	       (models && *models && strcmp(models, "0") != 0);
}

/* True if the command names the model by its folder. */
static bool has_local_model(const struct argv *argv)
{
	static const char *const names[] = {"--model", "--model-path",
					    "--model-id", "serve", NULL};

	for (size_t i = 0; i < argv->n; i++) {
		const char *text = text_or_empty(argv->items[i].text);

		if (text_starts(text, "--model") && strstr(text, "=/"))
			return true;
		if (*text == '/' && i &&
		    text_any(argv->items[i - 1].text, names, text_eq))
			return true;
	}
	return false;
}

/* True if the files of the hub exist already, or if the server stores them in
 * another folder than the variable's. */
static bool needs_no_hub(const struct container *c, const char *name)
{
	static const char cache[] = "HF_HUB_CACHE";
	struct argv argv = container_argv(c);

	return is_offline(c) || argv_have(&argv, "--download-dir") ||
	       has_local_model(&argv) ||
	       (!strcmp(name, "HF_HOME") &&
		(container_env(c, cache) || container_env_from(c, cache) ||
		 container_env(c, "HUGGINGFACE_HUB_CACHE")));
}

static struct finding *report_cache(struct rule_run *run,
				    const struct container *c, const char *name,
				    const struct env_value *value,
				    enum holds what)
{
	struct finding *f;

	if (what == HOLDS_FILES)
		return report_container(
			run, c, value->at,
			"%s is `%s`, on a read-only mount: container `%s` can store nothing there",
			name, value->text, container_title(c));
	f = report_container(
		run, c, value->at,
		"%s is `%s`, on a read-only mount: if the model is not there already, container `%s` cannot store it",
		name, value->text, container_title(c));
	if (what == HOLDS_MODELS)
		finding_severity(f, SEVERITY_INFO);
	return f;
}

static void check_mounts(struct rule_run *run, const struct container *c)
{
	if (!c->nenv)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(caches); i++) {
		struct env_value value = container_env_value(c, caches[i].name);
		const struct node *mount, *at;
		struct finding *f;
		bool unsure;

		if (value.state != ENV_KNOWN || *value.text != '/' ||
		    (caches[i].hub && needs_no_hub(c, caches[i].name)))
			continue;
		mount = mount_of(c, value.text, &unsure);
		at = mount ? read_only(c, mount) : model_mount(c, value.text);
		if (!at || unsure)
			continue;
		f = report_cache(run, c, caches[i].name, &value,
				 settings_of(volume_of(c, mount))
					 ? HOLDS_FILES
					 : caches[i].what);
		finding_label(run, f, at, "read-only");
		return;
	}
}

/* --- a user without a home ------------------------------------------------ */

/* True if the caches may be in another folder than "/". */
static bool has_home(const struct container *c)
{
	static const char *const names[] = {"HOME", "XDG_CACHE_HOME",
					    "VLLM_CACHE_ROOT"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (container_env(c, names[i]) ||
		    container_env_from(c, names[i]) ||
		    container_says(c, names[i]))
			return true;
	return container_mount(c, "/.cache");
}

static bool is_vllm(const char *image)
{
	static const char name[] = "vllm/vllm-openai";
	const char *at = image ? strstr(image, name) : NULL;

	return at && (at == image || at[-1] == '/') &&
	       strchr(":@", at[sizeof(name) - 1]);
}

static void check_user(struct rule_run *run, const struct container *c)
{
	const struct node *at;
	struct finding *f;
	int64_t user;

	if (!is_vllm(c->image))
		return;
	at = container_security(c, "runAsUser");
	if (!node_int(at, &user) || !user || user == 2000 || has_home(c))
		return;
	f = report_container(
		run, c, at,
		"user %s has no home in the image: without HOME, the caches of vLLM go to `/.cache`, which only root can create",
		rule_number(run, user));
	finding_help(run, f, "Set HOME to a folder that the user can write.");
	fix_ensure(finding_fix(run, f, false, "set HOME to /tmp"), c->node,
		   "env", env_entry(rule_arena(run), "HOME", "/tmp"), "name");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		if (c->role == CONTAINER_INIT || c->gpus.n <= 0)
			continue;
		check_mounts(run, c);
		check_user(run, c);
	}
}

const struct rule rule_cache_not_writable = {
	.name = "cache-not-writable",
	.category = "serving",
	.severity = SEVERITY_WARNING,
	.scope = PODSPEC,
	.summary = "a cache folder to which the server cannot write",
	.why = "The server fails when it stores a model or a compiled kernel, after its GPUs were allocated, and restarts.",
	.remedy = "Point the variable at a volume that the user can write to.",
	.evidence =
		"https://github.com/vllm-project/vllm/issues/9118; https://github.com/NVIDIA/nim-deploy/issues/16",
	.check_pod = check,
};
