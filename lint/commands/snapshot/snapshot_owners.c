/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads owners of owners: a pod names its Job, but only the Job names its
 * CronJob. First the kinds that own GPU pods are listed, then the kinds that
 * own these, for a few levels. ReplicaSets need not be listed: their names
 * contain the Deployment's.
 */
#include <jansson.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "lint/term/log.h"
#include "snapshot.h"

enum { LEVELS = 4 };

struct owner_kind {
	const char *api_version, *kind;
};

struct owners {
	struct snapshot *snapshot;
	struct arena arena;
	/* kinds that were listed or have to be listed */
	struct owner_kind *items;
	size_t n, size, asked;
};

static bool is_known(const struct owners *o, const struct object_id *id)
{
	for (size_t i = 0; i < o->n; i++)
		if (!strcmp(o->items[i].kind, id->kind) &&
		    !strcmp(o->items[i].api_version, id->api_version))
			return true;
	return false;
}

/* Finds kinds of owners whose own owner is unknown. */
static void find_kinds(struct owners *o)
{
	struct cluster *cluster =
		cluster_builder_finish(o->snapshot->builder, 0);
	struct arena arena = ARENA_INIT;
	struct cluster_usage usage;
	size_t cursor = 0;

	while (cluster_next_usage(cluster, &cursor, &arena, &usage)) {
		const struct object_id *id = &usage.owner;

		if (!usage.owned && strcmp(id->kind, "Pod") != 0 &&
		    strcmp(id->kind, "ReplicaSet") != 0 && !is_known(o, id))
			*VEC_PUSH(&o->arena, o->items, o->n,
				  o->size) = (struct owner_kind){
				arena_strdup(&o->arena, id->api_version),
				arena_strdup(&o->arena, id->kind)};
		arena_reset(&arena);
	}
	arena_release(&arena);
	cluster_put(cluster);
}

/* Finds the plural of the kind in the server's list of resources. Subresources
 * ("jobs/status") have the same kind and are skipped. */
static bool find_plural(const struct buf *answer, const char *kind,
			struct buf *out)
{
	json_t *root = json_loadb(answer->data, answer->len, 0, NULL);
	json_t *list = json_object_get(root, "resources");

	for (size_t i = 0; i < json_array_size(list) && !out->len; i++) {
		json_t *one = json_array_get(list, i);
		const char *name =
			json_string_value(json_object_get(one, "name"));

		if (name && text_is_subdomain(name, strlen(name)) &&
		    text_eq(json_string_value(json_object_get(one, "kind")),
			    kind))
			buf_adds(out, name);
	}
	json_decref(root);
	return out->len > 0;
}

/* True for a version such as "v1" or "batch/v1". The creator of a pod chooses
 * this text, and it becomes part of a request path. */
static bool is_version(const char *text)
{
	size_t group = strcspn(text, "/");

	if (!text[group])
		return text_is_label(text, group);
	return text_is_subdomain(text, group) &&
	       text_is_label(text + group + 1, strlen(text + group + 1));
}

static enum asked list_owner(struct owners *o, const struct owner_kind *kind)
{
	struct snapshot *s = o->snapshot;
	const struct list *only = &s->options->namespaces;
	enum asked asked;
	struct buf base, plural, path;

	buf_init(&base);
	buf_init(&plural);
	buf_init(&path);
	buf_addf(&base, "%s/%s",
		 strchr(kind->api_version, '/') ? "/apis" : "/api",
		 kind->api_version);
	asked = is_version(kind->api_version) ? snapshot_get(s, base.data)
					      : ASKED_ABSENT;
	if (asked == ASKED_WELL &&
	    !find_plural(&s->answer, kind->kind, &plural))
		asked = ASKED_ABSENT;
	if (asked == ASKED_WELL && !only->n) {
		buf_addf(&path, "%s/%s", base.data, plural.data);
		asked = snapshot_list(s, CLUSTER_OTHER, path.data);
	}
	for (size_t i = 0; i < only->n && asked == ASKED_WELL; i++) {
		buf_reset(&path);
		buf_addf(&path, "%s/namespaces/%s/%s", base.data,
			 only->items[i], plural.data);
		asked = snapshot_list(s, CLUSTER_OTHER, path.data);
	}
	buf_release(&base);
	buf_release(&plural);
	buf_release(&path);
	return asked;
}

void snapshot_owners(struct snapshot *snapshot)
{
	struct owners o = {.snapshot = snapshot};

	for (int level = 0; level < LEVELS; level++) {
		find_kinds(&o);
		if (o.asked == o.n)
			break;
		for (; o.asked < o.n; o.asked++) {
			const struct owner_kind *kind = &o.items[o.asked];

			if (list_owner(&o, kind) != ASKED_WELL &&
			    !snapshot->options->quiet)
				log_line(
					"the owners of each %s cannot be read; "
					"GPU usage is counted for the %s "
					"itself",
					kind->kind, kind->kind);
		}
	}
	arena_release(&o.arena);
}
