/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hostPath volume in a GPU pod: the host's files, past every quota of
 * storage, and another content on another node. Sites keep data sets there
 * all the same, so the rule wants to know which folders: those may be mounted
 * read-only, and nothing else. Devices and drivers' sockets are the business
 * of nvidia-device-mount-bypass.
 *
 * Source: Pod Security Standards, baseline (hostPath volumes are forbidden).
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/host_path.h"

/* Is path one of "a,b", or below one of them? */
static bool is_allowed(const char *path, const char *allowed)
{
	while (*allowed) {
		size_t len = strcspn(allowed, ",");
		size_t end = len;

		while (end > 1 && allowed[end - 1] == '/')
			end--;
		if (!strncmp(path, allowed, end) &&
		    (!path[end] || path[end] == '/' || end == 1))
			return true;
		allowed += len;
		allowed += *allowed == ',';
	}
	return false;
}

static void check_mount(struct rule_run *run, const struct container *c,
			const struct node *mount)
{
	struct host_path shown = mount_host_path(rule_arena(run), c, mount);
	bool read_only = node_is_true(node_get(mount, "readOnly"));
	struct finding *f;

	if (!shown.path)
		return;
	if (!is_allowed(shown.path, rule_param(run, "paths")))
		f = report_container(run, c, shown.node,
				     "container `%s` mounts `%s` of the host",
				     container_title(c), shown.path);
	else if (!read_only)
		f = report_container(run, c, shown.node,
				     "container `%s` may write to `%s` of the "
				     "host",
				     container_title(c), shown.path);
	else
		return;
	finding_label(run, f, mount, "mounted here");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->flat || pod_uses_gpu(pod) != TRI_YES)
		return;
	FOR_EACH_CONTAINER_OF_ALL(pod, c)
		FOR_EACH_CHILD(container_host_mounts(c), mount)
			check_mount(run, c, mount);
}

static const struct rule_param params[] = {
	{"paths", "list", "",
	 "folders of the host that GPU pods may mount read-only"},
	{0},
};

static const char *const yields_to[] = {"nvidia-device-mount-bypass", NULL};

const struct rule rule_gpu_hostpath = {
	.name = "gpu-hostpath",
	.category = "security",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.needs = NEEDS_PARAM,
	.since = "1.0",
	.summary = "a GPU pod mounts a folder of its host",
	.why = "What it reads is another thing on another node; what it writes nobody counts, and others find it.",
	.remedy =
		"Use a PersistentVolumeClaim, or mount one of the folders that the policy names, read-only.",
	.evidence =
		"https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline",
	.params = params,
	.yields_to = yields_to,
	.check_pod = check,
};
