/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes fixes in reports. Edits are in the order of the file and do not
 * overlap, so a program can apply them from the last to the first.
 */
#include "report_common.h"

#include <string.h>

#include "base/json_stream.h"
#include "lint/text/excerpt.h"

enum { LINES_SHOWN = 12 };

struct position fix_position(struct source *source, uint32_t offset)
{
	return source_position(source,
			       offset > source->bom ? offset - source->bom : 0);
}

static void put_edits(struct buf *out, const struct fix_result *repair)
{
	unsigned n = repair->masked ? 0 : repair->nedits;

	stream_open(out, "edits", '[');
	for (unsigned i = 0; i < n; i++) {
		stream_open(out, NULL, '{');
		stream_int(out, "start", repair->edits[i].start);
		stream_int(out, "end", repair->edits[i].end);
		stream_text(out, "text", repair->edits[i].text);
		stream_close(out, '}');
	}
	stream_close(out, ']');
}

/* Omits the edits of a fix whose text is masked, because a program would write
 * the stars into a file. */
void fix_put_json(struct buf *out, const struct fix_result *repair)
{
	const char *patch = repair->masked ? "" : repair->patch;
	const char *refused = repair->masked ? "its text holds a secret value"
					     : repair->refused;

	stream_open(out, "fix", '{');
	stream_bool(out, "safe", repair->safe);
	stream_text(out, "title", repair->title);
	stream_json(out, "patch", *patch ? patch : "[]");
	put_edits(out, repair);
	if (*refused)
		stream_text(out, "refused", refused);
	stream_close(out, '}');
}

static void put_replacement(struct buf *out, struct source *source,
			    const struct fix_edit *edit)
{
	struct position from = fix_position(source, edit->start);
	struct position to = fix_position(source, edit->end);

	stream_open(out, NULL, '{');
	stream_open(out, "deletedRegion", '{');
	stream_int(out, "startLine", from.line);
	stream_int(out, "startColumn", from.column);
	stream_int(out, "endLine", to.line);
	stream_int(out, "endColumn", to.column);
	stream_close(out, '}');
	sarif_put_text(out, "insertedContent", edit->text);
	stream_close(out, '}');
}

void fix_put_sarif(struct buf *out, const char *path, struct source *source,
		   const struct fix_result *repair)
{
	if (!repair || !source || !repair->nedits || repair->masked)
		return;
	stream_open(out, "fixes", '[');
	stream_open(out, NULL, '{');
	sarif_put_text(out, "description", repair->title);
	stream_open(out, "artifactChanges", '[');
	stream_open(out, NULL, '{');
	sarif_put_artifact(out, path);
	stream_open(out, "replacements", '[');
	for (unsigned i = 0; i < repair->nedits; i++)
		put_replacement(out, source, &repair->edits[i]);
	buf_adds(out, "]}]}]");
}

bool fix_cover(struct source *source, const struct fix_result *repair,
	       uint32_t *start, uint32_t *end, struct buf *out)
{
	const char *text = source->text - source->bom;

	if (!repair->nedits)
		return false;
	*start = repair->edits[0].start;
	*end = *start;
	for (unsigned i = 0; i < repair->nedits; i++) {
		const struct fix_edit *edit = &repair->edits[i];

		buf_add(out, text + *end, edit->start - *end);
		buf_adds(out, edit->text);
		*end = edit->end;
	}
	return true;
}

/* Extends the range of replaced bytes to whole lines, so that the diff is
 * readable. */
static void widen(struct source *source, uint32_t *start, uint32_t *end)
{
	const char *text = source->text - source->bom;
	uint32_t len = (uint32_t)source->len + source->bom;

	while (*start > source->bom && text[*start - 1] != '\n')
		(*start)--;
	while (*end < len && (*end == 0 || text[*end - 1] != '\n'))
		(*end)++;
}

static size_t next_line(const char *text, size_t len)
{
	const char *lf = memchr(text, '\n', len);

	return lf ? (size_t)(lf - text) + 1 : len;
}

struct hunk_side {
	char sign;
	const char *text;
	size_t len;
	size_t at; /* offset of the first change, which is always shown */
};

static void add_lines(struct buf *out, const struct hunk_side *side,
		      unsigned indent, unsigned width)
{
	unsigned shown = 0;

	for (size_t i = 0, n; i < side->len; i += n) {
		const char *s = side->text + i;
		struct excerpt_text line = {
			.s = s, .width = width, .margin = indent + 5};

		n = next_line(s, side->len - i);
		line.len = n;
		while (line.len &&
		       (s[line.len - 1] == '\n' || s[line.len - 1] == '\r'))
			line.len--;
		if (side->at >= i && side->at - i < line.len)
			line.at = (uint32_t)(side->at - i);
		if (shown++ >= LINES_SHOWN)
			continue;
		buf_addf(out, "%*s | %c ", (int)indent, "", side->sign);
		excerpt_add_text(&line, out);
	}
	if (shown > LINES_SHOWN)
		buf_addf(out, "%*s | ... %u more lines\n", (int)indent, "",
			 shown - LINES_SHOWN);
}

/* Returns the length of the equal lines at the start of both sides. */
static size_t same_head(const char *a, size_t na, const char *b, size_t nb)
{
	size_t same = 0;

	for (;;) {
		size_t n = next_line(a + same, na - same);
		size_t m = next_line(b + same, nb - same);

		if (!n || n != m || memcmp(a + same, b + same, n) != 0)
			return same;
		same += n;
	}
}

static size_t same_bytes(const struct hunk_side *a, const struct hunk_side *b)
{
	size_t n = 0;

	while (n < a->len && n < b->len && a->text[n] == b->text[n])
		n++;
	return n;
}

/* Removes equal lines from the start and the end of both sides. */
static void trim(struct hunk_side *old, struct hunk_side *new)
{
	size_t head = same_head(old->text, old->len, new->text, new->len);

	old->text += head;
	old->len -= head;
	new->text += head;
	new->len -= head;
	while (old->len && new->len) {
		size_t n = 1;

		while (n < old->len && n < new->len &&
		       old->text[old->len - n - 1] != '\n')
			n++;
		if (memcmp(old->text + old->len - n, new->text + new->len - n,
			   n) != 0 ||
		    (new->len > n &&new->text[new->len - n - 1] != '\n'))
			break;
		old->len -= n;
		new->len -= n;
	}
}

static void add_hunk(struct buf *out, struct source *source,
		     const struct fix_edit *edit, unsigned indent,
		     unsigned width)
{
	const char *text = source->text - source->bom;
	uint32_t start = edit->start, end = edit->end;
	struct hunk_side old = {.sign = '-'}, new = {.sign = '+'};
	struct buf after;

	widen(source, &start, &end);
	buf_init(&after);
	buf_add(&after, text + start, edit->start - start);
	buf_adds(&after, edit->text);
	buf_add(&after, text + edit->end, end - edit->end);
	old.text = text + start;
	old.len = end - start;
	new.text = after.data;
	new.len = after.len;
	trim(&old, &new);
	old.at = new.at = same_bytes(&old, &new);
	add_lines(out, &old, indent, width);
	add_lines(out, &new, indent, width);
	buf_release(&after);
}

void fix_add_lines(struct buf *out, struct source *source,
		   const struct fix_result *repair, unsigned indent,
		   unsigned width)
{
	for (unsigned i = 0; i < repair->nedits; i++)
		add_hunk(out, source, &repair->edits[i], indent, width);
}
