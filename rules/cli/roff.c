/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes manual pages as roff: the header, escaped text and the table of
 * options.
 */
#include "cli/roff.h"

#include <string.h>

static void add_text(struct buf *out, const char *text)
{
	bool start = !out->len || out->data[out->len - 1] == '\n';

	if (start && (*text == '.' || *text == '\''))
		buf_adds(out, "\\&");
	for (; *text; text++) {
		if (*text == '\\')
			buf_adds(out, "\\e");
		else if (*text == '-')
			buf_adds(out, "\\-");
		else if (*text == '\n')
			buf_adds(out, text[1] == '\n' ? "\n.PP" : "\n");
		else
			buf_addc(out, *text);
	}
}

void roff_line(struct buf *out, const char *text)
{
	add_text(out, text);
	buf_addc(out, '\n');
}

void roff_header(struct buf *out, const struct roff_page *page)
{
	buf_addf(out, ".TH %s %s \"\" \"gpugate %s\" \"gpugate\"\n",
		 page->title, page->section, page->version);
	buf_adds(out, ".SH NAME\n");
	add_text(out, page->name);
	buf_adds(out, " \\- ");
	roff_line(out, page->summary);
}

static void add_option(struct buf *out, const struct option_set *set,
		       const struct option *o)
{
	char name[64];

	buf_adds(out, ".TP\n");
	if (o->letter)
		buf_addf(out, "\\fB\\-%c\\fR, ", o->letter);
	buf_adds(out, "\\fB\\-\\-");
	add_text(out, o->name);
	buf_adds(out, "\\fR");
	if (o->value)
		buf_addf(out, " \\fI%s\\fR", o->value);
	buf_addc(out, '\n');
	add_text(out, o->help);
	if (o->initial) {
		buf_adds(out, " Default: ");
		add_text(out, o->initial);
		buf_addc(out, '.');
	}
	if (set->variables) {
		word_variable(set->variables, o->name, name);
		buf_addf(out, " Environment: %s.", name);
	}
	buf_addc(out, '\n');
}

void roff_options(struct buf *out, const struct option_set *set,
		  unsigned command)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->items[i].commands & command &&
		    strcmp(set->items[i].name, "help") != 0)
			add_option(out, set, &set->items[i]);
}
