/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file as UTF-16 units without blanks and tabs, line ends as LF, closed
 * by 0xFFFF and a window of zeros. A line's hash is that of the window that
 * begins at its first unit: units times falling powers of 37, wrapping at 64
 * bits, rolled from unit to unit. Lines end at CR, LF and CRLF here, other
 * than for kubectl: this is GitHub's count.
 */
#include "line_hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "counter.h"
#include "lint/report/parts/report_common.h"
#include "lint/term/escape.h"

enum { WINDOW = 100, FACTOR = 37 };

struct units {
	uint16_t *items;
	size_t n;
	uint32_t *starts; /* of lines, as indices of items */
	size_t nstarts;
	bool at_start, after_cr;
};

static void add_unit(struct units *units, uint16_t unit)
{
	if (units->at_start)
		units->starts[units->nstarts++] = (uint32_t)units->n;
	units->at_start = unit == '\n';
	units->items[units->n++] = unit;
}

static void add_byte(struct units *units, char c)
{
	bool after_cr = units->after_cr;

	units->after_cr = c == '\r';
	if (c == ' ' || c == '\t' || (after_cr && c == '\n'))
		return;
	add_unit(units, c == '\r' ? '\n' : (uint16_t)c);
}

/* A sequence of more than one byte, or a byte that is not UTF-8. */
static size_t add_sequence(struct units *units, const char *s, size_t n)
{
	size_t len = utf8_length(s, n);
	uint32_t c = len ? utf8_code_point(s, len) : 0xfffd;

	units->after_cr = false;
	if (c >= 0x10000) {
		c -= 0x10000;
		add_unit(units, (uint16_t)(0xd800 + (c >> 10)));
		c = 0xdc00 + (c & 0x3ff);
	}
	add_unit(units, (uint16_t)c);
	return len ? len : 1;
}

static void read_units(struct units *units, const struct source *source)
{
	const char *s = source->text;

	if (source->bom)
		add_unit(units, 0xfeff);
	for (size_t i = 0; i < source->len;) {
		if ((unsigned char)s[i] < 0x80)
			add_byte(units, s[i++]);
		else
			i += add_sequence(units, s + i, source->len - i);
	}
	add_unit(units, 0xffff);
}

static size_t count_line_ends(const struct source *source)
{
	size_t n = 0;

	for (size_t i = 0; i < source->len; i++)
		n += source->text[i] == '\n' || source->text[i] == '\r';
	return n;
}

static void roll(struct line_hashes *hashes, const struct units *units)
{
	struct counter counter = {0};
	uint64_t hash = 0, oldest = 1;

	for (size_t i = 0; i < WINDOW; i++) {
		hash = hash * FACTOR + units->items[i];
		oldest *= FACTOR;
	}
	for (size_t i = 0; hashes->n < units->nstarts; i++) {
		if (units->starts[hashes->n] == i) {
			hashes->items[hashes->n].hash = hash;
			hashes->items[hashes->n++].count =
				counter_next(&counter, hash);
		}
		hash = hash * FACTOR + units->items[i + WINDOW] -
		       oldest * units->items[i];
	}
	counter_release(&counter);
}

void line_hashes_make(struct line_hashes *hashes, const struct source *source)
{
	struct units units = {.at_start = true};
	size_t lines = count_line_ends(source) + 1;

	/* A unit a byte at most, the mark, the end, and the zeros. */
	units.items = array_zalloc(source->len + 2 + WINDOW + 1,
				   sizeof(*units.items));
	units.starts = array_zalloc(lines, sizeof(*units.starts));
	hashes->items = array_zalloc(lines, sizeof(*hashes->items));
	hashes->n = 0;
	read_units(&units, source);
	roll(hashes, &units);
	free(units.items);
	free(units.starts);
}

void line_hashes_release(struct line_hashes *hashes)
{
	free(hashes->items);
	memset(hashes, 0, sizeof(*hashes));
}
