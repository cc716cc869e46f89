/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates any bytes as an expression over a small document, once as a whole
 * object and once as a fragment of one. Evaluation must end within its budget,
 * give the same result twice, and blame only nodes of the document.
 *
 * Inputs: 35000
 */
#include <string.h>

#include "base/err.h"
#include "cel/cel.h"
#include "doc/load.h"
#include "tests/unit/cel_value_text.h"

enum { BUDGET = 20000, BLAMED = 4 };

static const char json[] =
	"{\"metadata\":{\"name\":\"a\",\"labels\":{\"a\":\"x\"}},\"spec\":"
	"{\"replicas\":3,\"ready\":true,\"f\":1.5,\"none\":null,\"list\":[1,2,3"
	"],\"containers\":[{\"name\":\"a\",\"image\":\"reg/x\"},{\"name\":\"b\""
	"}]}}";

static struct cel_value variable(struct cel_eval *eval, void *context,
				 unsigned index)
{
	struct doc *doc = context;

	return index ? cel_unknown(NULL)
		     : cel_from_node(eval->arena, doc->root, NULL);
}

static void text_of(struct cel_value value, struct buf *out)
{
	buf_reset(out);
	value_text(value, out);
}

static const struct node *root_of(const struct node *node)
{
	while (node->parent)
		node = node->parent;
	return node;
}

static void check_blame(struct cel_eval *eval, const struct doc *doc)
{
	const struct node *nodes[BLAMED];
	size_t n = cel_eval_blame(eval, nodes, BLAMED);

	for (size_t i = 0; i < n; i++) {
		if (root_of(nodes[i]) != doc->root)
			BUG("a node of no document");
	}
}

static void check_run(struct arena *arena, const struct cel_program *program,
		      struct doc *doc, bool fragment)
{
	struct cel_eval_options options = {variable, doc, BUDGET, fragment};
	struct cel_eval eval;
	struct buf first, second;
	uint64_t cost;

	buf_init(&first);
	buf_init(&second);
	cel_eval_init(&eval, program, arena, &options);
	text_of(cel_eval_run(&eval), &first);
	cost = eval.cost;
	if (!eval.over && cost > BUDGET)
		BUG("costs %llu", (unsigned long long)cost);
	check_blame(&eval, doc);
	text_of(cel_eval_run(&eval), &second);
	if (eval.cost != cost || strcmp(first.data, second.data) != 0)
		BUG("first %s, then %s", first.data, second.data);
	buf_release(&first);
	buf_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = ARENA_INIT;
	struct cel_variable variables[] = {
		{"object", cel_type_of_kind(CEL_DYN)},
		{"request", cel_type_of_kind(CEL_DYN)},
		{NULL, NULL}};
	struct cel_issues issues = {.arena = &arena};
	const struct cel_program *program =
		cel_compile(&arena, cel_env_new(&arena, variables),
			    (const char *)data, size, &issues);
	struct source source;
	struct loader loader;
	struct doc doc;

	source_init(&source, &arena, "fuzz.json", json, strlen(json));
	loader_init(&loader, &source, &load_limits_default, &arena);
	if (!loader_next(&loader, &doc))
		BUG("no document");
	if (program) {
		check_run(&arena, program, &doc, false);
		check_run(&arena, program, &doc, true);
	}
	arena_release(&arena);
	return 0;
}
