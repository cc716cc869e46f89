/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the report formats share. Text is collected in a buffer for
 * each finding or file and written at once, because calling stdio for each word
 * would take longer than everything else.
 */
#include "report_common.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/replace.h"

enum { SPOOL_MEMORY = 1 << 18 };

/* Ends the program, because a report with missing findings would be
 * misleading. */
static _Noreturn void die(const char *why)
{
	fprintf(stderr, "gpugate: %s\n", why);
	replace_abandon();
	exit(2);
}

void report_flush(FILE *out, struct buf *buf)
{
	if (buf->len)
		fwrite(buf->data, 1, buf->len, out);
	buf_reset(buf);
}

const char *place_path(const struct report_file *file,
		       const struct place *place)
{
	const char *path;

	if (place->file == file->index)
		return file->path;
	if (place->file == UINT32_MAX || !file->path_of)
		return "";
	path = file->path_of(file->context, place->file);
	return path ? path : "";
}

const char *path_relative(const char *path)
{
	while (path[0] == '.' && path[1] == '/') {
		path += 2;
		while (*path == '/')
			path++;
	}
	return path;
}

struct source *file_source(const struct report_file *file)
{
	return file->source ? file->source(file->context, file->index) : NULL;
}

struct source *file_shown(const struct report_file *file)
{
	return file->masked ? file->masked : file_source(file);
}

void finding_object(const struct finding *finding, struct buf *out)
{
	const struct object_id *id = &finding->id;

	if (*id->kind)
		buf_adds(out, id->kind);
	if (*id->kind && *id->name)
		buf_addc(out, ' ');
	if (*id->namespace && *id->name) {
		buf_adds(out, id->namespace);
		buf_addc(out, '/');
	}
	buf_adds(out, id->name);
}

static void add_step(struct buf *out, size_t start, const char *step)
{
	if (!*step)
		return;
	if (out->len > start)
		buf_adds(out, " › ");
	buf_adds(out, step);
}

void finding_subject(const struct finding *finding, struct buf *out)
{
	size_t start = out->len;

	finding_object(finding, out);
	add_step(out, start, finding->pod);
	add_step(out, start, finding->container);
}

bool finding_repeats(const struct finding *findings, size_t i)
{
	const struct finding *a = &findings[i], *b = &findings[i ? i - 1 : 0];

	return a != b && a->rule == b->rule && a->severity == b->severity &&
	       a->place.line == b->place.line &&
	       a->place.column == b->place.column &&
	       a->suppressed == b->suppressed &&
	       !strcmp(a->message, b->message);
}

void add_message(struct buf *out, const char *text,
		 void (*add)(struct buf *out, const char *s, size_t len))
{
	size_t ticks = 0;
	bool code = false;

	for (const char *at = strchr(text, '`'); at; at = strchr(at + 1, '`'))
		ticks++;
	for (;;) {
		size_t len = ticks % 2 ? strlen(text) : strcspn(text, "`");

		add(out, text, len);
		if (!text[len])
			return;
		code = !code;
		buf_adds(out, code ? "<code>" : "</code>");
		text += len + 1;
	}
}

const char *suppressed_via_name(enum suppressed_via via)
{
	static const char *const names[] = {
		[SUPPRESSED_NOT] = "",
		[SUPPRESSED_COMMENT] = "comment",
		[SUPPRESSED_ANNOTATION] = "annotation",
		[SUPPRESSED_POLICY] = "policy",
		[SUPPRESSED_BASELINE] = "baseline",
	};

	return names[via];
}

void add_count(struct buf *out, uint64_t n, const char *one, const char *many)
{
	buf_addf(out, "%" PRIu64 " %s", n, n == 1 ? one : many);
}

/* There are a few hundred rules at most, so a scan is as fast as a hash
 * table. */
size_t tally_add(struct tally *tally, const struct rule *rule,
		 enum severity severity)
{
	size_t i = 0;

	while (i < tally->n && (tally->items[i].rule != rule ||
				tally->items[i].severity != severity))
		i++;
	if (i == tally->n)
		*ARRAY_PUSH(tally->items, tally->n, tally->size) =
			(struct tally_rule){rule, severity, 0};
	tally->items[i].count++;
	return i;
}

void tally_finding(struct tally *tally, const struct finding *finding)
{
	size_t i = tally_add(tally, finding->rule, finding->severity);

	tally->items[i].count += finding->more;
}

static int compare_tally(const void *left, const void *right)
{
	const struct tally_rule *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->rule == b->rule)
		return (int)b->severity - (int)a->severity;
	return strcmp(a->rule->name, b->rule->name);
}

void tally_sort(struct tally *tally)
{
	if (tally->n)
		qsort(tally->items, tally->n, sizeof(*tally->items),
		      compare_tally);
}

void tally_release(struct tally *tally)
{
	free(tally->items);
	memset(tally, 0, sizeof(*tally));
}

void spool_add(struct spool *spool, struct buf *text)
{
	buf_add(&spool->buf, text->data, text->len);
	buf_reset(text);
	if (spool->buf.len < SPOOL_MEMORY)
		return;
	if (!spool->file)
		spool->file = tmpfile();
	/* If no temporary file can be created, the text stays in memory. */
	if (spool->file)
		report_flush(spool->file, &spool->buf);
}

void spool_finish(struct spool *spool, FILE *out)
{
	char block[1 << 14];
	size_t n;

	if (spool->file) {
		if (fflush(spool->file) || ferror(spool->file))
			die("cannot write a temporary file");
		rewind(spool->file);
		while ((n = fread(block, 1, sizeof(block), spool->file)) > 0)
			fwrite(block, 1, n, out);
		if (ferror(spool->file))
			die("cannot read a temporary file");
		fclose(spool->file);
		spool->file = NULL;
	}
	report_flush(out, &spool->buf);
	buf_release(&spool->buf);
}

bool finding_fails(const struct finding *finding, const char *fail_on)
{
	enum severity least;

	return !finding->suppressed &&
	       severity_parse(fail_on ? fail_on : "error", &least) &&
	       finding->severity >= least;
}
