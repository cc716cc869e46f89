/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks the cost of an object (its documents, scripts, custom rules, memory
 * and comparisons) and of a file against their limits, and estimates the work
 * that lists cause.
 */
#include "doc/budget.h"

#include "base/escape.h"
#include "base/text.h"
#include "doc/load.h"

/*
 * Reasons for the limits: an object of 1.5 MiB can have 60,000 small fields.
 * Flow style is rarely more than a few levels deep; libyaml takes 15 ms for
 * this amount of flow work. The words of scripts of this length take at most 15
 * MiB. All custom rules together get the budget of one expression, 0.1 s; most
 * rules cost about 100 units of it. A GPU pod with its findings and fixes takes
 * 15 KB. Comparing 15 million values with labels of nodes takes 0.1 s.
 */
const struct load_cost load_cost_object = {
	.bytes = 16 << 20,
	.nodes = 60000,
	.flow_work = 4000000,
	.list_work = WORK_MAX,
	.script = 1 << 20,
	.cel = 1500000,
	.memory = 12 << 20,
	.compared = 15000000,
};

const struct load_cost load_cost_file = {
	.bytes = 256 << 20,
	.nodes = 2000000,
	.flow_work = 100000000,
	.list_work = UINT64_MAX,
	.script = UINT64_MAX,
	.cel = UINT64_MAX,
	.memory = UINT64_MAX,
	.compared = UINT64_MAX,
};

static uint64_t minimum(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void load_budget_object(struct load_budget *budget)
{
	budget->object = load_cost_object;
	budget->over = false;
}

struct load_cost load_budget_left(const struct load_budget *budget)
{
	const struct load_cost *a = &budget->object, *b = &budget->all;

	return (struct load_cost){
		.bytes = minimum(a->bytes, b->bytes),
		.nodes = minimum(a->nodes, b->nodes),
		.flow_work = minimum(a->flow_work, b->flow_work),
		.list_work = minimum(a->list_work, b->list_work),
		.script = minimum(a->script, b->script),
		.cel = minimum(a->cel, b->cel),
		.memory = minimum(a->memory, b->memory),
		.compared = minimum(a->compared, b->compared),
	};
}

/* Subtracts n from *left. If less is left, sets it to 0 and returns false. */
static bool spend(uint64_t *left, uint64_t n)
{
	bool enough = n <= *left;

	*left -= enough ? n : *left;
	return enough;
}

static bool take_all(struct load_cost *left, const struct load_cost *cost)
{
	bool bytes = spend(&left->bytes, cost->bytes);
	bool nodes = spend(&left->nodes, cost->nodes);
	bool flow_work = spend(&left->flow_work, cost->flow_work);
	bool script = spend(&left->script, cost->script);
	bool cel = spend(&left->cel, cost->cel);
	bool memory = spend(&left->memory, cost->memory);
	bool compared = spend(&left->compared, cost->compared);

	return spend(&left->list_work, cost->list_work) && bytes && nodes &&
	       flow_work && script && cel && memory && compared;
}

bool load_budget_spend(struct load_budget *budget, const struct load_cost *cost)
{
	bool enough;

	if (!budget)
		return true;
	escape_check(0);
	enough = take_all(&budget->object, cost);
	enough = take_all(&budget->all, cost) && enough;
	budget->over |= !enough;
	return enough;
}

/*
 * Charges parsed nodes to the limits of a loader and the budget of its arena.
 */

uint32_t cost_nodes(const struct loader *loader)
{
	const struct load_budget *budget = loader->arena->budget;
	uint32_t most = loader->limits->nodes;
	uint64_t left = budget ? load_budget_left(budget).nodes : most;

	return left < most ? (uint32_t)left : most;
}

uint64_t cost_flow_work(const struct loader *loader)
{
	const struct load_budget *budget = loader->arena->budget;
	uint64_t most = loader->limits->flow_work - loader->flow_work;
	uint64_t left = budget ? load_budget_left(budget).flow_work : most;

	return left < most ? left : most;
}

void cost_spend(struct loader *loader, uint64_t nodes, uint64_t flow_work)
{
	struct load_budget *budget = loader->arena->budget;

	loader->flow_work += flow_work;
	load_budget_spend(budget, &(struct load_cost){.nodes = nodes,
						      .flow_work = flow_work});
	if (budget)
		budget->over |= loader->costly;
}

/*
 * Computes the work that an object's lists, keys and texts cause, and finds the
 * longest list.
 */

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
