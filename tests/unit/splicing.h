/* SPDX-License-Identifier: Apache-2.0 */
/* Edits of a text, and the resulting text, for the test_splice tests. */
#ifndef TESTS_SPLICING_H
#define TESTS_SPLICING_H

#include "json_reading.h"

#include "doc/load.h"
#include "doc/splice.h"
#include "tests/tools/edit_json.h"

struct splice_case {
	const char *before, *edits;
	const char *after; /* NULL: the text stays the same */
	/* part of the first rejection; NULL: no rejection */
	const char *reason;
};

static void open_text(struct reading *reading, const char *text, size_t len)
{
	reading_init(reading, text, len);
	reading->limits = load_limits_default;
	loader_init(&reading->loader, &reading->source, &reading->limits,
		    &reading->arena);
}

static const struct node *read_edits(struct reading *reading, const char *text)
{
	open_text(reading, text, strlen(text));
	return yaml_read(&reading->loader, 0, (uint32_t)strlen(text));
}

static void check_reading(const struct reading *reading, const struct buf *out,
			  struct edit_list *list, const struct doc *doc)
{
	struct splice_expect expect = {.number = doc->number};
	struct arena arena = ARENA_INIT;
	struct err err = {0};

	expect.root = edits_apply(list, doc->root, &arena);
	if (splices_check(&reading->source, out, &expect, 1, &err))
		fail_msg("%s:\n%s", err.text, out->data);
	arena_release(&arena);
}

static void check_reason(const struct edit_list *list,
			 const struct splice_case *test)
{
	const char *found = NULL;

	for (size_t i = 0; i < list->ngroups && !found; i++)
		if (list->groups[i].outcome == EDIT_REFUSED)
			found = list->groups[i].reason;
	if (!test->reason != !found || (found && !strstr(found, test->reason)))
		fail_msg("%s\nrefused: %s\nnot:     %s", test->before,
			 found ? found : "-",
			 test->reason ? test->reason : "-");
}

/* Applies the edits to document number n of the file. */
static void run_in(const struct splice_case *test, unsigned n)
{
	struct splice_list splices = {0};
	struct reading old, edits;
	struct edit_list list;
	struct doc doc;
	struct buf out;

	open_text(&old, test->before, strlen(test->before));
	while (n--)
		assert_int_equal(loader_next(&old.loader, &doc), 1);
	assert_non_null(doc.root);
	placeholder_mark(&doc);
	edit_list_init(&list, &old.arena);
	edits_from_json(&list, read_edits(&edits, test->edits));
	edits_splice(&list, &doc, &old.arena, &splices);
	buf_init(&out);
	splices_apply(old.source.text, old.source.len, &splices, &out);
	check_reason(&list, test);
	assert_string_equal(out.data, test->after ? test->after : test->before);
	check_reading(&old, &out, &list, &doc);
	buf_release(&out);
	reading_release(&edits);
	reading_release(&old);
}

static void run_cases(const struct splice_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		run_in(&cases[i], 1);
}

#endif
