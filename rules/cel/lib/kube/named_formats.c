/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.dns1123Label() and the other named formats (apiserver
 * pkg/cel/library/format.go). Their messages equal those of apimachinery
 * (pkg/util/validation, pkg/api/validate/content), because expressions return
 * them to users.
 */
#include "rules/cel/lib/lib_internal.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "rules/cel/lib/network/url.h"

/* Problems of a text. items is NULL if it is valid. */
struct problems {
	struct arena *arena;
	struct cel_value *items;
	size_t n, size;
};

struct named_format {
	const char *name;
	const struct form *form;
	/* Checks the text; used if form is NULL. */
	void (*check)(struct problems *problems, struct cel_text text);
	bool prefix;	     /* the text is the beginning of a name */
	unsigned regex_size; /* size of the pattern, for the cost */
};

#define LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define KEY   "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

static const struct form {
	const char *regex, *rule;
	const char *examples; /* NULL: the message has no examples */
	size_t most;	      /* largest length in bytes (0: unlimited) */
	/* the message says "characters" for the limit, not "bytes" */
	bool characters;
} label = {LABEL,
	   "a lowercase RFC 1123 label must consist of lower case alphanumeric "
	   "characters or '-', and must start and end with an alphanumeric "
	   "character",
	   "'my-name',  or '123-abc'", 63, true},
  subdomain = {LABEL "(\\." LABEL ")*",
	       "a lowercase RFC 1123 subdomain must consist of lower case "
	       "alphanumeric characters, '-' or '.', and must start and end "
	       "with an alphanumeric character",
	       "'example.com'", 253, true},
  dns1035 = {"[a-z]([-a-z0-9]*[a-z0-9])?",
	     "a DNS-1035 label must consist of lower case alphanumeric "
	     "characters or '-', start with an alphabetic character, and end "
	     "with an alphanumeric character",
	     "'my-name',  or 'abc-123'", 63, true},
  key = {KEY,
	 "must consist of alphanumeric characters, '-', '_' or '.', and must "
	 "start and end with an alphanumeric character",
	 "'MyName',  or 'my.name',  or '123-abc'", 63, false},
  label_value = {"(" KEY ")?",
		 "a valid label must be an empty string or consist of "
		 "alphanumeric characters, '-', '_' or '.', and must start and "
		 "end with an alphanumeric character",
		 "'MyValue',  or 'my_value',  or '12345'", 63, false},
  uuid = {"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}",
	  "does not match the UUID format", NULL, 0, false},
  byte = {"(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|"
	  "[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})",
	  "invalid base64", NULL, 0, false};

static void add_problem(struct problems *problems, const char *prefix,
			const char *text)
{
	text = arena_printf(problems->arena, "%s%s", prefix, text);
	*VEC_PUSH(problems->arena, problems->items, problems->n,
		  problems->size) = cel_string(text);
}

static bool matches(struct problems *problems, const char *regex,
		    struct cel_text text)
{
	regex = arena_printf(problems->arena, "^(%s)$", regex);
	return cel_regex_matches(problems->arena, regex, text);
}

static const char *rule_text(struct problems *problems, const struct form *form)
{
	if (!form->examples)
		return form->rule;
	return arena_printf(problems->arena,
			    "%s (e.g. %s, regex used for validation is '%s')",
			    form->rule, form->examples, form->regex);
}

static void check_form(struct problems *problems, const char *prefix,
		       const struct form *form, struct cel_text text)
{
	if (form->most && text.len > form->most)
		add_problem(
			problems, prefix,
			arena_printf(problems->arena,
				     "must be no more than %zu %s", form->most,
				     form->characters && !*prefix ? "characters"
								  : "bytes"));
	if (matches(problems, form->regex, text))
		return;
	if (form == &label && matches(problems, subdomain.regex, text))
		add_problem(problems, prefix, "must not contain dots");
	else
		add_problem(problems, prefix, rule_text(problems, form));
}

static void check_qualified(struct problems *problems, struct cel_text text)
{
	size_t slash = cel_text_find(text, '/');
	struct cel_text prefix = cel_part(text, 0, slash);

	if (slash < text.len) {
		text = cel_part(text, slash + 1, text.len);
		if (cel_text_find(text, '/') < text.len) {
			add_problem(problems, "a valid label key ",
				    arena_printf(
					    problems->arena,
					    "%s with an optional DNS subdomain "
					    "prefix and '/' (e.g. "
					    "'example.com/MyName')",
					    rule_text(problems, &key)));
			return;
		}
		if (!prefix.len)
			add_problem(problems, "prefix part ",
				    "must be non-empty");
		else
			check_form(problems, "prefix part ", &subdomain,
				   prefix);
	}
	if (!text.len)
		add_problem(problems, "name part ", "must be non-empty");
	check_form(problems, "name part ", &key, text);
}

static void check_uri(struct problems *problems, struct cel_text text)
{
	if (!url_is_valid(problems->arena, text))
		add_problem(problems, "",
			    arena_printf(problems->arena, "'%.*s' is not a URL",
					 (int)text.len, text.data));
}

static void check_date(struct problems *problems, struct cel_text text)
{
	int64_t seconds;

	if (text.len != 10 || !cel_date_parse(text, &seconds))
		add_problem(problems, "", "invalid date");
}

/* Checks a date and time. Like apimachinery, it ignores text after a second `t`
 * and accepts any character for the dot. */
static void check_datetime(struct problems *problems, struct cel_text text)
{
	int64_t seconds;

	if (!cel_date_parse(text, &seconds) ||
	    !matches(problems,
		     "(?s-i:.{10})(?i:t)([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d"
		     "(.[0-9]+)?((?i:z)|[+-]\\d\\d:\\d\\d)((?i:t)(?s:.*))?",
		     text))
		add_problem(problems, "", "invalid datetime");
}

static const struct named_format formats[] = {
	{"dns1123Label", &label, NULL, false, 30},
	{"dns1123Subdomain", &subdomain, NULL, false, 60},
	{"dns1035Label", &dns1035, NULL, false, 30},
	{"qualifiedName", NULL, check_qualified, false, 60},
	{"dns1123LabelPrefix", &label, NULL, true, 30},
	{"dns1123SubdomainPrefix", &subdomain, NULL, true, 60},
	{"dns1035LabelPrefix", &dns1035, NULL, true, 30},
	{"labelValue", &label_value, NULL, false, 40},
	{"uri", NULL, check_uri, false, 1103},
	{"uuid", &uuid, NULL, false, 70},
	{"byte", &byte, NULL, false, 84},
	{"date", NULL, check_date, false, 71},
	{"datetime", NULL, check_datetime, false, 71},
};

static bool equal(const void *a, const void *b)
{
	return a == b;
}

static const struct cel_opaque_type format_type = {
	.type = {.kind = CEL_OPAQUE, .name = "kubernetes.NamedFormat"},
	.equal = equal};

static const struct named_format *find_format(struct cel_text name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (cel_text_eq(name, formats[i].name))
			return &formats[i];
	}
	return NULL;
}

static struct cel_value named(struct cel_call *call)
{
	const struct named_format *format = find_format(call->args[0].text);

	if (!format)
		return cel_optional_none();
	return cel_optional(call->arena, cel_opaque(&format_type, format));
}

/* Returns the format that the function names, such as format.uuid(). */
static struct cel_value constant(struct cel_call *call)
{
	const char *name = call->overload->name + strlen("format.");

	return cel_opaque(&format_type,
			  find_format((struct cel_text){name, strlen(name)}));
}

static struct cel_value validate(struct cel_call *call)
{
	const struct named_format *format = call->args[0].opaque.data;
	struct cel_text text = call->args[1].text;
	struct problems problems = {.arena = call->arena};
	struct cel_value list;

	if (format->prefix && text.len > 1 && text.data[text.len - 1] == '-')
		text = cel_string(arena_printf(call->arena, "%.*sa",
					       (int)text.len - 2, text.data))
			       .text;
	if (format->form)
		check_form(&problems, "", format->form, text);
	else
		format->check(&problems, text);
	if (!problems.n)
		return cel_optional_none();
	list = cel_list(call->arena, problems.items, problems.n);
	return cel_optional(call->arena, list);
}

static uint64_t validate_cost(const struct cel_call *call,
			      struct cel_value result)
{
	const struct named_format *format = call->args[0].opaque.data;

	if (!cel_is(call->args[0], CEL_OPAQUE))
		return 1;
	return cel_cost_share(1 + cel_cost_size(call->args[1]), 0.1) *
	       cel_cost_share(format->regex_size, 0.25);
}

#define F "kubernetes.NamedFormat"
#define CONSTANT(name)                                                         \
	{                                                                      \
		"format." name, "() " F, constant, NULL                        \
	}

const struct cel_overload cel_named_formats_library[] = {
	{"format.named", "(string) optional(" F ")", named, NULL},
	{"validate", F ".(string) optional(list(string))", validate,
	 validate_cost},
	CONSTANT("dns1123Label"),
	CONSTANT("dns1123Subdomain"),
	CONSTANT("dns1035Label"),
	CONSTANT("qualifiedName"),
	CONSTANT("dns1123LabelPrefix"),
	CONSTANT("dns1123SubdomainPrefix"),
	CONSTANT("dns1035LabelPrefix"),
	CONSTANT("labelValue"),
	CONSTANT("uri"),
	CONSTANT("uuid"),
	CONSTANT("byte"),
	CONSTANT("date"),
	CONSTANT("datetime"),
	{0},
};
