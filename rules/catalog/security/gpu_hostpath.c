/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports folders of the host that a GPU pod mounts. Through the folders of
 * passwords, systemd units, the container runtime and the kubelet, a pod can
 * control the node. A socket of the runtime is enough even if it is mounted
 * read-only. Any other writable folder is shared with every pod that mounts it.
 * Because real jobs keep caches there, this is reported only if the policy
 * lists the allowed folders. nvidia-device-mount-bypass reports devices,
 * shm-hostpath /dev/shm; read-only data is not reported.
 *
 * Source: Kubernetes documentation of hostPath volumes (security risks); Pod
 * Security Standards, baseline: hostPath volumes.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/resources/volume.h"

/* True if the path equals one of the places, is inside of one, or contains
 * one. */
static bool touches(const char *path, const char *const *places)
{
	for (; *places; places++)
		if (host_path_is_within(path, *places) ||
		    host_path_is_within(*places, path))
			return true;
	return false;
}

/* True if a pod can control the node through the folder. A folder with a socket
 * of the runtime is enough even if the mount is read-only. */
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

/* True for /proc/sys in GKE's daemon for GPUDirect-TCPX(O), which sets network
 * parameters of the kernel, as its documentation requires. Only Google writes
 * to this registry. */
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
	 "folders of the host that GPU pods may write to; if empty, only folders that give control over the node are reported"},
	{0},
};

const struct rule rule_gpu_hostpath = {
	.name = "gpu-hostpath",
	.category = "security",
	.severity = SEVERITY_ERROR,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"a GPU pod mounts a folder of the host that gives control over the node, or that the policy does not allow",
	.why = "With the host's system files or the runtime's socket, a pod controls the node and all its GPUs; other folders are shared with every pod that mounts them.",
	.remedy =
		"Use a PersistentVolume, an emptyDir or an image volume; mount data sets read-only.",
	.evidence =
		"https://kubernetes.io/docs/concepts/storage/volumes/#hostpath; https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline: hostPath volumes",
	.params = params,
	.check_pod = check,
};
