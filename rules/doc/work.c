/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the work that an object's lists, keys and texts cause, and finds the
 * longest list.
 */
#include "doc/work.h"

#include "base/text.h"

enum { PLAIN_SHARE = 16 };

static bool has_children(const struct node *node)
{
	return node_is_map(node) || node_is_seq(node);
}

static uint64_t own_work(const struct node *node)
{
	uint64_t items = 0, plain = 0;

	FOR_EACH_CHILD(node, child) {
		if (has_children(child))
			items++;
		else
			plain++;
	}
	return items * items + plain * plain / PLAIN_SHARE;
}

/* Returns the work of the node and of the nodes below it. keys is the number of
 * bytes of the keys from the root to the node. */
static uint64_t work_below(const struct node *node, uint64_t keys)
{
	uint64_t work = own_work(node) + work_of_keys(keys);

	FOR_EACH_CHILD(node, child)
		if (has_children(child))
			work += work_below(child, keys + child->key_len);
	return work;
}

uint64_t work_of(const struct node *node)
{
	return work_below(node, 0);
}

/* True if the children are texts for programs, to which other fields do not
 * refer. */
static bool holds_free_texts(const struct node *node)
{
	static const char *const keys[] = {
		"command",    "args",	    "annotations", "data",
		"stringData", "binaryData", NULL};

	return node && node->key && text_any(node->key, keys, text_eq);
}

/* True if the field itself is a text for a program. */
static bool is_free_text(const struct node *node)
{
	static const char *const keys[] = {
		"value",	  "default",	  "manifest",
		"source",	  "script",	  "serveConfigV2",
		"runtimeEnvYAML", "podSpecPatch", NULL};

	return node && node->key && text_any(node->key, keys, text_eq);
}

/* Adds the number of maps, and the bytes of long keys and texts. */
static void add_texts(const struct node *node, uint64_t *maps, uint64_t *bytes)
{
	*maps += node_is_map(node) ? 1 : 0;
	FOR_EACH_CHILD(node, child) {
		if (child->key_len > WORK_TEXT)
			*bytes += child->key_len;
		if (has_children(child))
			add_texts(child, maps, bytes);
		else if (child->len > WORK_TEXT && !is_free_text(child) &&
			 !holds_free_texts(node))
			*bytes += child->len;
	}
}

/* Returns the KiB of all long texts and keys, multiplied by the number of maps.
 * Texts to which other fields do not refer (commands, scripts, manifests, data)
 * do not count. */
static uint64_t work_of_texts(const struct node *node)
{
	uint64_t maps = 0, bytes = 0;

	add_texts(node, &maps, &bytes);
	return maps * (bytes / 1024);
}

bool work_is_too_much(const struct node *node)
{
	return work_of(node) > WORK_MAX || work_of_texts(node) > WORK_TEXTS_MAX;
}

static void find_longest(const struct node *node, uint64_t *most,
			 const struct node **longest)
{
	uint64_t work = own_work(node);

	if (has_children(node) && (!*longest || work > *most)) {
		*most = work;
		*longest = node;
	}
	FOR_EACH_CHILD(node, child)
		if (has_children(child))
			find_longest(child, most, longest);
}

const struct node *work_longest(const struct node *node)
{
	const struct node *longest = NULL;
	uint64_t most = 0;

	find_longest(node, &most, &longest);
	return longest;
}
