/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baselines in memory: entries sorted by fingerprint, each with a flag that is
 * set once a finding matches it. Flags are atomic, everything else is immutable
 * after loading. The file format is
 *
 * {"version":2,"findings":[
 * {"fingerprint":"0123456789abcdef","rule":...,"file":...,...}, ... ]}
 *
 * which is valid JSON and has one line per entry. Version 1, whose fingerprints
 * of missing values used a present parent, is still read, and written as
 * version 2.
 */
#include "engine/suppress.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/file.h"
#include "base/json_stream.h"
#include "base/text.h"
#include "doc/node.h"

enum { BASELINE_VERSION = 2 };

struct baseline_item {
	struct baseline_entry entry;
	atomic_bool seen;
};

struct baseline {
	struct arena arena;
	struct baseline_item *items;
	size_t n, size;
	struct file_stamp stamp; /* state of the loaded file */
	/* while entries are added, they are not sorted by fingerprint */
	bool unsorted;
	bool former; /* the file has version 1 */
};

struct baseline *baseline_new(void)
{
	return array_zalloc(1, sizeof(struct baseline));
}

void baseline_free(struct baseline *baseline)
{
	if (!baseline)
		return;
	arena_release(&baseline->arena);
	free(baseline);
}

size_t baseline_count(const struct baseline *baseline)
{
	return baseline->n;
}

static int by_fingerprint(const void *a, const void *b)
{
	uint64_t x = ((const struct baseline_item *)a)->entry.fingerprint;
	uint64_t y = ((const struct baseline_item *)b)->entry.fingerprint;

	return (x > y) - (x < y);
}

static void sort(struct baseline *baseline)
{
	if (baseline->unsorted)
		qsort(baseline->items, baseline->n, sizeof(*baseline->items),
		      by_fingerprint);
	baseline->unsorted = false;
}

static void add_entry(struct baseline *baseline,
		      const struct baseline_entry *entry)
{
	struct baseline_item *item = VEC_PUSH(&baseline->arena, baseline->items,
					      baseline->n, baseline->size);

	item->entry = *entry;
	atomic_init(&item->seen, false);
	baseline->unsorted = true;
}

/* --- reading -------------------------------------------------------------- */

static const char *text_of(struct arena *arena, const json_t *object,
			   const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return arena_strdup(arena, text ? text : "");
}

static bool parse_fingerprint(const char *text, uint64_t *out)
{
	char *end;

	if (!text || strlen(text) != 16 ||
	    strspn(text, "0123456789abcdef") != 16)
		return false;
	*out = strtoull(text, &end, 16);
	return !*end;
}

static int read_entry(struct baseline *baseline, const json_t *json, size_t i,
		      struct err *err)
{
	struct arena *arena = &baseline->arena;
	struct baseline_entry entry;
	const json_t *fingerprint = json_object_get(json, "fingerprint");

	if (!parse_fingerprint(json_string_value(fingerprint),
			       &entry.fingerprint))
		return err_set(
			err, 0,
			"finding %zu has no fingerprint of 16 hexadecimal "
			"digits",
			i + 1);
	entry.rule = text_of(arena, json, "rule");
	entry.file = text_of(arena, json, "file");
	entry.object = text_of(arena, json, "object");
	entry.message = text_of(arena, json, "message");
	add_entry(baseline, &entry);
	return 0;
}

static int read_json(struct baseline *baseline, const json_t *root,
		     struct err *err)
{
	const json_t *version = json_object_get(root, "version");
	const json_t *findings = json_object_get(root, "findings");

	if (!json_is_integer(version) || !json_is_array(findings))
		return err_set(err, 0, "this is not a gpugate baseline");
	baseline->former = json_integer_value(version) == 1;
	if (json_integer_value(version) != BASELINE_VERSION &&
	    !baseline->former)
		return err_set(
			err, 0,
			"baseline of version %lld, expected %d: rewrite it "
			"with --write-baseline",
			(long long)json_integer_value(version),
			BASELINE_VERSION);
	for (size_t i = 0; i < json_array_size(findings); i++)
		if (read_entry(baseline, json_array_get(findings, i), i, err))
			return -1;
	return 0;
}

static json_t *parse(const struct buf *text, struct err *err)
{
	json_error_t error;
	json_t *root = json_loadb(text->data, text->len, JSON_REJECT_DUPLICATES,
				  &error);

	if (!root)
		err_set_at(err, error.line > 0 ? (unsigned)error.line : 1,
			   error.column > 0 ? (unsigned)error.column : 1, "%s",
			   error.text);
	return root;
}

struct baseline *baseline_load(const char *path, struct err *err)
{
	struct baseline *baseline = baseline_new();
	/* The user names the file, which may be a pipe: `<(git show
	 * main:baseline.json)`. */
	struct file_how how = {.limit = FILE_BASELINE_MAX,
			       .may_pipe = true,
			       .stamp = &baseline->stamp};
	json_t *root = NULL;
	struct buf text;

	buf_init(&text);
	if (!file_load(path, &how, &text, err))
		root = parse(&text, err);
	buf_release(&text);
	if (!root || read_json(baseline, root, err)) {
		err_wrap(err, "%s", path);
		baseline_free(baseline);
		baseline = NULL;
	} else {
		sort(baseline);
	}
	json_decref(root);
	return baseline;
}

const struct file_stamp *baseline_stamp(const struct baseline *baseline)
{
	return &baseline->stamp;
}

/* --- look-ups ------------------------------------------------------------- */

static bool has_fingerprint(struct baseline *baseline, uint64_t fingerprint)
{
	const struct baseline_item key = {.entry.fingerprint = fingerprint};
	size_t i = array_first(baseline->items, baseline->n, sizeof(key), &key,
			       by_fingerprint);
	bool found = false;

	for (; i < baseline->n &&
	       baseline->items[i].entry.fingerprint == fingerprint;
	     i++) {
		atomic_store_explicit(&baseline->items[i].seen, true,
				      memory_order_relaxed);
		found = true;
	}
	return found;
}

bool baseline_has(struct baseline *baseline, const struct finding *finding)
{
	return has_fingerprint(baseline, finding->fingerprint) ||
	       (baseline->former && finding->former_path &&
		has_fingerprint(baseline, finding_former_fingerprint(finding)));
}

static bool is_stale(const struct baseline_item *item,
		     const struct baseline_files *files)
{
	if (atomic_load_explicit(&item->seen, memory_order_relaxed))
		return false;
	return !files || !files->looked_for ||
	       files->looked_for(files->context, &item->entry);
}

size_t baseline_stale(const struct baseline *baseline,
		      const struct baseline_files *files,
		      void (*each)(void *context,
				   const struct baseline_entry *entry),
		      void *context)
{
	size_t n = 0;

	for (size_t i = 0; i < baseline->n; i++) {
		if (!is_stale(&baseline->items[i], files))
			continue;
		n++;
		if (each)
			each(context, &baseline->items[i].entry);
	}
	return n;
}

size_t baseline_prune(struct baseline *baseline,
		      const struct baseline_files *files)
{
	size_t kept = 0, before = baseline->n;

	for (size_t i = 0; i < before; i++) {
		struct baseline_item *from = &baseline->items[i];

		if (is_stale(from, files))
			continue;
		baseline->items[kept].entry = from->entry;
		atomic_init(&baseline->items[kept].seen,
			    atomic_load(&from->seen));
		kept++;
	}
	baseline->n = kept;
	return before - kept;
}

void baseline_add(struct baseline *baseline, const char *file,
		  const struct finding *finding)
{
	struct arena *arena = &baseline->arena;
	const struct object_id *id = &finding->id;
	bool slash = id->namespace && *id->namespace;
	struct baseline_entry entry = {
		.fingerprint = finding->fingerprint,
		.rule = finding->rule->name,
		.file = arena_strdup(arena, file),
		.message = arena_strdup(arena, finding->message),
	};

	entry.object = "";
	if (id->kind && *id->kind)
		entry.object = arena_printf(arena, "%s %s%s%s", id->kind,
					    slash ? id->namespace : "",
					    slash ? "/" : "",
					    id->name ? id->name : "");
	add_entry(baseline, &entry);
}

/* --- writing -------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	const struct baseline_entry *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (!order)
		order = strcmp(x->rule, y->rule);
	if (!order)
		order = strcmp(x->object, y->object);
	if (!order)
		order = (x->fingerprint > y->fingerprint) -
			(x->fingerprint < y->fingerprint);
	return order ? order : strcmp(x->message, y->message);
}

static bool is_utf8(const char *text)
{
	size_t len = strlen(text), n = 1;

	for (size_t i = 0; i < len && n; i += n)
		n = utf8_length(text + i, len - i);
	return n;
}

/* Writes a text unless it is not UTF-8: a path may contain any bytes, but JSON
 * may not. */
static void write_text(const char *key, const char *text, struct buf *out)
{
	if (!text || !is_utf8(text))
		return;
	stream_text(out, key, text);
}

static void write_entry(const struct baseline_entry *entry, struct buf *out)
{
	stream_open(out, NULL, '{');
	stream_hex(out, "fingerprint", entry->fingerprint);
	write_text("rule", entry->rule, out);
	write_text("file", entry->file, out);
	write_text("object", entry->object, out);
	write_text("message", entry->message, out);
	stream_close(out, '}');
}

/* Copies the entries, keeping the first one of each fingerprint. */
static size_t distinct(struct baseline *baseline, struct baseline_entry *out)
{
	size_t n = 0;

	sort(baseline);
	for (size_t i = 0; i < baseline->n; i++) {
		const struct baseline_entry *entry = &baseline->items[i].entry;

		if (n && out[n - 1].fingerprint == entry->fingerprint) {
			if (by_text(entry, &out[n - 1]) < 0)
				out[n - 1] = *entry;
			continue;
		}
		out[n++] = *entry;
	}
	if (n)
		qsort(out, n, sizeof(*out), by_text);
	return n;
}

void baseline_text(struct baseline *baseline, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct baseline_entry *entries =
		ARENA_ARRAY(&arena, struct baseline_entry, baseline->n + 1);
	size_t n = distinct(baseline, entries);

	stream_open(out, NULL, '{');
	stream_int(out, "version", BASELINE_VERSION);
	stream_open(out, "findings", '[');
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, i ? ",\n" : "\n");
		write_entry(&entries[i], out);
	}
	buf_adds(out, n ? "\n]}\n" : "]}\n");
	arena_release(&arena);
}
