/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints gpugate's typed object as CEL expressions that are true of the API
 * server's object: one line for a value, for the keys of a map, for the size of
 * a list. For an unknown value only the presence of the key is printed, if that
 * is known.
 *
 * usage: typed_dump FILE
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "doc/load.h"
#include "kube/typed.h"

static void put(const struct buf *path, const char *of, const char *value)
{
	printf("%s%s == %s\n", path->data, of, value);
}

static void dump_scalar(const struct buf *path, const struct node *node)
{
	struct buf text;

	buf_init(&text);
	if (node->type == NODE_NULL)
		buf_adds(&text, "null");
	else
		node_json(node, &text);
	buf_addc(&text, '\0');
	put(path, "", text.data);
	buf_release(&text);
}

static void dump_keys(const struct buf *path, const struct node *map)
{
	struct buf keys;

	buf_init(&keys);
	FOR_EACH_CHILD(map, child) {
		buf_adds(&keys, child->index ? ", " : "");
		text_json(child->key, child->key_len, &keys);
	}
	buf_addc(&keys, '\0');
	printf("%s.all(k, k in dyn([%s]))\n", path->data, keys.data);
	FOR_EACH_CHILD(map, child)
		if (node_is_unknown(child) && !node_is_perhaps(child))
			printf("'%s' in %s\n", child->key, path->data);
	buf_release(&keys);
}

static void dump(struct buf *path, const struct node *node)
{
	size_t len = path->len;
	char size[24];

	if (node_is_unknown(node))
		return;
	buf_addc(path, '\0');
	path->len--;
	if (node->type != NODE_MAP && node->type != NODE_SEQ) {
		dump_scalar(path, node);
		return;
	}
	snprintf(size, sizeof(size), "%zu", node_count(node));
	if (node->type == NODE_SEQ)
		put(path, ".size()", size);
	else
		dump_keys(path, node);
	FOR_EACH_CHILD(node, child) {
		buf_addc(path, '[');
		if (child->key)
			text_json(child->key, child->key_len, path);
		else
			buf_addf(path, "%u", child->index);
		buf_addc(path, ']');
		dump(path, child);
		path->len = len;
	}
}

static void dump_object(struct arena *arena, const struct object *object)
{
	const struct node *typed = typed_object(arena, object, NULL);
	struct buf path;

	if (!typed)
		return;
	buf_init(&path);
	buf_adds(&path, "object");
	dump(&path, typed);
	buf_release(&path);
}

int main(int argc, char **argv)
{
	const struct file_how how = {.limit = FILE_MANIFEST_MAX};
	const struct kube_config config = {0};
	struct arena arena = ARENA_INIT;
	const struct node *nested;
	struct source source;
	struct loader loader;
	struct doc doc;
	struct buf text;
	struct err err = {0};

	buf_init(&text);
	if (argc != 2 || file_load(argv[1], &how, &text, &err)) {
		fprintf(stderr, "usage: typed_dump FILE\n");
		return 2;
	}
	source_init(&source, &arena, argv[1], text.data, text.len);
	loader_init(&loader, &source, &load_limits_default, &arena);
	while (loader_next(&loader, &doc) > 0) {
		struct object_list list = {0};

		if (doc.root)
			object_read(&arena, &config, &doc, &list, &nested);
		for (size_t i = 0; i < list.n; i++)
			dump_object(&arena, &list.items[i]);
	}
	arena_release(&arena);
	buf_release(&text);
	return 0;
}
