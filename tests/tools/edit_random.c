/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit_random COUNT SEED [DIR]
 * Makes random files (edit_write.h) and random edits. Checks for each pair that
 *   - the spliced text reads as the tree that edits_apply() gives, and all
 *     other documents of the file as before
 *   - patch_apply() of edits_patch() gives that tree too
 *   - doing the same edits again changes nothing
 *   - comments are kept unless something is removed, and the bytes between
 *     splices are the old ones
 * stdout: one line per pair for another implementation, "OLD\tPATCH\tNEW" in
 * JSON, of all edits, even if splicing rejects some. stderr: failures, counts.
 * DIR: every 50th pair is also written as NUMBER.old, .new and .diff.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc/splice.h"
#include "edit_json.h"
#include "edit_write.h"
#include "json_patch.h"

struct counts {
	unsigned long pairs, unread, documents, groups, outcomes[4], splices;
	unsigned long again, patches, failed;
	unsigned long refused_plain; /* rejections in files without anchors */
	struct {
		const char *reason;
		unsigned long n;
	} reasons[64];
};

static void count_reason(struct counts *counts, const char *reason)
{
	size_t i = 0;

	while (counts->reasons[i].reason &&
	       strcmp(counts->reasons[i].reason, reason))
		i++;
	if (getenv("SHOW_REASON") && strstr(reason, getenv("SHOW_REASON")))
		fprintf(stderr, "SHOWN %lu\n", counts->pairs);
	counts->reasons[i].reason = reason;
	counts->reasons[i].n++;
}

struct pair {
	struct arena arena;
	struct writer writer;
	struct source source;
	struct doc doc;
	struct edit_list list;
	bool removes, by_index;
	unsigned long number;
};

/* --- random edits -------------------------------------------------------- */

static const struct node *random_node(struct random *random,
				      const struct node *node)
{
	while (node->first && chance(random, 80)) {
		unsigned n = below(random, node->len);

		node = node->first;
		while (n--)
			node = node->next;
	}
	return node;
}

/* Returns true for keys by which items are found, which edits do not change. */
static bool is_name(const char *key)
{
	return key && !strcmp(key, "name");
}

static const char *other_key(struct random *random)
{
	const char *key = random_key(random);

	return is_name(key) ? "other" : key;
}

static void value_edit(struct pair *pair, const struct node *at)
{
	struct random *random = &pair->writer.random;
	struct arena *arena = &pair->arena;
	struct edit_path path;
	unsigned deeper = below(random, 3);

	if (is_name(at->key))
		return;
	edit_path_to(&path, arena, at);
	if (at->type == NODE_MAP || at->type == NODE_NULL)
		for (unsigned i = 0; i <= deeper; i++)
			edit_path_key(&path, other_key(random));
	edit_set(&pair->list, &path, random_value(random, arena, 2));
}

static void item_edit(struct pair *pair, const struct node *at)
{
	struct random *random = &pair->writer.random;
	struct arena *arena = &pair->arena;
	struct node *item = edit_map(arena);
	struct edit_path path;

	edit_path_to(&path, arena, at);
	if (at->type == NODE_MAP)
		edit_path_key(&path, random_key(random));
	edit_member_string(arena, item, "name", random_name(random));
	if (chance(random, 70))
		edit_member(arena, item, "size",
			    random_value(random, arena, 1));
	edit_ensure(&pair->list, &path, item, "name");
	if (chance(random, 70))
		return;
	edit_path_match(&path, "name", random_name(random));
	edit_path_key(&path, other_key(random));
	edit_set(&pair->list, &path, random_value(random, arena, 1));
}

static void removal(struct pair *pair, const struct node *at)
{
	struct edit_path path;

	if (!at->parent || is_name(at->key))
		return;
	edit_path_to(&path, &pair->arena, at);
	edit_remove(&pair->list, &path);
	pair->removes = true;
}

/* Moves the value to another key that the map lacks. */
static void renaming(struct pair *pair, const struct node *at)
{
	const char *key = other_key(&pair->writer.random);
	struct edit_path path;

	if (!at->key || is_name(at->key) || node_get(at->parent, key))
		return;
	edit_path_to(&path, &pair->arena, at->parent);
	edit_path_key(&path, key);
	edit_set(&pair->list, &path, edit_copy(&pair->arena, at));
	removal(pair, at);
}

static void random_edits(struct pair *pair)
{
	struct random *random = &pair->writer.random;
	unsigned n = 1 + below(random, 6);

	edit_list_init(&pair->list, &pair->arena);
	for (unsigned i = 0; i < n; i++) {
		const struct node *at = random_node(random, pair->doc.root);
		unsigned what = below(random, 11);

		if (!i || chance(random, 75))
			edit_group(&pair->list);
		if (what < 4)
			value_edit(pair, at);
		else if (what < 7 && at->type != NODE_STRING)
			item_edit(pair, at);
		else if (what < 10)
			removal(pair, at);
		else
			renaming(pair, at);
	}
	for (size_t i = 0; i < pair->list.nedits; i++)
		for (size_t k = 0; k < pair->list.edits[i].path.nsteps; k++)
			pair->by_index |=
				pair->list.edits[i].path.steps[k].kind ==
				EDIT_STEP_INDEX;
}

/* Copies the edits, except for groups that were not applied. */
static void copy_done(const struct edit_list *from, struct edit_list *to,
		      struct arena *arena)
{
	edit_list_init(to, arena);
	for (size_t g = 0; g < from->ngroups; g++) {
		if (from->groups[g].outcome == EDIT_CONFLICT ||
		    from->groups[g].outcome == EDIT_REFUSED)
			continue;
		edit_group(to);
		for (size_t i = 0; i < from->nedits; i++) {
			const struct edit *edit = &from->edits[i];

			if (edit->group != g)
				continue;
			if (edit->kind == EDIT_SET)
				edit_set(to, &edit->path, edit->value);
			else if (edit->kind == EDIT_ENSURE)
				edit_ensure(to, &edit->path, edit->value,
					    edit->keys);
			else
				edit_remove(to, &edit->path);
		}
	}
}

/* --- checks -------------------------------------------------------------- */

static void fail(struct pair *pair, struct counts *counts, const char *what,
		 const struct buf *after)
{
	if (counts->failed++ > 20)
		return;
	fprintf(stderr, "FAIL %lu: %s\n--- old\n%.*s\n", pair->number, what,
		(int)pair->source.len, pair->source.text);
	if (after)
		fprintf(stderr, "--- new\n%s\n", after->data);
	for (size_t i = 0; i < pair->list.nedits; i++) {
		const struct edit *edit = &pair->list.edits[i];
		struct buf value;

		buf_init(&value);
		if (edit->value)
			node_json(edit->value, &value);
		fprintf(stderr, "edit %u %d", edit->group, (int)edit->kind);
		for (size_t k = 0; k < edit->path.nsteps; k++)
			fprintf(stderr, " /%s=%s#%u",
				edit->path.steps[k].key
					? edit->path.steps[k].key
					: "",
				edit->path.steps[k].value
					? edit->path.steps[k].value->str
					: "",
				edit->path.steps[k].index);
		fprintf(stderr, " %s\n", value.data);
		buf_release(&value);
	}
}

static void check_patch(struct pair *pair, struct counts *counts, bool print)
{
	struct edit_list list;
	const struct node *patch, *wanted, *got;
	struct err err = {0};
	struct buf line;

	list = pair->list;
	wanted = edits_apply(&list, pair->doc.root, &pair->arena);
	patch = edits_patch(&list, pair->doc.root, &pair->arena);
	got = patch_apply(&pair->arena, pair->doc.root, patch, &err);
	if (!got || !node_same(got, wanted))
		fail(pair, counts, got ? "patch gives another tree" : err.text,
		     NULL);
	if (!print)
		return;
	counts->patches++;
	buf_init(&line);
	node_json(pair->doc.root, &line);
	buf_addc(&line, '\t');
	node_json(patch, &line);
	buf_addc(&line, '\t');
	node_json(wanted, &line);
	puts(line.data);
	buf_release(&line);
}

static unsigned count_marks(const char *text, size_t len)
{
	unsigned n = 0;

	for (size_t i = 0; i + 2 < len; i++)
		n += text[i] == '#' && text[i + 1] == '#';
	return n;
}

static bool bytes_stay(const struct pair *pair,
		       const struct splice_list *splices,
		       const struct buf *after)
{
	const char *old = pair->source.text, *new = after->data;
	size_t at = 0, rest;

	for (size_t i = 0; i < splices->n; i++) {
		const struct splice *splice = &splices->items[i];

		if (memcmp(old + at, new, splice->start - at))
			return false;
		new += splice->start - at;
		if (memcmp(new, splice->text, splice->len))
			return false;
		new += splice->len;
		at = splice->end;
	}
	rest = pair->source.len - at;
	return (size_t)(after->data + after->len - new) == rest &&
	       !memcmp(old + at, new, rest);
}

/* Reads the document again from the new text. */
static bool read_again(struct pair *pair, const struct buf *after,
		       struct source *source, struct doc *doc)
{
	struct loader loader;

	source_init(source, &pair->arena, "new", after->data, after->len);
	loader_init(&loader, source, &load_limits_default, &pair->arena);
	while (loader_next(&loader, doc))
		if (doc->number == pair->doc.number)
			return doc->root;
	return false;
}

static void check_again(struct pair *pair, struct counts *counts,
			const struct buf *after)
{
	struct splice_list splices = {0};
	struct edit_list list;
	struct source source;
	struct doc doc;

	if (pair->by_index && pair->removes)
		return;
	if (!read_again(pair, after, &source, &doc))
		return;
	counts->again++;
	copy_done(&pair->list, &list, &pair->arena);
	edits_splice(&list, &doc, &pair->arena, &splices);
	for (size_t i = 0; i < list.ngroups; i++)
		if (list.groups[i].outcome != EDIT_NEEDLESS) {
			fail(pair, counts, "the second time changes something",
			     after);
			return;
		}
	if (splices.n)
		fail(pair, counts, "splices without a change", after);
}

static void write_file(const char *dir, unsigned long number, const char *ext,
		       const struct diff_text *text)
{
	char name[4096];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%lu.%s", dir, number, ext);
	file = fopen(name, "wb");
	if (!file)
		BUG("%s", name);
	fwrite(text->text, 1, text->len, file);
	fclose(file);
}

static void write_diff(const struct pair *pair, const struct buf *after,
		       const char *dir)
{
	struct diff_text old = {pair->source.text, pair->source.len, NULL};
	struct diff_text new = {after->data, after->len, NULL};
	struct buf out;
	char name[64];

	buf_init(&out);
	snprintf(name, sizeof(name), "%lu.old", pair->number);
	diff_unified(name, &old, &new, &out);
	write_file(dir, pair->number, "old", &old);
	write_file(dir, pair->number, "new", &new);
	write_file(dir, pair->number, "diff",
		   &(struct diff_text){out.data, out.len, NULL});
	buf_release(&out);
}

static void check_splices(struct pair *pair, struct counts *counts,
			  const char *dir)
{
	struct splice_list splices = {0};
	struct splice_expect expect = {.number = pair->doc.number};
	struct err err = {0};
	struct buf after;

	edits_splice(&pair->list, &pair->doc, &pair->arena, &splices);
	expect.root = edits_apply(&pair->list, pair->doc.root, &pair->arena);
	for (size_t i = 1; i < splices.n; i++)
		if (splices.items[i].start < splices.items[i - 1].end) {
			fail(pair, counts, "splices overlap", NULL);
			return;
		}
	buf_init(&after);
	splices_apply(pair->source.text, pair->source.len, &splices, &after);
	counts->splices += splices.n;
	counts->groups += pair->list.ngroups;
	for (size_t i = 0; i < pair->list.ngroups; i++) {
		const struct edit_group *group = &pair->list.groups[i];

		counts->outcomes[group->outcome]++;
		if (group->outcome == EDIT_REFUSED)
			count_reason(counts, group->reason);
		counts->refused_plain +=
			group->outcome == EDIT_REFUSED && !pair->writer.anchors;
	}
	if (splices_check(&pair->source, &after, &expect, 1, &err))
		fail(pair, counts, err.text, &after);
	else if (!bytes_stay(pair, &splices, &after))
		fail(pair, counts, "bytes outside of the splices", &after);
	else if (!pair->removes &&
		 count_marks(pair->source.text, pair->source.len) !=
			 count_marks(after.data, after.len))
		fail(pair, counts, "a comment is gone", &after);
	else
		check_again(pair, counts, &after);
	check_patch(pair, counts, false);
	if (dir && pair->number % 50 == 0)
		write_diff(pair, &after, dir);
	buf_release(&after);
}

/* Reads a random document of the file; returns false if the text was not
 * read. */
static bool read_pair(struct pair *pair)
{
	struct loader loader;
	struct doc doc;
	unsigned n = 0;

	source_init(&pair->source, &pair->arena, "old", pair->writer.out.data,
		    pair->writer.out.len);
	loader_init(&loader, &pair->source, &load_limits_default, &pair->arena);
	while (loader_next(&loader, &doc))
		if (doc.root &&
		    (doc.root->type == NODE_MAP ||
		     doc.root->type == NODE_SEQ) &&
		    !below(&pair->writer.random, ++n))
			pair->doc = doc;
	return n;
}

static void run_pair(struct counts *counts, uint64_t seed, unsigned long number,
		     const char *dir)
{
	struct pair pair = {.number = number};

	writer_init(&pair.writer, &pair.arena, seed * 1000003 + number);
	write_random_file(&pair.writer);
	if (!read_pair(&pair)) {
		counts->unread++;
		if (getenv("SHOW_UNREAD"))
			fprintf(stderr, "unread:\n%s\n", pair.writer.out.data);
	} else {
		counts->pairs++;
		random_edits(&pair);
		check_patch(&pair, counts, true);
		check_splices(&pair, counts, dir);
	}
	buf_release(&pair.writer.out);
	arena_release(&pair.arena);
}

int main(int argc, char **argv)
{
	struct counts counts = {0};
	unsigned long count;

	if (argc < 3) {
		fprintf(stderr, "usage: edit_random COUNT SEED [DIR]\n");
		return 2;
	}
	count = strtoul(argv[1], NULL, 10);
	for (unsigned long i = 0; i < count; i++)
		run_pair(&counts, strtoul(argv[2], NULL, 10), i, argv[3]);
	fprintf(stderr,
		"%lu pairs (%lu texts unread), %lu groups: %lu done, %lu "
		"needless, %lu conflicts, %lu refused (%lu without anchors in "
		"the file); %lu splices, %lu done twice\n",
		counts.pairs, counts.unread, counts.groups, counts.outcomes[0],
		counts.outcomes[1], counts.outcomes[2], counts.outcomes[3],
		counts.refused_plain, counts.splices, counts.again);
	for (size_t i = 0; counts.reasons[i].reason; i++)
		fprintf(stderr, "%lu refused: %s\n", counts.reasons[i].n,
			counts.reasons[i].reason);
	fprintf(stderr, "random: %lu passed, %lu failed\n",
		counts.pairs - counts.failed, counts.failed);
	return counts.failed > 0;
}
