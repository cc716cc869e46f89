/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging of edits: the outcome of each group, the tree, and the patch, which
 * must give that tree.
 */
#include "value_reading.h"

#include "doc/load.h"
#include "tests/tools/edit_json.h"
#include "tests/tools/json_patch.h"

struct edit_case {
	const char *document, *edits;
	const char *result; /* NULL: same as the document */
	/* a letter for each group: done, needless, rejected, conflicting,
	 * ... */
	const char *outcomes;
	const char *patch; /* NULL: not compared */
};

static void assert_outcomes(const struct edit_list *list, const char *wanted,
			    const char *edits)
{
	char found[32] = "";

	for (size_t i = 0; i < list->ngroups; i++)
		found[i] = outcome_names[list->groups[i].outcome][0];
	if (strcmp(found, wanted))
		fail_msg("%s: %s, not %s", edits, found, wanted);
}

static void run_case(const struct edit_case *test)
{
	struct reading old, json;
	const struct node *root = read_value(&old, test->document);
	const struct node *edits = read_value(&json, test->edits);
	const struct node *result, *patch, *patched;
	struct edit_list list, again;

	edit_list_init(&list, &old.arena);
	edits_from_json(&list, edits);
	result = edits_apply(&list, root, &old.arena);
	assert_outcomes(&list, test->outcomes, test->edits);
	assert_same(result, test->result ? test->result : test->document);
	patch = edits_patch(&list, root, &old.arena);
	if (test->patch)
		assert_same(patch, test->patch);
	patched = patch_apply(&old.arena, root, patch, NULL);
	assert_true(node_same(patched, result));
	assert_same(root, test->document);
	if (strspn(test->outcomes, "dn") == strlen(test->outcomes)) {
		edit_list_init(&again, &old.arena);
		edits_from_json(&again, edits);
		assert_ptr_equal(edits_apply(&again, result, &old.arena),
				 result);
	}
	reading_release(&old);
	reading_release(&json);
}

static void each_edit_makes_its_change_and_patch(void **state)
{
	static const struct edit_case cases[] = {
		{"{}", "[]", NULL, "", "[]"},
		/* set */
		{"{}", "[{set: [a], value: 1}]", "{a: 1}", "d",
		 "[{op: add, path: /a, value: 1}]"},
		{"{a: 1}", "[{set: [a], value: 1}]", NULL, "n", "[]"},
		{"{a: 1}", "[{set: [a], value: 2}]", "{a: 2}", "d",
		 "[{op: replace, path: /a, value: 2}]"},
		{"{a: 1}", "[{set: [a], value: '1'}]", "{a: '1'}", "d", NULL},
		{"{}", "[{set: [resources, limits, nvidia.com/gpu], value: 1}]",
		 "{resources: {limits: {nvidia.com/gpu: 1}}}", "d",
		 "[{op: add, path: /resources, value: {limits: "
		 "{nvidia.com/gpu: 1}}}]"},
		{"{limits: {a: 1}}",
		 "[{set: [limits, nvidia.com/gpu], value: 1}]",
		 "{limits: {a: 1, nvidia.com/gpu: 1}}", "d",
		 "[{op: add, path: /limits/nvidia.com~1gpu, value: 1}]"},
		{"{limits: null}", "[{set: [limits, a~b], value: 1}]",
		 "{limits: {a~b: 1}}", "d",
		 "[{op: replace, path: /limits, value: {a~b: 1}}]"},
		/* setting a map only sets the keys of the given map */
		{"{m: {a: 1, b: 2}}", "[{set: [m], value: {b: 3, c: {}}}]",
		 "{m: {a: 1, b: 3, c: {}}}", "d", NULL},
		{"{m: {a: 1}}", "[{set: [m], value: {}}]", NULL, "n", "[]"},
		{"{m: 5}", "[{set: [m], value: {a: 1}}]", "{m: {a: 1}}", "d",
		 NULL},
		{"{m: [1, 2]}", "[{set: [m], value: [1, 2]}]", NULL, "n", "[]"},
		{"{m: [1, 2]}", "[{set: [m], value: [1]}]", "{m: [1]}", "d",
		 NULL},
		/* list items */
		{"{c: [{name: a}, {name: b}]}",
		 "[{set: [c, {name: b}, x], value: 1}]",
		 "{c: [{name: a}, {name: b, x: 1}]}", "d",
		 "[{op: add, path: /c/1/x, value: 1}]"},
		{"{c: [{name: a}]}", "[{set: [c, {name: b}, x], value: 1}]",
		 NULL, "r", "[]"},
		{"{c: [1]}", "[{set: [c, 1, x], value: 1}]", NULL, "r", NULL},
		{"{c: [{}]}", "[{set: [c, 0, x], value: 1}]", "{c: [{x: 1}]}",
		 "d", NULL},
		/* values of another type in the path */
		{"{m: 5}", "[{set: [m, a], value: 1}]", NULL, "r", "[]"},
		{"{m: []}", "[{set: [m, a], value: 1}]", NULL, "r", "[]"},
		{"{m: {}}", "[{ensure: [m], item: 1}]", NULL, "r", "[]"},
		{"{m: 1}", "[{set: [], value: {m: 2}}]", NULL, "r", "[]"},
		{"{m: 1}", "[{remove: []}]", NULL, "r", "[]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(&cases[i]);
}

static void ensure_adds_an_item_once(void **state)
{
	static const struct edit_case cases[] = {
		{"{}", "[{ensure: [l], item: {name: a}, keys: name}]",
		 "{l: [{name: a}]}", "d",
		 "[{op: add, path: /l, value: [{name: a}]}]"},
		{"{l: null}", "[{ensure: [l], item: 1}]", "{l: [1]}", "d",
		 NULL},
		{"{l: []}", "[{ensure: [l], item: 1}]", "{l: [1]}", "d",
		 "[{op: add, path: /l/-, value: 1}]"},
		{"{l: [1]}", "[{ensure: [l], item: 1}]", NULL, "n", "[]"},
		/* an existing item is not changed */
		{"{l: [{name: a, x: 1}]}",
		 "[{ensure: [l], item: {name: a, x: 2}, keys: name}]", NULL,
		 "n", "[]"},
		/* several keys; absent and null are the same */
		{"{l: [{key: g, operator: Exists}]}",
		 "[{ensure: [l], item: {key: g, operator: Exists, effect: "
		 "NoSchedule}, keys: 'key,operator,effect'}]",
		 "{l: [{key: g, operator: Exists}, {key: g, operator: "
		 "Exists, effect: NoSchedule}]}",
		 "d", NULL},
		{"{l: [{key: g, effect: null, x: 1}]}",
		 "[{ensure: [l], item: {key: g}, keys: 'key,effect'}]", NULL,
		 "n", NULL},
		/* two items for one list */
		{"{l: [0]}", "[{ensure: [l], item: 1}, {ensure: [l], item: 2}]",
		 "{l: [0, 1, 2]}", "dd",
		 "[{op: add, path: /l/-, value: 1}, {op: add, path: /l/-, "
		 "value: 2}]"},
		/* equal items are added once */
		{"{}",
		 "[{ensure: [l], item: {name: a, x: 1}, keys: name}, "
		 "{ensure: [l], item: {name: a, x: 1}, keys: name}]",
		 "{l: [{name: a, x: 1}]}", "dd", NULL},
		/* items that are only partly equal */
		{"{}",
		 "[{ensure: [l], item: {name: a, x: 1}, keys: name}, "
		 "{ensure: [l], item: {name: a, x: 2}, keys: name}]",
		 NULL, "cc", "[]"},
		/* a key set in an item that a later `ensure` appends */
		{"{}",
		 "[{set: [l, {name: a}, 'y'], value: 2}, {ensure: [l], "
		 "item: {name: a, x: 1}, keys: name}]",
		 "{l: [{name: a, x: 1, 'y': 2}]}", "dd", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(&cases[i]);
}

static void remove_takes_what_is_there(void **state)
{
	static const struct edit_case cases[] = {
		{"{a: 1, b: 2}", "[{remove: [a]}]", "{b: 2}", "d",
		 "[{op: remove, path: /a}]"},
		{"{a: 1}", "[{remove: [b]}]", NULL, "n", "[]"},
		{"{a: 1}", "[{remove: [b, c]}]", NULL, "n", "[]"},
		{"{a: 1}", "[{remove: [a, c]}]", NULL, "n", "[]"},
		{"{a: null}", "[{remove: [a, 0]}]", NULL, "n", "[]"},
		{"{a: {b: 1}}", "[{remove: [a, b]}]", "{a: {}}", "d", NULL},
		/* all items that match are removed */
		{"{e: [{name: x}, {name: 'y'}, {name: x}]}",
		 "[{remove: [e, {name: x}]}]", "{e: [{name: 'y'}]}", "d",
		 "[{op: remove, path: /e/2}, {op: remove, path: /e/0}]"},
		{"{e: [{name: x}]}", "[{remove: [e, {name: z}]}]", NULL, "n",
		 "[]"},
		/* edits inside of items first, then removals from the end, then
		 * new items */
		{"{e: [{name: a}, {name: b}, {name: c}]}",
		 "[{ensure: [e], item: {name: d}, keys: name}, {remove: [e, "
		 "{name: a}]}, {set: [e, {name: c}, v], value: 1}, {remove: "
		 "[e, {name: b}]}]",
		 "{e: [{name: c, v: 1}, {name: d}]}", "dddd",
		 "[{op: add, path: /e/2/v, value: 1}, {op: remove, path: "
		 "/e/1}, {op: remove, path: /e/0}, {op: add, path: /e/-, "
		 "value: {name: d}}]"},
		/* the key of a list is removed with the last item */
		{"{a: {l: [{name: x}], b: 1}}", "[{remove: [a, l, {name: x}]}]",
		 "{a: {b: 1}}", "d", "[{op: remove, path: /a/l}]"},
		{"{l: [x, y]}", "[{remove: [l, 0]}, {remove: [l, 1]}]", "{}",
		 "dd", "[{op: remove, path: /l}]"},
		{"{l: [[{v: 1}]]}", "[{remove: [l, 0, 0]}]", "{l: [[]]}", "d",
		 NULL},
		{"{l: [{name: x}]}",
		 "[{remove: [l, {name: x}]}, {ensure: [l], item: {name: z}, "
		 "keys: name}]",
		 "{l: [{name: z}]}", "dd", NULL},
		{"{l: [{name: x}, {v: [1]}]}", "[{remove: [l, 1, v, 0]}]",
		 "{l: [{name: x}, {}]}", "d", NULL},
		/* a list that was empty before stays */
		{"{l: [], m: 1}", "[{remove: [m]}, {remove: [l, {name: x}]}]",
		 "{l: []}", "dn", NULL},
		/* removals inside of a value that is removed as well */
		{"{a: {b: 1}}", "[{remove: [a, b]}, {remove: [a]}]", "{}", "dd",
		 "[{op: remove, path: /a}]"},
		{"{a: {b: 1}}", "[{remove: [a]}, {remove: [a, b]}]", "{}", "dd",
		 NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(&cases[i]);
}

static void conflicting_edits_are_left_out(void **state)
{
	static const struct edit_case cases[] = {
		{"{}", "[{set: [a], value: 1}, {set: [a], value: 1}]", "{a: 1}",
		 "dd", NULL},
		{"{}", "[{set: [a], value: 1}, {set: [a], value: 2}]", NULL,
		 "cc", "[]"},
		{"{}",
		 "[{set: [a], value: 1}, {set: [a], value: 2}, {set: [a], "
		 "value: 1}, {set: [b], value: 1}]",
		 "{b: 1}", "cccd", NULL},
		/* one of two conflicting edits has the value already */
		{"{a: 1}", "[{set: [a], value: 1}, {set: [a], value: 2}]", NULL,
		 "cc", "[]"},
		/* a group is applied as a whole */
		{"{}",
		 "[{set: [x], value: 1}, {set: [a], value: 1, and: true}, "
		 "{set: [a], value: 2}, {set: ['y'], value: 1, and: true}, "
		 "{set: [z], value: 1}]",
		 "{z: 1}", "ccd", NULL},
		{"{a: {b: 1}}", "[{remove: [a]}, {set: [a, b], value: 1}]",
		 NULL, "cc", "[]"},
		{"{a: {b: 1}}", "[{set: [a, c], value: 1}, {remove: [a]}]",
		 NULL, "cc", "[]"},
		{"{}", "[{set: [a, b], value: 1}, {remove: [a, b]}]", NULL,
		 "cc", NULL},
		{"{l: [1]}", "[{set: [l], value: [1]}, {ensure: [l], item: 2}]",
		 NULL, "cc", NULL},
		{"{}", "[{set: [a], value: 1}, {set: [a, b], value: 1}]", NULL,
		 "cc", NULL},
		{"{l: [{name: a}]}",
		 "[{ensure: [l], item: {name: a}, keys: name}, {remove: [l, "
		 "{name: a}]}]",
		 NULL, "cc", NULL},
		/* maps that set different keys agree */
		{"{}", "[{set: [m], value: {a: 1}}, {set: [m], value: {b: 2}}]",
		 "{m: {a: 1, b: 2}}", "dd", NULL},
		/* values of a skipped group do not exist for others */
		{"{}",
		 "[{ensure: [l], item: {name: a}, keys: name}, {set: [p], "
		 "value: 1, and: true}, {set: [p], value: 2}, {set: [l, "
		 "{name: a}, x], value: 1}]",
		 NULL, "ccr", "[]"},
		/* applied twice, the result is the same */
		{"[]",
		 "[{set: [{name: 'y'}, x], value: 1}, {ensure: [], item: "
		 "{name: m}, keys: name, and: true}, {ensure: [], item: "
		 "{name: d, x: 1}, keys: name}, {set: [{name: m}, x], "
		 "value: 1, and: true}, {ensure: [], item: {name: d, x: 2}, "
		 "keys: name}, {ensure: [], item: {name: 'y'}, keys: name, "
		 "and: true}]",
		 NULL, "rcc", "[]"},
		/* a rejected edit does not conflict with others */
		{"{m: 5}",
		 "[{set: [a], value: 1}, {set: [m, x], value: 1, and: "
		 "true}, {set: [a], value: 2}]",
		 "{m: 5, a: 2}", "rd", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(&cases[i]);
}

static void a_conflict_names_the_other_edit(void **state)
{
	struct reading old, json;
	const struct node *root = read_value(&old, "{}");
	struct edit_list list;

	(void)state;
	edit_list_init(&list, &old.arena);
	edits_from_json(
		&list,
		read_value(
			&json,
			"[{set: [b], value: 1}, {set: [a], value: 1}, {set: [a], "
			"value: 2}]"));
	edits_apply(&list, root, &old.arena);
	assert_int_equal(list.groups[0].outcome, EDIT_DONE);
	assert_int_equal(list.groups[1].other, 2);
	assert_int_equal(list.groups[2].other, 1);
	reading_release(&old);
	reading_release(&json);
}

/* Checks that a path to every value leads back to it. */
static void check_paths(struct arena *arena, const struct node *root,
			const struct node *node, unsigned *n)
{
	struct edit_path path;
	struct edit_list list;
	struct buf wanted;
	const struct node *patch;

	if (node->parent) {
		edit_list_init(&list, arena);
		edit_path_to(&path, arena, node);
		edit_remove(&list, &path);
		patch = edits_patch(&list, root, arena);
		buf_init(&wanted);
		node_pointer(node, &wanted);
		assert_int_equal(patch->len, 1);
		assert_string_equal(node_get(patch->first, "path")->str,
				    wanted.data);
		buf_release(&wanted);
		++*n;
	}
	FOR_EACH_CHILD(node, child)
		check_paths(arena, root, child, n);
}

static void a_path_leads_to_its_node(void **state)
{
	struct reading old;
	const struct node *root = read_value(
		&old, "{a: {b~/: [{name: x}, {name: 'y'}, {name: 'y'}, {name: "
		      "{}}, [1, [2]], null]}}");
	unsigned n = 0;

	(void)state;
	check_paths(&old.arena, root, root, &n);
	assert_int_equal(n, 15);
	reading_release(&old);
}

/* Copies of a path can be extended in different ways. */
static void copies_of_a_path_go_on_apart(void **state)
{
	struct reading old;
	const struct node *root = read_value(&old, "{}");
	struct edit_path base, a, b;
	struct edit_list list;

	(void)state;
	edit_list_init(&list, &old.arena);
	edit_path_to(&base, &old.arena, NULL);
	edit_path_key(&base, "m");
	a = b = base;
	edit_path_key(&a, "x");
	edit_path_key(&b, "y");
	edit_set(&list, &a, edit_int(&old.arena, -1));
	edit_set(&list, &b, edit_bool(&old.arena, true));
	edit_path_key(&base, "z");
	edit_set(&list, &base, edit_seq(&old.arena));
	assert_same(edits_apply(&list, root, &old.arena),
		    "{m: {x: -1, 'y': true, z: []}}");
	reading_release(&old);
}

struct unknown_case {
	const char *edits, *outcomes;
};

static void unknown_values_are_never_edited(void **state)
{
	static const struct unknown_case cases[] = {
		{"[{set: [limits, gpu], value: 1}]", "r"},
		{"[{set: [res, x], value: 1}]", "r"},
		{"[{set: [res], value: {x: 1}}]", "r"},
		{"[{remove: [res, x]}]", "r"},
		{"[{ensure: [l], item: {name: b}, keys: name}]", "r"},
		{"[{ensure: [l], item: {name: a}, keys: name}]", "n"},
		{"[{ensure: [l], item: {name: b, v: 2}, keys: 'name,v'}]", "d"},
		{"[{set: [l, {name: b}, x], value: 1}]", "r"},
		{"[{set: [l, {name: a}, x], value: 1}]", "d"},
		{"[{remove: [l, {name: b}]}]", "r"},
		{"[{set: [limits, other], value: 1}]", "d"},
	};
	static const char text[] = "limits:\n  gpu: ${GPUS}\nres: ${RES}\n"
				   "l:\n- name: a\n- name: ${NAME}\n";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct reading old, json;
		struct edit_list list;
		struct doc doc;

		reading_init(&old, text, strlen(text));
		old.limits = load_limits_default;
		assert_int_equal(loader_next(&old.loader, &doc), 1);
		assert_int_equal(placeholder_mark(&doc), 3);
		edit_list_init(&list, &old.arena);
		edits_from_json(&list, read_value(&json, cases[i].edits));
		edits_apply(&list, doc.root, &old.arena);
		assert_outcomes(&list, cases[i].outcomes, cases[i].edits);
		reading_release(&old);
		reading_release(&json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_edit_makes_its_change_and_patch),
		cmocka_unit_test(ensure_adds_an_item_once),
		cmocka_unit_test(remove_takes_what_is_there),
		cmocka_unit_test(conflicting_edits_are_left_out),
		cmocka_unit_test(a_conflict_names_the_other_edit),
		cmocka_unit_test(a_path_leads_to_its_node),
		cmocka_unit_test(copies_of_a_path_go_on_apart),
		cmocka_unit_test(unknown_values_are_never_edited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
