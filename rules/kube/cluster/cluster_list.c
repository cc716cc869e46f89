/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a page of a list, or one object, as an API server returns it. Fields
 * that the kind does not need (managedFields, env, volumes, conditions, ...)
 * are skipped. They are most of a pod.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cluster_internal.h"
#include "doc/load.h"

struct cluster_listing {
	const struct cluster_list *wanted;
	struct err *err;
	struct source source;
};

static bool is_word(const char *key, size_t len, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == len && !memcmp(*words, key, len))
			return true;
	return false;
}

bool cluster_is_unread(enum cluster_kind kind, const struct node *map,
		       const char *key, size_t len)
{
	static const char *const of_runtimes[] = {"managedFields", NULL};
	static const char *const never[] = {"managedFields",
					    "annotations",
					    "env",
					    "volumes",
					    "volumeMounts",
					    "conditions",
					    "images",
					    "containerStatuses",
					    "initContainerStatuses",
					    "command",
					    "args",
					    NULL};

	static const char *const plugin[] = {"env", "command", "args", NULL};

	/* Any key may occur in labels or matchLabels. */
	if (text_ends(map->key, "abels"))
		return false;
	if (kind == CLUSTER_GPU_OPERATOR || kind == CLUSTER_DAEMON_SET)
		return is_word(key, len, never) && !is_word(key, len, plugin);
	if (cluster_kind_is_runtime(kind))
		return is_word(key, len, of_runtimes);
	return is_word(key, len, never);
}

static bool skip(void *context, const struct node *map, const char *key,
		 size_t len)
{
	static const char *const other[] = {"spec", "status", "data", NULL};
	const struct cluster_listing *list = context;

	return cluster_is_unread(list->wanted->kind, map, key, len) ||
	       (list->wanted->kind == CLUSTER_OTHER &&
		!text_ends(map->key, "abels") && is_word(key, len, other));
}

static void reject_text(void *context, const struct load_issue *issue)
{
	struct cluster_listing *list = context;
	struct position p;

	if (issue->kind != LOAD_SYNTAX)
		return;
	p = source_position(&list->source, issue->start);
	err_set_at(list->err, p.line, p.column, "%s", issue->text);
}

static void add_items(struct cluster_builder *b, const struct node *root,
		      struct cluster_list *list)
{
	const char *kind = node_str(node_get(root, "kind"));
	struct cluster_item item = {
		.api_version = node_str(node_get(root, "apiVersion"))};
	char name[128] = "";

	if (text_ends(kind, "List") && strlen(kind) < sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s",
			 (int)(strlen(kind) - strlen("List")), kind);
		item.kind = name;
	}
	FOR_EACH_CHILD(node_get(root, "items"), child) {
		struct err err = {0};

		item.root = child;
		list->items++;
		if (cluster_builder_add(b, &item, &err) < 0 && list->warn)
			list->warn(list->context, err.text);
	}
}

static void add_text(struct buf *out, const struct node *node)
{
	buf_reset(out);
	if (node_str(node))
		buf_adds(out, node_str(node));
}

int cluster_builder_list(struct cluster_builder *b, const char *text,
			 size_t len, struct cluster_list *wanted,
			 struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct load_limits limits = load_limits_default;
	struct cluster_listing list = {.wanted = wanted, .err = err};
	const struct node *root, *meta;
	struct loader loader;
	uint32_t used;

	if (len > INT32_MAX)
		return err_set(err, 0, "a page of more than 2 GiB");
	limits.nodes = 20000000;
	source_init(&list.source, &arena, "list", text, len);
	loader_init(&loader, &list.source, &limits, &arena);
	loader.issue = reject_text;
	loader.skip = skip;
	loader.context = &list;
	root = json_read(&loader, 0, (uint32_t)list.source.len, &used);
	if (!root || !node_is_map(root)) {
		arena_release(&arena);
		return err_set(err, 0, "the answer is not a JSON object");
	}
	meta = node_get(root, "metadata");
	add_text(&wanted->next, node_get(meta, "continue"));
	add_text(&wanted->version, node_get(meta, "resourceVersion"));
	if (node_get(root, "items"))
		add_items(b, root, wanted);
	else
		cluster_builder_add(b, &(struct cluster_item){.root = root},
				    err);
	arena_release(&arena);
	return 0;
}
