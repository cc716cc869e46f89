/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes of pods: host paths, and volumes that the list of a pod does not
 * have.
 */
#include "kube/resources/volume.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "rules/kube/data.h"

/*
 * Resolves host paths like the kubelet and the container runtime. subPath is
 * joined to the volume's path (pkg/volume/util/subpath). subPathExpr depends on
 * the container's environment and is unknown here, so that only the volume's
 * path is used. Sources of requests by mounts: nvidia-container-toolkit
 * cuda_image.go (VisibleDevicesFromMounts: no slash is required after the
 * folder's name; annotation prefixes), GPU operator (nvidia.cdi.k8s.io), CRI-O
 * pkg/annotations, containerd/nri device-injector.
 */

/* Returns the length of the path without its last component. */
static size_t parent_of(const char *path, size_t len)
{
	while (len > 0 && path[--len] != '/')
		continue;
	return len;
}

/*
 * Returns the part of the path after the first link to the root or the working
 * folder of a process, or NULL.
 */
static const char *behind_root(const char *path)
{
	static const char *const links[] = {"/root", "/cwd"};

	for (; (path = strchr(path + 1, '/')) != NULL;)
		for (size_t i = 0; i < 2; i++) {
			size_t len = strlen(links[i]);

			if (!strncmp(path, links[i], len) &&
			    (!path[len] || path[len] == '/'))
				return path + len;
		}
	return NULL;
}

/* Resolves /proc/1/root/dev to /dev, and likewise for any process of the
 * host. */
static const char *without_proc(const char *path)
{
	const char *rest = path;

	while (rest && text_starts(rest, "/proc/")) {
		path = rest;
		rest = behind_root(path);
	}
	return rest ? rest : path;
}

const char *host_path_clean(struct arena *arena, const char *path)
{
	char *clean = arena_alloc(arena, strlen(path) + 2);
	const char *out;
	size_t len = 0;

	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !memcmp(path, "..", 2)) {
			len = parent_of(clean, len);
		} else if (n && !(n == 1 && *path == '.')) {
			clean[len++] = '/';
			memcpy(clean + len, path, n);
			len += n;
		}
		path += n;
		path += *path == '/';
	}
	clean[len] = '\0';
	out = without_proc(clean);
	if (!*out)
		return "/";
	return text_starts(out, "/var/run/") || !strcmp(out, "/var/run")
		       ? out + strlen("/var")
		       : out;
}

static bool any_host_path(const struct node *holder)
{
	FOR_EACH_CHILD(node_get(holder, "volumes"), volume)
		if (node_get(volume, "hostPath"))
			return true;
	return false;
}

const struct node *container_host_mounts(const struct container *c)
{
	const struct pod *pod = c->pod;

	if (!any_host_path(pod->spec) && !any_host_path(pod->inner) &&
	    !any_host_path(pod->defaults))
		return NULL;
	return node_get(c->node, "volumeMounts");
}

struct host_path mount_host_path(struct arena *arena, const struct container *c,
				 const struct node *mount)
{
	struct host_path shown = {.volume = node_str(node_get(mount, "name"))};
	const char *at = node_str(node_get(mount, "mountPath"));
	const char *sub = node_str(node_get(mount, "subPath"));
	const struct node *volume;
	const char *path;

	if (!shown.volume || !at)
		return shown;
	volume = pod_volume(c->pod, shown.volume);
	shown.node = node_get(node_get(volume, "hostPath"), "path");
	path = node_str(shown.node);
	if (!path)
		return shown;
	if (sub)
		path = arena_printf(arena, "%s/%s", path, sub);
	shown.path = host_path_clean(arena, path);
	shown.at = host_path_clean(arena, at);
	return shown;
}

/* -- visible devices ------------------------------------------------------ */

static bool is_request(const struct host_path *shown)
{
	static const char folder[] = "/run/nvidia-container-devices";

	return text_eq(shown->path, "/dev/null") &&
	       text_starts(shown->at, folder) && shown->at[sizeof(folder) - 1];
}

enum host_shows host_path_shows(const struct host_path *shown)
{
	if (!shown->path)
		return HOST_SHOWS_NOTHING;
	if (is_request(shown))
		return HOST_SHOWS_DEVICE;
	for (size_t i = 0; i < data_device_paths_n; i++) {
		const char *known = data_device_paths[i].path;
		size_t len = strcspn(known, "*=");

		if (strncmp(shown->path, known, len))
			continue;
		if (known[len] == '*' || !shown->path[len] ||
		    (shown->path[len] == '/' && known[len] != '='))
			return data_device_paths[i].shows;
	}
	return HOST_SHOWS_NOTHING;
}

bool host_path_is_within(const char *path, const char *folder)
{
	return !strcmp(path, folder) || path_is_below(folder, path);
}

/*
 * Volumes that a pod gets although its own list does not have them: templates
 * of claims next to the pod, volumes in an operator's fields, and volumes that
 * an operator adds.
 */

/* True if these are the volumes of another pod of the object (a Ray cluster's
 * head), which the pod does not get. */
static bool is_other_pod(const struct pod *pod, const struct node *list)
{
	FOR_EACH_POD(pod->object, other)
		if (other != pod && other->volumes == list)
			return pod->volumes != list;
	return false;
}

/* True if a tree defines a volume or a claim template of that name: next to the
 * pod (StatefulSet), or in an operator's fields (JobSet). */
static bool is_defined(const struct pod *pod, const struct node *tree,
		       const char *name, bool volumes)
{
	if (volumes && (node_eq(node_get(tree, "name"), name) ||
			node_eq(node_path(tree, "metadata.name"), name)))
		return true;
	FOR_EACH_CHILD(tree, child) {
		const char *key = child->key;
		bool below = volumes;

		if (key && text_starts(key, "volume") &&
		    strcmp(key, "volumeMounts") != 0 &&
		    strcmp(key, "volumeDevices") != 0 &&
		    !is_other_pod(pod, child))
			below = true;
		if ((!key || strcmp(key, "containers") != 0) &&
		    is_defined(pod, child, name, below))
			return true;
	}
	return false;
}

/* True for volumes of KubeRay, mpi-operator, Istio and Argo that authors
 * mount. */
static bool is_of_operator(const char *name)
{
	static const char *const prefixes[] = {"mpi-job-", "istio",
					       "workload-"};
	static const char *const names[] = {
		"shared-mem",  "ray-logs", "ray-tls", "ray-token",
		"gcs-storage", "ssh-auth", "argo",    "var-run-argo"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (text_starts(name, prefixes[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (text_eq(name, names[i]))
			return true;
	return false;
}

bool pod_has_other_volume(const struct pod *pod, const char *name)
{
	return is_defined(pod, pod->object->root, name, false) ||
	       (!object_kind_has(pod->object, KIND_NATIVE | KIND_SELECTOR) &&
		is_of_operator(name));
}
