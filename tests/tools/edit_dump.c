/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit_dump FILE EDITS: prints the file's text after edits (see edit_json.h)
 * of its first document, and on stderr the outcome of each group.
 * edit_dump --suite FILE: runs the cases of json-patch-tests; prints a line
 * for each that fails or is disabled, and a count.
 * edit_dump --corpus FILE...: applies usual fixes to every container in the
 * files and checks each by reading the file again; prints counts.
 * Exit status: 0 good, 1 a check failed, 2 a file cannot be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/text.h"
#include "doc/load.h"
#include "doc/splice.h"
#include "edit_json.h"
#include "json_patch.h"

static int read_file(const char *name, struct buf *out)
{
	FILE *file = fopen(name, "rb");
	char chunk[65536];
	size_t n;

	buf_init(out);
	if (!file) {
		perror(name);
		return -1;
	}
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_add(out, chunk, n);
	fclose(file);
	return 0;
}

/* --- one file ------------------------------------------------------------ */

static int dump_edits(const char *name, const char *edits_name)
{
	struct arena arena = ARENA_INIT;
	struct splice_list splices = {0};
	struct buf text, edits, out;
	struct edit_list list;
	struct source source;
	struct loader loader;
	struct err err = {0};
	struct doc doc;

	if (read_file(name, &text) || read_file(edits_name, &edits))
		return 2;
	source_init(&source, &arena, name, text.data, text.len);
	loader_init(&loader, &source, &load_limits_default, &arena);
	if (!loader_next(&loader, &doc) || !doc.root)
		return 2;
	placeholder_mark(&doc);
	edit_list_init(&list, &arena);
	edits_from_json(&list, json_text(&arena, edits.data, edits.len));
	edits_splice(&list, &doc, &arena, &splices);
	buf_init(&out);
	splices_apply(source.text, source.len, &splices, &out);
	fwrite(out.data, 1, out.len, stdout);
	for (size_t i = 0; i < list.ngroups; i++)
		fprintf(stderr, "%zu %s %s\n", i,
			outcome_names[list.groups[i].outcome],
			list.groups[i].reason ? list.groups[i].reason : "");
	struct splice_expect expect = {
		.number = doc.number,
		.root = edits_apply(&list, doc.root, &arena),
	};
	if (splices_check(&source, &out, &expect, 1, &err))
		fprintf(stderr, "WRONG: %s\n", err.text);
	buf_release(&out);
	buf_release(&edits);
	buf_release(&text);
	arena_release(&arena);
	return err.set;
}

/* --- json-patch-tests ---------------------------------------------------- */

static bool case_good(struct arena *arena, const struct node *test)
{
	const struct node *expected = node_get(test, "expected");
	const struct node *document = node_get(test, "doc");
	struct err err = {0};
	const struct node *result =
		patch_apply(arena, document, node_get(test, "patch"), &err);

	if (node_get(test, "error"))
		return !result && err.set;
	if (!result || err.set)
		return false;
	return !expected || node_same(result, expected);
}

static int run_suite(const char *name)
{
	struct arena arena = ARENA_INIT;
	unsigned passed = 0, failed = 0, disabled = 0;
	struct buf text;
	const struct node *cases;

	if (read_file(name, &text))
		return 2;
	cases = json_text(&arena, text.data, text.len);
	FOR_EACH_CHILD(cases, test) {
		const char *comment = node_str(node_get(test, "comment"));
		bool good = case_good(&arena, test);

		if (!comment)
			comment = "";
		if (node_is_true(node_get(test, "disabled"))) {
			disabled++;
			printf("disabled %u %s: would %s\n", test->index,
			       comment, good ? "pass" : "fail");
		} else if (good) {
			passed++;
		} else {
			failed++;
			printf("FAIL %u %s\n", test->index, comment);
		}
	}
	printf("%u passed, %u failed, %u disabled\n", passed, failed, disabled);
	buf_release(&text);
	arena_release(&arena);
	return failed > 0;
}

/* --- corpus -------------------------------------------------------------- */

struct refusals {
	const char *reason;
	unsigned n;
};

struct corpus {
	unsigned files, documents, groups, done, needless, conflicts, failed;
	struct refusals refusals[64];
	size_t nrefusals;
};

static void count_refusal(struct corpus *corpus, const char *reason)
{
	for (size_t i = 0; i < corpus->nrefusals; i++) {
		if (text_eq(corpus->refusals[i].reason, reason)) {
			corpus->refusals[i].n++;
			return;
		}
	}
	corpus->refusals[corpus->nrefusals++] =
		(struct refusals){.reason = reason, .n = 1};
}

static struct node *mount(struct arena *arena)
{
	struct node *map = edit_map(arena);

	edit_member_string(arena, map, "name", "dshm");
	return edit_member_string(arena, map, "mountPath", "/dev/shm");
}

static struct node *volume(struct arena *arena)
{
	struct node *map = edit_map(arena), *dir = edit_map(arena);

	edit_member_string(arena, dir, "medium", "Memory");
	edit_member_string(arena, dir, "sizeLimit", "16Gi");
	edit_member_string(arena, map, "name", "dshm");
	return edit_member(arena, map, "emptyDir", dir);
}

static struct node *toleration(struct arena *arena)
{
	struct node *map = edit_map(arena);

	edit_member_string(arena, map, "key", "nvidia.com/gpu");
	edit_member_string(arena, map, "operator", "Exists");
	return edit_member_string(arena, map, "effect", "NoSchedule");
}

static void repair_container(struct edit_list *list, const struct node *pod,
			     const struct node *container)
{
	struct arena *arena = list->arena;
	const struct node *env = node_get(container, "env");
	struct edit_path path;

	edit_group(list);
	edit_path_to(&path, arena, container);
	edit_path_key(&path, "volumeMounts");
	edit_ensure(list, &path, mount(arena), "mountPath");
	edit_path_to(&path, arena, pod);
	edit_path_key(&path, "volumes");
	edit_ensure(list, &path, volume(arena), "name");
	edit_group(list);
	edit_path_to(&path, arena, container);
	edit_path_key(&path, "resources");
	edit_path_key(&path, "limits");
	edit_path_key(&path, "nvidia.com/gpu");
	edit_set(list, &path, edit_int(arena, 7));
	edit_group(list);
	edit_path_to(&path, arena, pod);
	edit_path_key(&path, "tolerations");
	edit_ensure(list, &path, toleration(arena), "key,operator,effect");
	edit_group(list);
	edit_path_to(&path, arena, pod);
	edit_path_key(&path, "restartPolicy");
	edit_set(list, &path, edit_string(arena, "OnFailure"));
	if (!node_count(env))
		return;
	edit_group(list);
	edit_path_to(&path, arena, node_at(env, node_count(env) / 2));
	edit_remove(list, &path);
}

static void repair_all(struct edit_list *list, const struct node *node)
{
	const struct node *containers = node_get(node, "containers");

	if (node_is_map(node) && node_is_seq(containers))
		FOR_EACH_CHILD(containers, container)
			if (node_is_map(container))
				repair_container(list, node, container);
	FOR_EACH_CHILD(node, child)
		repair_all(list, child);
}

static void count_groups(struct corpus *corpus, const struct edit_list *list)
{
	for (size_t i = 0; i < list->ngroups; i++) {
		const struct edit_group *group = &list->groups[i];

		corpus->groups++;
		corpus->done += group->outcome == EDIT_DONE;
		corpus->needless += group->outcome == EDIT_NEEDLESS;
		corpus->conflicts += group->outcome == EDIT_CONFLICT;
		if (group->outcome == EDIT_REFUSED)
			count_refusal(corpus, group->reason);
	}
}

static bool patch_agrees(struct edit_list *list, const struct doc *doc,
			 const struct node *wanted, struct arena *arena)
{
	const struct node *patch = edits_patch(list, doc->root, arena);
	const struct node *got = patch_apply(arena, doc->root, patch, NULL);

	return got && node_same(got, wanted);
}

static bool repair_document(struct corpus *corpus, const struct doc *doc,
			    struct arena *arena, struct splice_list *splices,
			    struct splice_expect *expect)
{
	struct edit_list list;

	edit_list_init(&list, arena);
	repair_all(&list, doc->root);
	if (!list.ngroups)
		return true;
	corpus->documents++;
	edits_splice(&list, doc, arena, splices);
	count_groups(corpus, &list);
	expect->root = edits_apply(&list, doc->root, arena);
	return patch_agrees(&list, doc, expect->root, arena);
}

enum {
	DOCUMENTS_MAX = 1000,
};

static bool repair_file(struct corpus *corpus, struct arena *arena,
			const char *name, const struct buf *text)
{
	struct splice_expect expect[DOCUMENTS_MAX];
	struct splice_list splices = {0};
	struct source source;
	struct loader loader;
	struct err err = {0};
	struct buf out;
	struct doc doc;
	size_t n = 0;
	bool good = true;

	source_init(&source, arena, name, text->data, text->len);
	loader_init(&loader, &source, &load_limits_default, arena);
	while (loader_next(&loader, &doc) && n < DOCUMENTS_MAX) {
		if (!doc.root)
			continue;
		placeholder_mark(&doc);
		expect[n] = (struct splice_expect){doc.number, doc.root};
		good &= repair_document(corpus, &doc, arena, &splices,
					&expect[n++]);
	}
	buf_init(&out);
	splices_apply(source.text, source.len, &splices, &out);
	if (splices_check(&source, &out, expect, n, &err) || !good) {
		printf("FAIL %s: %s\n", name, err.text);
		good = false;
	}
	buf_release(&out);
	return good;
}

static int run_corpus(char **names)
{
	struct arena arena = ARENA_INIT;
	struct corpus corpus = {0};
	struct buf text;

	for (; *names; names++) {
		if (read_file(*names, &text))
			return 2;
		corpus.files++;
		corpus.failed += !repair_file(&corpus, &arena, *names, &text);
		buf_release(&text);
		arena_reset(&arena);
	}
	printf("%u files, %u documents with containers, %u repairs: %u done, "
	       "%u needless, %u in conflict\n",
	       corpus.files, corpus.documents, corpus.groups, corpus.done,
	       corpus.needless, corpus.conflicts);
	for (size_t i = 0; i < corpus.nrefusals; i++)
		printf("%u refused: %s\n", corpus.refusals[i].n,
		       corpus.refusals[i].reason);
	printf("corpus: %u passed, %u failed\n", corpus.files - corpus.failed,
	       corpus.failed);
	arena_release(&arena);
	return corpus.failed > 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--suite"))
		return run_suite(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "--corpus"))
		return run_corpus(argv + 2);
	if (argc == 3)
		return dump_edits(argv[1], argv[2]);
	fprintf(stderr, "usage: edit_dump FILE EDITS | --suite FILE | "
			"--corpus FILE...\n");
	return 2;
}
