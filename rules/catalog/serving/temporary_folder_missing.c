/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports vLLM in a container with a read-only root and nothing mounted where
 * Python looks for a folder for temporary files. vLLM asks for one when it is
 * imported (vllm/envs.py, VLLM_RPC_BASE_PATH), and fails with "No usable
 * temporary directory found": CPython Lib/tempfile.py,
 * _candidate_tempdir_list().
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"

static bool is_vllm(const char *image)
{
	static const char name[] = "vllm/vllm-openai";
	const char *at = image ? strstr(image, name) : NULL;

	return at && (at == image || at[-1] == '/') &&
	       strchr(":@", at[sizeof(name) - 1]);
}

/* True if the folder may be a mount, or be inside of or above one. */
static bool may_be_mounted(const struct container *c, const char *folder)
{
	const struct node *mounts = node_get(c->node, "volumeMounts");

	FOR_EACH_CHILD(mounts, mount) {
		const char *path = node_str(node_get(mount, "mountPath"));

		if (!path || !strcmp(path, "/") || text_starts(folder, path) ||
		    text_starts(path, folder))
			return true;
	}
	return node_is_unknown(mounts);
}

static bool may_have_temporary(const struct container *c)
{
	static const char *const names[] = {"TMPDIR", "TEMP", "TMP"};
	/* the last one is the image's working folder */
	static const char *const folders[] = {"/tmp", "/var/tmp", "/usr/tmp",
					      "/vllm-workspace"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (container_env(c, names[i]) ||
		    container_env_from(c, names[i]) ||
		    container_says(c, names[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (may_be_mounted(c, folders[i]))
			return true;
	return !node_is_unset(node_get(c->node, "workingDir"));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		const struct node *at = node_path(
			c->node, "securityContext.readOnlyRootFilesystem");

		if (c->role == CONTAINER_INIT || c->gpus.n <= 0 ||
		    !node_is_true(at) || !is_vllm(c->image) ||
		    may_have_temporary(c))
			continue;
		report_container(
			run, c, at,
			"container `%s` has no folder for temporary files: its root is read-only, and no volume is mounted at `/tmp`",
			container_title(c));
	}
}

const struct rule rule_temporary_folder_missing = {
	.name = "temporary-folder-missing",
	.category = "serving",
	.severity = SEVERITY_WARNING,
	.scope = PODSPEC,
	.summary =
		"vLLM with a read-only root and no folder for temporary files",
	.why = "vLLM fails when it starts, after its GPUs were allocated, and restarts.",
	.remedy =
		"Mount an emptyDir at /tmp, and a volume at the folder of the caches.",
	.evidence =
		"https://github.com/vllm-project/vllm/blob/v0.11.0/vllm/envs.py; https://docs.python.org/3/library/tempfile.html#tempfile.gettempdir",
	.check_pod = check,
};
