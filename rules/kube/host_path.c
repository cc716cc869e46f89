/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as the kubelet and the runtime understand them. subPath is joined to
 * the volume's path (pkg/volume/util/subpath); subPathExpr is put together
 * in the container's environment and cannot be known: the volume's own path
 * is taken, as if it were not there.
 */
#include "kube/host_path.h"

#include <string.h>

#include "base/text.h"

/* Take the last component off. */
static size_t parent_of(const char *path, size_t len)
{
	while (len > 0 && path[--len] != '/')
		continue;
	return len;
}

const char *host_path_clean(struct arena *arena, const char *path)
{
	char *out = arena_alloc(arena, strlen(path) + 2);
	size_t len = 0;

	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !memcmp(path, "..", 2)) {
			len = parent_of(out, len);
		} else if (n && !(n == 1 && *path == '.')) {
			out[len++] = '/';
			memcpy(out + len, path, n);
			len += n;
		}
		path += n;
		path += *path == '/';
	}
	out[len] = '\0';
	if (!len)
		return "/";
	return text_starts(out, "/var/run/") || !strcmp(out, "/var/run")
		       ? out + strlen("/var")
		       : out;
}

/* KAITO's template is no pod of its own: its volumes stand in it all the
 * same. */
static const struct node *volume_beside(const struct container *c,
					const char *name)
{
	const struct node *list = c->node->parent;
	const struct node *spec = list ? list->parent : NULL;

	FOR_EACH_CHILD(node_get(spec, "volumes"), volume)
		if (node_eq(node_get(volume, "name"), name))
			return volume;
	return NULL;
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
	const struct node *list = c->node->parent;
	const struct node *holder = list ? list->parent : NULL;

	if (!any_host_path(pod->spec) && !any_host_path(pod->defaults) &&
	    (holder == pod->spec || !any_host_path(holder)))
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
	if (!volume)
		volume = volume_beside(c, shown.volume);
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
