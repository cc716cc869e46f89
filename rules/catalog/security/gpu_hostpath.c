/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders of the host in a GPU pod. Some of them control the node: its
 * passwords, units, container runtime and kubelet; a socket does so even where
 * it is mounted read-only. Any other writable folder is shared with every pod
 * that mounts it; real jobs keep caches there, so a site first has to list the
 * folders meant for that. nvidia-device-mount-bypass reports devices,
 * shm-not-memory-backed reports /dev/shm; read-only data does no harm.
 *
 * Source: Kubernetes documentation of hostPath volumes (security risks); Pod
 * Security Standards, baseline: hostPath volumes.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/resources/host_path.h"

/* True if the path is one of these, is in one, or contains one. */
static bool touches(const char *path, const char *const *places)
{
	for (; *places; places++)
		if (host_path_is_within(path, *places) ||
		    host_path_is_within(*places, path))
			return true;
	return false;
}

/* True if it gives control of the node: passwords, units, programs, the
 * kubelet's pods, the runtime's socket. The socket does even if the mount is
 * read-only. */
static bool host_path_commands_node(const struct host_path *shown,
				    bool read_only)
{
	static const char *const files[] = {"/etc/passwd",
					    "/etc/kubernetes",
					    "/etc/systemd",
					    "/etc/cron.d",
					    "/root/.ssh",
					    "/bin/sh",
					    "/usr/bin/sh",
					    "/usr/lib/systemd",
					    "/proc/sys",
					    "/var/lib/containerd",
					    "/var/lib/docker",
					    "/var/lib/etcd",
					    "/var/lib/kubelet/pki",
					    "/var/lib/kubelet/pods",
					    "/var/spool/cron",
					    NULL};
	static const char *const sockets[] = {"/run/docker.sock",
					      "/run/containerd", "/run/crio",
					      "/run/k3s", NULL};

	return touches(shown->path, sockets) ||
	       (!read_only && touches(shown->path, files));
}

/* True for one of the policy's folders ("/mnt,/data"), or a path below one. */
static bool is_allowed(struct rule_run *run, const char *path)
{
	struct arena *arena = rule_arena(run);
	const char *list = rule_param(run, "allowed");

	for (size_t len; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (host_path_is_within(
			    path,
			    host_path_clean(arena,
					    arena_strndup(arena, list, len))))
			return true;
	}
	return false;
}

/* GKE's daemon for GPUDirect-TCPX(O) sets the kernel's network parameters
 * there, as its documentation requires; only Google writes to that registry. */
static bool is_tuned(const struct container *c, const struct host_path *shown)
{
	return text_eq(shown->path, "/proc/sys") &&
	       text_starts(c->image,
			   "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx");
}

static void check_mount(struct rule_run *run, const struct container *c,
			const struct node *mount)
{
	struct host_path shown = mount_host_path(rule_arena(run), c, mount);
	enum host_shows shows = host_path_shows(&shown);
	bool read_only = node_is_true(node_get(mount, "readOnly"));
	bool commands;
	struct finding *f;

	if (!shown.path ||
	    (shows != HOST_SHOWS_NOTHING && shows != HOST_SHOWS_EVERYTHING))
		return;
	commands = host_path_commands_node(&shown, read_only);
	if (is_allowed(run, shown.path) || is_tuned(c, &shown) ||
	    (!commands && (!rule_param_given(run, "allowed") || read_only ||
			   text_eq(shown.at, "/dev/shm"))))
		return;
	f = report_container(
		run, c, shown.node,
		commands
			? "container `%s` mounts `%s` of the node, which gives control over the node and all its GPUs"
			: "container `%s` may write to `%s` of "
			  "the node, which the policy does not allow",
		container_title(c), shown.path);
	finding_label(run, f, mount, "mounted here");
	finding_cause(run, f, shown.path);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER_OF_ALL(pod, c)
		FOR_EACH_CHILD(container_host_mounts(c), mount)
			check_mount(run, c, mount);
}

static const struct rule_param params[] = {
	{"allowed", "list", "",
	 "folders of the host that GPU pods may write to; empty: not checked"},
	{0},
};

const struct rule rule_gpu_hostpath = {
	.name = "gpu-hostpath",
	.category = "security",
	.severity = SEVERITY_ERROR,
	.scope = GPU_PODS | PODSPEC,
	.since = "1.0",
	.summary = "a GPU pod mounts a folder of the host",
	.why = "With the host's system files or the runtime's socket, a pod controls the node and all its GPUs; other folders are shared with every pod that mounts them.",
	.remedy =
		"Use a PersistentVolume, an emptyDir or an image volume; mount data sets read-only.",
	.evidence =
		"https://kubernetes.io/docs/concepts/storage/volumes/#hostpath; https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline: hostPath volumes",
	.params = params,
	.check_pod = check,
};
