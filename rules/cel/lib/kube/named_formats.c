/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.dns1123Label() and the like (apiserver pkg/cel/library/format.go).
 * What they say is apimachinery's (pkg/util/validation, pkg/api/validate/
 * content), word for word: expressions pass it on to users.
 */
#include "rules/cel/lib/lib_internal.h"

#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "rules/cel/lib/network/url.h"

/* What was found; NULL items: the text is good. */
struct problems {
	struct arena *arena;
	struct cel_value *items;
	size_t n, size;
};

struct named_format {
	const char *name;
	void (*check)(struct problems *problems, struct cel_text text);
	bool prefix;	     /* the text is the start of a name */
	unsigned regex_size; /* for the cost */
};

static const char LABEL_EXAMPLE[] = "'my-name',  or '123-abc'";
static const char KEY_EXAMPLE[] = "'MyName',  or 'my.name',  or '123-abc'";
static const char KEY_RULE[] =
	"must consist of alphanumeric characters, '-', '_' or '.', and must "
	"start and end with an alphanumeric character";
static const char KEY_REGEX[] = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

static void say(struct problems *problems, const char *text)
{
	*VEC_PUSH(problems->arena, problems->items, problems->n,
		  problems->size) = cel_string(text);
}

static void say_rule(struct problems *problems, const char *rule,
		     const char *examples, const char *regex)
{
	say(problems,
	    arena_printf(problems->arena,
			 "%s (e.g. %s, regex used for validation is '%s')",
			 rule, examples, regex));
}

static void check_length(struct problems *problems, const char *prefix,
			 struct cel_text text, size_t most)
{
	if (text.len > most)
		say(problems, arena_printf(problems->arena,
					   "%smust be no more than %zu bytes",
					   prefix, most));
}

static bool is_in(char c, const char *others, bool upper)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       (upper && c >= 'A' && c <= 'Z') || (c && strchr(others, c));
}

/* Alphanumeric at both ends, others between. */
static bool is_word(struct cel_text text, const char *others, bool upper)
{
	bool good = text.len && is_in(text.data[0], "", upper) &&
		    is_in(text.data[text.len - 1], "", upper);

	for (size_t i = 0; i < text.len; i++)
		good = good && is_in(text.data[i], others, upper);
	return good;
}

static bool is_subdomain(struct cel_text text)
{
	for (;;) {
		size_t dot = cel_text_find(text, '.');

		if (!is_word(cel_part(text, 0, dot), "-", false))
			return false;
		if (dot == text.len)
			return true;
		text = cel_part(text, dot + 1, text.len);
	}
}

static void check_label(struct problems *problems, struct cel_text text)
{
	check_length(problems, "", text, 63);
	if (is_word(text, "-", false))
		return;
	if (is_subdomain(text))
		say(problems, "must not contain dots");
	else
		say_rule(problems,
			 "a lowercase RFC 1123 label must consist of lower "
			 "case alphanumeric characters or '-', and must start "
			 "and end with an alphanumeric character",
			 LABEL_EXAMPLE, "[a-z0-9]([-a-z0-9]*[a-z0-9])?");
}

static void check_subdomain(struct problems *problems, struct cel_text text)
{
	check_length(problems, "", text, 253);
	if (!is_subdomain(text))
		say_rule(problems,
			 "a lowercase RFC 1123 subdomain must consist of lower "
			 "case alphanumeric characters, '-' or '.', and must "
			 "start and end with an alphanumeric character",
			 "'example.com'",
			 "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*"
			 "[a-z0-9])?)*");
}

static void check_dns1035(struct problems *problems, struct cel_text text)
{
	check_length(problems, "", text, 63);
	if (!is_word(text, "-", false) || text.data[0] <= '9')
		say_rule(problems,
			 "a DNS-1035 label must consist of lower case "
			 "alphanumeric characters or '-', start with an "
			 "alphabetic character, and end with an alphanumeric "
			 "character",
			 "'my-name',  or 'abc-123'",
			 "[a-z]([-a-z0-9]*[a-z0-9])?");
}

static void check_prefix(struct problems *problems, struct cel_text prefix)
{
	struct problems found = {.arena = problems->arena};

	if (!prefix.len)
		say(problems, "prefix part must be non-empty");
	else
		check_subdomain(&found, prefix);
	for (size_t i = 0; i < found.n; i++)
		say(problems, arena_printf(problems->arena, "prefix part %s",
					   found.items[i].text.data));
}

static void check_qualified(struct problems *problems, struct cel_text text)
{
	size_t slash = cel_text_find(text, '/');
	struct cel_text name = text;

	if (slash < text.len) {
		name = cel_part(text, slash + 1, text.len);
		if (cel_text_find(name, '/') < name.len) {
			say(problems,
			    arena_printf(problems->arena,
					 "a valid label key %s (e.g. %s, regex "
					 "used for validation is '%s') with an "
					 "optional DNS subdomain prefix and "
					 "'/' (e.g. 'example.com/MyName')",
					 KEY_RULE, KEY_EXAMPLE, KEY_REGEX));
			return;
		}
		check_prefix(problems, cel_part(text, 0, slash));
	}
	if (!name.len)
		say(problems, "name part must be non-empty");
	check_length(problems, "name part ", name, 63);
	if (!is_word(name, "-_.", true))
		say_rule(
			problems,
			arena_printf(problems->arena, "name part %s", KEY_RULE),
			KEY_EXAMPLE, KEY_REGEX);
}

static void check_label_value(struct problems *problems, struct cel_text text)
{
	check_length(problems, "", text, 63);
	if (text.len && !is_word(text, "-_.", true))
		say_rule(problems,
			 arena_printf(problems->arena,
				      "a valid label must be an empty string "
				      "or %s",
				      KEY_RULE + strlen("must ")),
			 "'MyValue',  or 'my_value',  or '12345'",
			 "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?");
}

static void check_uri(struct problems *problems, struct cel_text text)
{
	const char *problem = url_problem(problems->arena, text);

	if (problem)
		say(problems, problem);
}

/* Does text match a form: `0` a digit, `x` a hexadecimal one, else itself?
 * Where it ends, or NONE. */
static const size_t NONE = (size_t)-1;

static size_t match(struct cel_text text, size_t at, const char *form)
{
	for (; *form; form++, at++) {
		char c = at < text.len ? text.data[at] : '\0';
		bool digit = c >= '0' && c <= '9';

		if (*form == '0' ? !digit
		    : *form == 'x'
			    ? !digit && ((c | 0x20) < 'a' || (c | 0x20) > 'f')
			    : c != *form)
			return NONE;
	}
	return at;
}

static void check_uuid(struct problems *problems, struct cel_text text)
{
	static const char *const forms[] = {"xxxxxxxx", "xxxx", "xxxx", "xxxx",
					    "xxxxxxxxxxxx"};
	size_t at = 0;

	for (int i = 0; i < 5 && at != NONE; i++)
		at = match(text, at + (i && cel_text_at(text, at, "-")),
			   forms[i]);
	if (at != text.len)
		say(problems, "does not match the UUID format");
}

static void check_byte(struct problems *problems, struct cel_text text)
{
	size_t padding = 0;
	bool good;

	while (padding < 2 && padding < text.len &&
	       text.data[text.len - 1 - padding] == '=')
		padding++;
	good = text.len && text.len % 4 == 0;
	for (size_t i = 0; good && i < text.len - padding; i++)
		good = is_in(text.data[i], "+/", true);
	if (!good)
		say(problems, "invalid base64");
}

static void check_date(struct problems *problems, struct cel_text text)
{
	int64_t days;

	if (text.len != 10 || !cel_date_parse(text, &days))
		say(problems, "invalid date");
}

/* `00:00:00.5z` up to a `t`; any character may be the dot. */
static bool is_time(struct cel_text text)
{
	size_t at = match(text, 0, "00:00:00"), digits;

	if (at == NONE || memcmp(text.data, "23", 2) > 0 ||
	    text.data[3] > '5' || text.data[6] > '5')
		return false;
	if (at < text.len && text.data[at] != '\n' &&
	    match(text, at + utf8_length(text.data + at, text.len - at), "0") !=
		    NONE) {
		digits = at + utf8_length(text.data + at, text.len - at);
		while (match(text, digits, "0") != NONE)
			digits++;
		if (match(text, digits, ":") == NONE)
			at = digits;
	}
	if (cel_text_at(text, at, "z") || cel_text_at(text, at, "Z"))
		return at + 1 == text.len;
	return (cel_text_at(text, at, "+") || cel_text_at(text, at, "-")) &&
	       match(text, at + 1, "00:00") == text.len;
}

static void check_datetime(struct problems *problems, struct cel_text text)
{
	struct cel_text time =
		cel_part(text, text.len < 11 ? text.len : 11, text.len);
	int64_t days;
	size_t end = 0;

	while (end < time.len && (time.data[end] | 0x20) != 't')
		end++;
	time.len = end;
	if (text.len < 11 || (text.data[10] | 0x20) != 't' ||
	    !cel_date_parse(text, &days) || !is_time(time))
		say(problems, "invalid datetime");
}

static const struct named_format formats[] = {
	{"dns1123Label", check_label, false, 30},
	{"dns1123Subdomain", check_subdomain, false, 60},
	{"dns1035Label", check_dns1035, false, 30},
	{"qualifiedName", check_qualified, false, 60},
	{"dns1123LabelPrefix", check_label, true, 30},
	{"dns1123SubdomainPrefix", check_subdomain, true, 60},
	{"dns1035LabelPrefix", check_dns1035, true, 30},
	{"labelValue", check_label_value, false, 40},
	{"uri", check_uri, false, 1103},
	{"uuid", check_uuid, false, 70},
	{"byte", check_byte, false, 84},
	{"date", check_date, false, 71},
	{"datetime", check_datetime, false, 71},
};

static bool equal(const void *a, const void *b)
{
	return a == b;
}

static const struct cel_opaque_type format_type = {
	{.kind = CEL_OPAQUE, .name = "kubernetes.NamedFormat"}, equal};

static const struct named_format *find(struct cel_text name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (cel_text_eq(name, formats[i].name))
			return &formats[i];
	}
	return NULL;
}

static struct cel_value named(struct cel_call *call)
{
	const struct named_format *format = find(call->args[0].text);

	if (!format)
		return cel_optional_none();
	return cel_optional(call->arena, cel_opaque(&format_type, format));
}

/* format.uuid(): by the name of the function. */
static struct cel_value constant(struct cel_call *call)
{
	const char *name = call->overload->name + strlen("format.");

	return cel_opaque(&format_type,
			  find((struct cel_text){name, strlen(name)}));
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

	return cel_cost_share(1 + cel_cost_size(call->args[1]), 0.1) *
	       cel_cost_share(format->regex_size, 0.25);
}

#define F "kubernetes.NamedFormat"
#define CONSTANT(name)                                                         \
	{                                                                      \
		"format." name, "() " F, constant, NULL                        \
	}

static const struct cel_overload overloads[] = {
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

const struct cel_library cel_named_formats_library = {"named formats",
						      overloads};
