/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of options, and the options as a manual page. getopt_long() would
 * accept abbreviations, and cannot say "did you mean".
 */
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define WORD_SEPARATORS ", \t\n"
enum { INDENT = 26 };

int option_usage(const struct option_parser *p, const char *fmt, ...)
{
	struct buf text;
	va_list ap;
	int rc;

	buf_init(&text);
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	rc = p->set->usage(p, text.data);
	buf_release(&text);
	return rc;
}

static void *place_of(const struct option_parser *p, const struct option *o)
{
	return (char *)p->options + o->at;
}

static bool is_list(const struct option *o)
{
	return o->kind == OPTION_LIST || o->kind == OPTION_WORDS;
}

/* --- values --------------------------------------------------------------- */

/* Parses digits and, for bytes, Ki or Mi. Returns false for another text, and
 * for a number outside of the option's range. */
static bool parse_number(const struct option *o, const char *text, size_t *out)
{
	unsigned long long value;
	unsigned shift = 0;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (o->kind == OPTION_BYTES && !strcmp(end, "Ki"))
		shift = 10;
	else if (o->kind == OPTION_BYTES && !strcmp(end, "Mi"))
		shift = 20;
	else if (*end)
		return false;
	if (errno || value > o->most >> shift || value << shift < o->least)
		return false;
	*out = (size_t)value << shift;
	return true;
}

/* Sets the option from value; what is the option as written, for messages. */
static int set_value(struct option_parser *p, const struct option *o,
		     const char *what, const char *value)
{
	void *at = place_of(p, o);
	size_t number = 0;

	if (o->choices && !word_among(o->choices, value))
		return option_usage(p, "%s: `%s` is none of: %s", what, value,
				    o->choices);
	if ((o->kind == OPTION_NUMBER || o->kind == OPTION_BYTES) &&
	    !parse_number(o, value, &number))
		return option_usage(p,
				    "%s: `%s` is not a number from %zu to %zu",
				    what, value, o->least, o->most);
	if (o->kind == OPTION_NUMBER)
		*(unsigned *)at = (unsigned)number;
	else if (o->kind == OPTION_BYTES)
		*(size_t *)at = number;
	else if (o->kind == OPTION_WORDS)
		list_split(p->arena, at, value, WORD_SEPARATORS);
	else if (o->kind == OPTION_LIST)
		list_add(p->arena, at, value);
	else
		*(const char **)at = value;
	return 0;
}

static void set_flag(struct option_parser *p, const struct option *o)
{
	if (o->kind == OPTION_COUNT)
		(*(unsigned *)place_of(p, o))++;
	else
		*(bool *)place_of(p, o) = true;
}

static int set_defaults(struct option_parser *p)
{
	int rc = 0;

	for (size_t i = 0; i < p->set->n && !rc; i++) {
		const struct option *o = &p->set->items[i];

		if (o->initial && o->commands & p->command)
			rc = set_value(p, o, o->name, o->initial);
	}
	return rc;
}

/* --- the environment ------------------------------------------------------ */

static int set_flag_to(struct option_parser *p, const struct option *o,
		       const char *name, const char *value)
{
	int word = word_flag(value);

	if (o->kind == OPTION_COUNT && !strcmp(value, "2")) {
		set_flag(p, o);
		word = 1;
	}
	if (word < 0)
		return option_usage(p, "%s: `%s` is neither yes nor no", name,
				    value);
	if (word)
		set_flag(p, o);
	return 0;
}

/* True if the value of the option's variable is for this command. A value that
 * only another command's option of this name accepts is ignored:
 * GPUGATE_FORMAT=sarif is for lint and no error for `rules`. */
static bool is_meant(const struct option_parser *p, const struct option *o,
		     const char *value)
{
	if (!o->choices || word_among(o->choices, value))
		return true;
	for (size_t i = 0; i < p->set->n; i++) {
		const struct option *other = &p->set->items[i];

		if (other != o && !strcmp(other->name, o->name) &&
		    !other->choices)
			return false;
	}
	return true;
}

/* Returns the value of the option's variable, or NULL; name is a buffer of 64
 * bytes. */
static const char *variable_of(const struct option_parser *p,
			       const struct option *o, char *name)
{
	const char *value;

	word_variable(p->set->variables, o->name, name);
	value = getenv(name);
	if (!value && o->former) {
		word_variable(p->set->variables, o->former, name);
		value = getenv(name);
	}
	return value && (!o->value || *value) ? value : NULL;
}

static int read_environment(struct option_parser *p)
{
	int rc = 0;

	for (size_t i = 0; p->set->variables && i < p->set->n && !rc; i++) {
		const struct option *o = &p->set->items[i];
		char name[64];
		const char *value;

		if (!(o->commands & p->command) || o->letter == 'h')
			continue;
		value = variable_of(p, o, name);
		if (!value || !is_meant(p, o, value))
			continue;
		if (!o->value)
			rc = set_flag_to(p, o, name, value);
		else if (o->kind == OPTION_LIST)
			list_split(p->arena, place_of(p, o), value,
				   p->set->list_separators);
		else
			rc = set_value(p, o, name, value);
		p->inherited[i] = true;
	}
	return rc;
}

/* --- arguments ------------------------------------------------------------ */

static void drop_inherited(struct option_parser *p, const struct option *o)
{
	size_t i = (size_t)(o - p->set->items);

	if (!p->inherited[i])
		return;
	p->inherited[i] = false;
	if (is_list(o))
		memset(place_of(p, o), 0, sizeof(struct list));
	else if (o->kind == OPTION_COUNT)
		*(unsigned *)place_of(p, o) = 0;
}

static bool is_name(const char *name, const char *text, size_t len)
{
	return name && strlen(name) == len && !memcmp(name, text, len);
}

static const struct option *find_name(const struct option_parser *p,
				      const char *name, size_t len)
{
	for (size_t i = 0; i < p->set->n; i++) {
		const struct option *o = &p->set->items[i];

		if (o->commands & p->command && (is_name(o->name, name, len) ||
						 is_name(o->former, name, len)))
			return o;
	}
	return NULL;
}

static const struct option *find_letter(const struct option_parser *p, char c)
{
	for (size_t i = 0; i < p->set->n; i++)
		if (p->set->items[i].commands & p->command &&
		    p->set->items[i].letter == c)
			return &p->set->items[i];
	return NULL;
}

bool option_is_inherited(const struct option_parser *p, const char *name)
{
	const struct option *o = find_name(p, name, strlen(name));

	return o && p->inherited[o - p->set->items];
}

/* Returns the option or argument that replaces the name of an option, or NULL
 * if there is none or the command does not accept it. */
static const char *hint_for(const struct option_parser *p, const char *name,
			    size_t len)
{
	for (const struct option_hint *h = p->set->hints; h && h->name; h++) {
		const char *instead = h->instead;

		if (!is_name(h->name, name, len))
			continue;
		if (strncmp(instead, "--", 2) != 0)
			return p->arguments ? instead : NULL;
		return find_name(p, instead + 2, strcspn(instead + 2, " ;"))
			       ? instead
			       : NULL;
	}
	return NULL;
}

static int unknown_name(struct option_parser *p, const char *name, size_t len)
{
	const char *names[OPTIONS_MOST], *near = NULL;
	const char *instead = hint_for(p, name, len);
	char word[64] = "";
	size_t n = 0;

	if (instead)
		return option_usage(p, "unknown option `--%.*s`: use %s",
				    (int)len, name, instead);

	for (size_t i = 0; i < p->set->n; i++)
		if (p->set->items[i].commands & p->command)
			names[n++] = p->set->items[i].name;
	if (len < sizeof(word)) {
		memcpy(word, name, len);
		near = text_nearest(word, names, n);
	}
	return option_usage(p, "unknown option `--%.*s`%s%s%s", (int)len, name,
			    near ? "; did you mean `--" : "", near ? near : "",
			    near ? "`?" : "");
}

static int read_long(struct option_parser *p, const char *arg)
{
	const char *equals = strchr(arg, '=');
	const char *value = equals ? equals + 1 : NULL;
	size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
	const struct option *o = find_name(p, arg, len);
	char what[72];
	int rc;

	if (!o)
		return unknown_name(p, arg, len);
	drop_inherited(p, o);
	if (!o->value && value)
		return option_usage(p, "option `--%s` takes no value", o->name);
	if (!o->value) {
		set_flag(p, o);
		return 0;
	}
	if (!value && *p->next)
		value = *p->next++;
	if (!value || (!*value && !p->set->empty_values))
		return option_usage(p, "option `--%s` needs a value: %s",
				    o->name, o->value);
	snprintf(what, sizeof(what), "--%s", o->name);
	rc = set_value(p, o, what, value);
	while (!rc && o->many && !equals && *p->next && **p->next != '-')
		rc = set_value(p, o, what, *p->next++);
	return rc;
}

static int unknown_letter(struct option_parser *p, char letter)
{
	const char *instead = hint_for(p, &letter, 1);

	return option_usage(p, "unknown option `-%c`%s%s", letter,
			    instead ? ": use " : "", instead ? instead : "");
}

/* Reads one argument of letters: -qv, -j4, -j 4. */
static int read_letters(struct option_parser *p, const char *arg)
{
	for (const char *c = arg; *c; c++) {
		const struct option *o = find_letter(p, *c);
		char what[3] = {'-', *c, '\0'};
		const char *value;

		if (!o)
			return unknown_letter(p, *c);
		drop_inherited(p, o);
		if (!o->value) {
			set_flag(p, o);
			continue;
		}
		value = c[1] ? c + 1 + (c[1] == '=') : *p->next;
		if (!c[1] && value)
			p->next++;
		if (!value || !*value)
			return option_usage(p, "option `-%c` needs a value: %s",
					    *c, o->value);
		return set_value(p, o, what, value);
	}
	return 0;
}

static int read_argument(struct option_parser *p, const char *arg, bool plain)
{
	if (!plain && arg[0] == '-' && arg[1] == '-' && arg[2])
		return read_long(p, arg + 2);
	if (!plain && arg[0] == '-' && arg[1] && arg[1] != '-')
		return read_letters(p, arg + 1);
	if (!p->arguments)
		return option_usage(p, "unexpected `%s`: options begin with --",
				    arg);
	list_add(p->arena, p->arguments, arg);
	return 0;
}

/* Reads all arguments. After `--`, none of them is an option. */
static int read_arguments(struct option_parser *p)
{
	bool plain = false;
	int rc = 0;

	while (*p->next && !rc) {
		const char *arg = *p->next++;

		if (!plain && p->arguments && !strcmp(arg, "--"))
			plain = true;
		else
			rc = read_argument(p, arg, plain);
	}
	return rc;
}

int options_read(struct option_parser *p, char **argv)
{
	int rc = set_defaults(p);

	p->next = argv;
	if (!rc)
		rc = read_environment(p);
	return rc ? rc : read_arguments(p);
}

/* --- help ----------------------------------------------------------------- */

static void print_option(const struct option_set *set, const struct option *o,
			 struct buf *out)
{
	size_t start = out->len;
	struct buf text;

	if (o->letter)
		buf_addf(out, "  -%c, ", o->letter);
	else
		buf_adds(out, "      ");
	buf_addf(out, "--%s%s%s", o->name, o->value ? " " : "",
		 o->value ? o->value : "");
	if (out->len - start + 2 > INDENT)
		buf_addf(out, "\n%*s", INDENT, "");
	else
		buf_addf(out, "%*s", (int)(INDENT - (out->len - start)), "");
	buf_init(&text);
	if (set->say)
		set->say(&text, o->help);
	else
		buf_adds(&text, o->help);
	if (o->initial)
		buf_addf(&text, " Default: %s", o->initial);
	words_wrap(out, text.data, INDENT, INDENT);
	buf_release(&text);
}

void options_print(const struct option_set *set, unsigned command,
		   struct buf *out)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->items[i].commands & command)
			print_option(set, &set->items[i], out);
}

/*
 * Writes manual pages as roff: the header, escaped text and the table of
 * options.
 */

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
