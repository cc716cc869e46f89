/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a snapshot file: one JSON object with one item per line, in an order
 * that is the same in each run. Equal nodes are one item with a count. In it,
 * the value of a label that differs on each node is the node's name.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/json_stream.h"
#include "cluster_internal.h"
#include "doc/build.h"

struct writer {
	const struct cluster *cluster;
	FILE *out;
	struct arena arena; /* memory for one namespace */
	struct buf line;
	bool first;
};

static void end_line(struct writer *w)
{
	fprintf(w->out, "%s\n  %s", w->first ? "" : ",", w->line.data);
	w->first = false;
	buf_reset(&w->line);
}

static void put_type(struct buf *out, enum cluster_kind kind)
{
	const struct cluster_resource *r = cluster_resource(kind);
	char version[64];
	size_t len = strcspn(r->versions, " ");

	snprintf(version, sizeof(version), "%s%s%.*s", r->group,
		 *r->group ? "/" : "", (int)len, r->versions);
	stream_text(out, "apiVersion", version);
	stream_text(out, "kind", r->kind);
}

/* --- items ---------------------------------------------------------------- */

static void write_object(struct writer *w, enum cluster_kind kind,
			 const char *namespace,
			 const struct cluster_object *object)
{
	struct buf *out = &w->line;
	const struct node *labels = node_path(object->root, "metadata.labels");
	bool is_namespace = kind == CLUSTER_NAMESPACE;
	const char *name = is_namespace ? namespace : object->name;
	const char *slash = strchr(name, '/');

	stream_open(out, NULL, '{');
	put_type(out, kind);
	stream_open(out, "metadata", '{');
	stream_text(out, "name", slash ? slash + 1 : name);
	if (slash)
		stream_text(
			out, "namespace",
			arena_strndup(&w->arena, name, (size_t)(slash - name)));
	if (*namespace && !is_namespace)
		stream_text(out, "namespace", namespace);
	if (labels) {
		stream_key(out, "labels");
		node_json(labels, out);
	}
	stream_close(out, '}');
	FOR_EACH_CHILD(object->root, field) {
		if (!strcmp(field->key, "metadata"))
			continue;
		stream_key(out, field->key);
		node_json(field, out);
	}
	stream_close(out, '}');
	end_line(w);
}

static void write_kind(struct writer *w, enum cluster_kind kind,
		       const char *namespace)
{
	size_t n;
	const struct cluster_object *items =
		cluster_objects(w->cluster, kind, namespace, &w->arena, &n);

	for (size_t i = 0; i < n; i++)
		write_object(w, kind, namespace, &items[i]);
	arena_reset(&w->arena);
}

static void write_namespaces(struct writer *w)
{
	struct arena arena = ARENA_INIT;
	const char **names = NULL, *name;
	size_t n = 0, size = 0, cursor = 0;

	while ((name = cluster_next_namespace(w->cluster, &cursor)))
		*VEC_PUSH(&arena, names, n, size) = name;
	texts_sort(names, n);
	for (size_t i = 0; i < n; i++)
		for (int kind = 0; kind < CLUSTER_NODE; kind++)
			if (cluster_kind_is_namespaced(kind))
				write_kind(w, kind, names[i]);
	arena_release(&arena);
}

/* --- nodes ---------------------------------------------------------------- */

static void write_labels(struct writer *w, const struct node_group *group,
			 const char *name)
{
	const char *const *individual = w->cluster->nodes->individual;

	stream_open(&w->line, "labels", '{');
	FOR_EACH_CHILD(group->labels, label)
		stream_text(&w->line, label->key, label->str);
	for (size_t i = 0; individual[i]; i++)
		stream_text(&w->line, individual[i], name);
	stream_close(&w->line, '}');
}

static void put_value(struct buf *out, const char *key, const char *inner,
		      const struct node *value)
{
	stream_open(out, key, '{');
	stream_key(out, inner);
	node_json(value, out);
	stream_close(out, '}');
}

/* Two groups may have the name of the same node, from different times; then a
 * number is appended to the name of the second. */
static void write_nodes(struct writer *w)
{
	struct buf *out = &w->line;
	const char *last = "";
	size_t n, same = 0;
	const struct node_group *groups = cluster_nodes(w->cluster, &n);

	for (size_t i = 0; i < n; i++) {
		const struct node_group *g = &groups[i];
		char name[300];

		same = strcmp(g->name, last) != 0 ? 0 : same + 1;
		last = g->name;
		if (same)
			snprintf(name, sizeof(name), "%.256s~%zu", last, same);
		else
			snprintf(name, sizeof(name), "%.256s", last);
		stream_open(out, NULL, '{');
		put_type(out, CLUSTER_NODE);
		stream_open(out, "metadata", '{');
		stream_text(out, "name", name);
		write_labels(w, g, name);
		stream_close(out, '}');
		put_value(out, "spec", "taints", g->taints);
		put_value(out, "status", "allocatable", g->allocatable);
		stream_int(out, "count", (int64_t)g->count);
		stream_close(out, '}');
		end_line(w);
	}
}

/* --- usage ---------------------------------------------------------------- */

static int by_owner(const void *a, const void *b)
{
	const struct object_id *x = &((const struct cluster_usage *)a)->owner;
	const struct object_id *y = &((const struct cluster_usage *)b)->owner;
	int c = strcmp(x->namespace, y->namespace);

	if (!c)
		c = strcmp(x->kind, y->kind);
	if (!c)
		c = strcmp(x->name, y->name);
	return c ? c : strcmp(x->api_version, y->api_version);
}

static void write_usage(struct writer *w, const struct cluster_usage *usage)
{
	struct buf *out = &w->line;
	char text[QUANTITY_TEXT];

	stream_open(out, NULL, '{');
	stream_open(out, "owner", '{');
	stream_text(out, "apiVersion", usage->owner.api_version);
	stream_text(out, "kind", usage->owner.kind);
	stream_text(out, "namespace", usage->owner.namespace);
	stream_text(out, "name", usage->owner.name);
	stream_close(out, '}');
	stream_open(out, "resources", '{');
	for (size_t i = 0; i < usage->n; i++)
		stream_text(out, usage->items[i].resource,
			    quantity_text(usage->items[i].quantity, text));
	stream_close(out, '}');
	stream_int(out, "pods", (int64_t)usage->pods);
	stream_close(out, '}');
	end_line(w);
}

/* Writes only root owners, because their usage includes that of the others. */
static void write_usages(struct writer *w)
{
	struct arena arena = ARENA_INIT;
	struct cluster_usage *items = NULL, one;
	size_t n = 0, size = 0, cursor = 0;

	while (cluster_next_usage(w->cluster, &cursor, &arena, &one))
		if (!one.owned)
			*VEC_PUSH(&arena, items, n, size) = one;
	if (n)
		qsort(items, n, sizeof(*items), by_owner);
	for (size_t i = 0; i < n; i++)
		write_usage(w, &items[i]);
	arena_release(&arena);
}

/* --- the file ------------------------------------------------------------- */

static void write_head(struct writer *w)
{
	const struct cluster *c = w->cluster;
	time_t taken = (time_t)cluster_taken_at(c);
	char text[40] = "";
	struct tm tm;

	if (gmtime_r(&taken, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	stream_open(&w->line, NULL, '{');
	stream_text(&w->line, "apiVersion", "gpugate.dev/v1");
	stream_text(&w->line, "kind", "ClusterSnapshot");
	stream_int(&w->line, "version", 1);
	stream_text(&w->line, "takenAt", text);
	if (*cluster_server(c))
		stream_text(&w->line, "server", cluster_server(c));
	if (cluster_policy(c))
		stream_text(&w->line, "policy", cluster_policy(c));
	fputs(w->line.data, w->out);
	if (cluster_admission(c))
		fprintf(w->out, ",\n\"admission\": %s", cluster_admission(c));
	fputs(",\n\"unreadable\": [", w->out);
	buf_reset(&w->line);
}

static void write_unreadable(struct writer *w)
{
	for (int i = 0; i < CLUSTER_KINDS; i++) {
		const char *reason = cluster_unreadable(w->cluster, i);

		if (!reason)
			continue;
		stream_open(&w->line, NULL, '{');
		put_type(&w->line, i);
		stream_text(&w->line, "reason", reason);
		stream_close(&w->line, '}');
		end_line(w);
	}
}

void cluster_write(const struct cluster *cluster, FILE *out)
{
	struct writer w = {.cluster = cluster, .out = out, .first = true};

	buf_init(&w.line);
	write_head(&w);
	write_unreadable(&w);
	fputs("],\n\"items\": [", out);
	w.first = true;
	write_namespaces(&w);
	for (int kind = 0; kind < CLUSTER_NODE; kind++)
		if (!cluster_kind_is_namespaced(kind))
			write_kind(&w, kind, "");
	write_nodes(&w);
	fputs("],\n\"usage\": [", out);
	w.first = true;
	write_usages(&w);
	fputs("]}\n", out);
	arena_release(&w.arena);
	buf_release(&w.line);
}
