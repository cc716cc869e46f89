/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits any file with any edits. The input's bytes up to a NUL are a file. The
 * bytes after it are JSON, read as a JSON Patch and as edits
 * (tests/tools/edit_json.h). Checks that
 *	- patches never change the document to which they are applied
 *	- the patch of the edits gives the tree of the edits
 *	- splices are in order and inside of the text, and the spliced text
 *	  reads as that tree, unless YAML readers disagree about the file
 * Inputs: 120000
 */
#include <stdint.h>
#include <string.h>

#include "doc/load.h"
#include "doc/splice.h"
#include "tests/tools/edit_json.h"
#include "tests/tools/json_patch.h"

struct input {
	struct arena arena;
	struct source file, rest;
	const struct node *json;
	struct doc doc;
	unsigned issues; /* number of issues anywhere in the file */
};

static const struct load_limits limits = {
	.bytes = 1 << 16,
	.depth = 60,
	.nodes = 5000,
	.documents = 20,
	.directives = 8,
	.flow_work = 100000,
};

static void count_issue(void *context, const struct load_issue *issue)
{
	(void)issue;
	++*(unsigned *)context;
}

static bool read_input(struct input *input, const char *data, size_t size)
{
	const char *nul = memchr(data, '\0', size);
	struct loader loader;
	struct doc ignored;
	uint32_t used;

	if (!nul)
		return false;
	source_init(&input->rest, &input->arena, "json", nul + 1,
		    size - (size_t)(nul + 1 - data));
	loader_init(&loader, &input->rest, &limits, &input->arena);
	input->json = json_read(&loader, 0, (uint32_t)input->rest.len, &used);
	if (!node_is_seq(input->json))
		return false;
	source_init(&input->file, &input->arena, "file", data,
		    (size_t)(nul - data));
	loader_init(&loader, &input->file, &limits, &input->arena);
	loader.issue = count_issue;
	loader.context = &input->issues;
	if (!loader_next(&loader, &input->doc) || !input->doc.root)
		return false;
	while (loader_next(&loader, &ignored))
		;
	placeholder_mark(&input->doc);
	return true;
}

static void try_patch(struct input *input)
{
	const struct node *result;
	struct buf before, after;
	struct err err = {0};

	buf_init(&before);
	buf_init(&after);
	node_json(input->doc.root, &before);
	result = patch_apply(&input->arena, input->doc.root, input->json, &err);
	if (!result != !!err.set)
		BUG("result and error");
	node_json(input->doc.root, &after);
	if (strcmp(before.data, after.data))
		BUG("the document changed");
	buf_reset(&after);
	node_json(result, &after);
	buf_release(&before);
	buf_release(&after);
}

static void check_order(const struct input *input,
			const struct splice_list *splices)
{
	for (size_t i = 0; i < splices->n; i++) {
		const struct splice *splice = &splices->items[i];

		if (splice->end < splice->start ||
		    splice->end > input->file.len ||
		    (i && splice->start < splices->items[i - 1].end))
			BUG("splice %zu: %u-%u", i, splice->start, splice->end);
	}
}

static void try_diff(const struct input *input, const struct buf *new)
{
	struct diff_text a = {input->file.text, input->file.len, NULL};
	struct diff_text b = {new->data, new->len, NULL};
	struct buf out;

	buf_init(&out);
	diff_unified("file", &a, &b, &out);
	buf_release(&out);
}

static void try_edits(struct input *input)
{
	struct splice_list splices = {0};
	struct splice_expect expect = {.number = input->doc.number};
	const struct node *patched;
	struct edit_list list;
	struct err err = {0};
	struct buf out;

	edit_list_init(&list, &input->arena);
	edits_from_json(&list, input->json);
	edits_splice(&list, &input->doc, &input->arena, &splices);
	check_order(input, &splices);
	expect.root = edits_apply(&list, input->doc.root, &input->arena);
	patched = patch_apply(
		&input->arena, input->doc.root,
		edits_patch(&list, input->doc.root, &input->arena), NULL);
	if (!patched || !node_same(patched, expect.root))
		BUG("the patch gives another tree");
	buf_init(&out);
	splices_apply(input->file.text, input->file.len, &splices, &out);
	if (splices_check(&input->file, &out, &expect, 1, &err) &&
	    !input->issues)
		BUG("%s:\n%s", err.text, out.data);
	try_diff(input, &out);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {.arena = ARENA_INIT};

	if (read_input(&input, (const char *)data, size)) {
		try_patch(&input);
		try_edits(&input);
	}
	arena_release(&input.arena);
	return 0;
}
