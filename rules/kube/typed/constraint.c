/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks values against the constraints of data/native_constraints.tsv, by
 * which the API server rejects them. field_type.c reports values of the wrong
 * type; placeholders are skipped.
 */
#include "native.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

enum { LABEL_MAX = 63, PORT_NAME_MAX = 15 };

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

/* -- numbers and words ----------------------------------------------------- */

static void check_range(struct constraint_check *check,
			const struct node *value,
			const struct native_constraint *constraint)
{
	int64_t least, most, n;
	const char *bounds;

	constraint_bounds(constraint->argument, &least, &most);
	if (!node_int(value, &n) || (n >= least && n <= most) ||
	    (constraint->zero && !n))
		return;
	bounds =
		most >= INT32_MAX && n < least
			? arena_printf(check->arena, "at least %" PRId64, least)
		: least == INT64_MIN
			? arena_printf(check->arena, "at most %" PRId64, most)
			: arena_printf(check->arena,
				       "between %" PRId64 " and %" PRId64,
				       least, most);
	check->found(check, value,
		     arena_printf(check->arena, "%s must be %s, not %" PRId64,
				  constraint_label(check, constraint), bounds,
				  n));
}

/* True for an IANA service name (RFC 6335). */
static bool is_port_name(const char *s, size_t len)
{
	return len && len <= PORT_NAME_MAX &&
	       strspn(s, LOWER DIGITS "-") == len && strpbrk(s, LOWER) &&
	       *s != '-' && s[len - 1] != '-' && !strstr(s, "--");
}

static bool is_env_name(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] < ' ' || s[i] > '~' || s[i] == '=')
			return false;
	return true;
}

static bool has_dots(const char *path)
{
	for (; path; path = strchr(path, '/')) {
		path += *path == '/';
		if (!strncmp(path, "..", 2) && (!path[2] || path[2] == '/'))
			return true;
	}
	return false;
}

static bool is_field_path(const char *s)
{
	static const char *const paths[] = {"metadata.name",
					    "metadata.namespace",
					    "metadata.uid",
					    "metadata.labels",
					    "metadata.annotations",
					    "spec.nodeName",
					    "spec.host",
					    "spec.restartPolicy",
					    "spec.schedulerName",
					    "spec.serviceAccountName",
					    "status.phase",
					    "status.hostIP",
					    "status.hostIPs",
					    "status.podIP",
					    "status.podIPs"};

	if (text_starts(s, "metadata.labels[") ||
	    text_starts(s, "metadata.annotations["))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (!strcmp(s, paths[i]))
			return true;
	return false;
}

static bool is_container_resource(const char *s)
{
	static const char *const names[] = {"cpu", "memory",
					    "ephemeral-storage"};
	const char *name = strchr(s, '.');

	if (!text_starts(s, "limits.") && !text_starts(s, "requests."))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name + 1, names[i]))
			return true;
	return text_starts(name + 1, "hugepages-");
}

static bool is_label_text(const char *s, size_t len)
{
	if (len > LABEL_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) &&
		    (!strchr("-_.", s[i]) || !i || i == len - 1))
			return false;
	return true;
}

/* True for a label key: a name, or a DNS subdomain, a slash and a name. */
static bool is_label_key(const char *s, size_t len)
{
	const char *slash = memchr(s, '/', len);
	size_t prefix = slash ? (size_t)(slash - s) + 1 : 0;

	if (slash && !text_is_subdomain(s, prefix - 1))
		return false;
	return len > prefix && is_label_text(s + prefix, len - prefix);
}

/* True for an IP address, also with leading zeros, which the API server's
 * parser accepts. */
static bool is_ip(const char *s)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET6, s, address) == 1 ||
	       (!s[strspn(s, DIGITS ".")] && strchr(s, '.'));
}

static bool is_valid(const struct native_constraint *constraint, const char *s,
		     size_t len)
{
	switch (constraint->kind) {
	case CONSTRAINT_LABEL:
		return text_is_label(s, len);
	case CONSTRAINT_SUBDOMAIN:
		return text_is_subdomain(s, len);
	case CONSTRAINT_PORT:
	case CONSTRAINT_PORTNAME:
		return is_port_name(s, len);
	case CONSTRAINT_ENVNAME:
		return is_env_name(s, len);
	case CONSTRAINT_INSIDE:
		return *s != '/' && !has_dots(s);
	case CONSTRAINT_NODOTS:
		return !has_dots(s);
	case CONSTRAINT_LABELKEY:
		return is_label_key(s, len);
	case CONSTRAINT_LABELVALUE:
		return is_label_text(s, len);
	case CONSTRAINT_IP:
		return is_ip(s);
	case CONSTRAINT_TRIMMED:
		return !isspace((unsigned char)*s) &&
		       !isspace((unsigned char)s[len - 1]);
	case CONSTRAINT_WORDS:
		return text_lists(constraint->argument, s);
	case CONSTRAINT_FIELDPATH:
		return is_field_path(s);
	case CONSTRAINT_RESOURCE:
		return is_container_resource(s);
	default:
		return true;
	}
}

/* Returns "exec, httpGet" for "exec,httpGet". */
static const char *with_blanks(struct arena *arena, const char *list)
{
	char *out = arena_alloc(arena, 2 * strlen(list) + 1), *to = out;

	for (; *list; list++) {
		*to++ = *list;
		if (*list == ',')
			*to++ = ' ';
	}
	*to = '\0';
	return out;
}

static const char *description(struct arena *arena,
			       const struct native_constraint *constraint)
{
	switch (constraint->kind) {
	case CONSTRAINT_LABEL:
		return "at most 63 lowercase letters, digits and `-`, with a "
		       "letter or digit at both ends";
	case CONSTRAINT_SUBDOMAIN:
		return "lowercase letters, digits, `-` and `.`";
	case CONSTRAINT_PORT:
		return "a port from 1 to 65535, or the name of one";
	case CONSTRAINT_PORTNAME:
		return "at most 15 lowercase letters, digits and `-`";
	case CONSTRAINT_ENVNAME:
		return "printable ASCII without `=`";
	case CONSTRAINT_INSIDE:
		return "a relative path without `..`";
	case CONSTRAINT_NODOTS:
		return "a path without `..`";
	case CONSTRAINT_LABELKEY:
		return "a label key";
	case CONSTRAINT_LABELVALUE:
		return "at most 63 letters, digits, `-`, `_` and `.`, with a "
		       "letter or digit at both ends";
	case CONSTRAINT_IP:
		return "an IP address";
	case CONSTRAINT_TRIMMED:
		return "without blanks at its ends";
	case CONSTRAINT_WORDS:
		return arena_printf(arena, "one of %s",
				    with_blanks(arena, constraint->argument));
	case CONSTRAINT_RESOURCE:
		return "`limits.` or `requests.` with cpu, memory, "
		       "ephemeral-storage or huge pages";
	default:
		return "a field that a container can read, such as "
		       "`metadata.name` or `status.podIP`";
	}
}

bool constraint_is_filled_in(const char *s)
{
	size_t len;

	if (strstr(s, "$("))
		return true;
	for (; (s = strpbrk(s, UPPER)); s += len) {
		len = strspn(s, UPPER DIGITS "_");
		if (len >= 3 && memchr(s, '_', len))
			return true;
	}
	return false;
}

/* True for a text that may be replaced, in a field in which such texts are
 * invalid. */
static bool is_filled_in(const struct native_constraint *constraint,
			 const char *s)
{
	return (constraint->kind == CONSTRAINT_LABEL ||
		constraint->kind == CONSTRAINT_SUBDOMAIN ||
		constraint->kind == CONSTRAINT_IP ||
		constraint->kind == CONSTRAINT_PORT ||
		constraint->kind == CONSTRAINT_PORTNAME) &&
	       constraint_is_filled_in(s);
}

static void check_text(struct constraint_check *check, const struct node *value,
		       const struct native_constraint *constraint)
{
	int64_t n;

	if (constraint->kind == CONSTRAINT_PORT && value->type == NODE_INT &&
	    node_int(value, &n) && (n < 1 || n > UINT16_MAX))
		;
	else if (value->type != NODE_STRING ||
		 (!value->len && !text_eq(constraint->argument, "set")) ||
		 is_valid(constraint, value->str, value->len) ||
		 is_filled_in(constraint, value->str))
		return;
	check->found(check, value,
		     arena_printf(check->arena, "`%s` must be %s, not %s",
				  constraint->field,
				  description(check->arena, constraint),
				  value->len ? arena_printf(check->arena,
							    "`%s`", value->str)
					     : "empty"));
}

static void check_labels(struct constraint_check *check, const struct node *map)
{
	const char *text = NULL;

	if (!node_is_map(map))
		return;
	FOR_EACH_CHILD(map, label) {
		if (!label->key_len || strpbrk(label->key, "${}<>") ||
		    node_is_unknown(label))
			continue;
		if (!is_label_key(label->key, label->key_len))
			text = arena_printf(check->arena,
					    "`%s` is not a valid label key",
					    label->key);
		else if (label->type == NODE_STRING &&
			 !is_label_text(label->str, label->len))
			text = arena_printf(
				check->arena,
				"`%s` is not a valid label value: use at most "
				"63 letters, digits, `-`, `_` and `.`, with a "
				"letter or digit at both ends",
				label->str);
		else
			continue;
		check->found(check, label, text);
	}
}

/* -- lists and unions ------------------------------------------------------ */

/* True if both items have the same text in a field, or both have none. */
static bool have_same(const struct node *a, const struct node *b,
		      const char *field, size_t len)
{
	const struct node *of_a = node_getn(a, field, len);
	const struct node *of_b = node_getn(b, field, len);

	if (node_is_unset(of_a) || node_is_unset(of_b))
		return node_is_unset(of_a) && node_is_unset(of_b);
	return of_a->type == of_b->type && !node_is_unknown(of_b) &&
	       text_eq(of_a->str, of_b->str);
}

/* True if an earlier item of the list has the same fields ("name,request"). */
static bool is_repeated(const struct node *list, const struct node *item,
			const char *fields)
{
	for (const struct node *other = node_first(list); other != item;
	     other = other->next) {
		const char *field = fields;
		bool same = true;

		while (same && *field) {
			size_t len = strcspn(field, ",");

			same = have_same(other, item, field, len);
			field += len + (field[len] == ',');
		}
		if (same)
			return true;
	}
	return false;
}

static void check_unique(struct constraint_check *check,
			 const struct node *list,
			 const struct native_constraint *constraint)
{
	const char *fields = constraint->argument;
	size_t len = strcspn(fields, ",");

	if (!node_is_seq(list))
		return;
	FOR_EACH_CHILD(list, item) {
		const struct node *value = node_getn(item, fields, len);

		if (!value || value->type != NODE_STRING || !value->len ||
		    node_is_unknown(value) || !is_repeated(list, item, fields))
			continue;
		check->found(check, value,
			     arena_printf(check->arena,
					  "two `%s` have the `%.*s` `%s`",
					  constraint->field, (int)len, fields,
					  value->str));
	}
}

/* True if the map has a field that its type lacks. field-unknown reports it,
 * and it is probably the missing member: misspelled, or of another release. */
static bool has_unknown_field(const struct node *map,
			      const struct native_type *type)
{
	FOR_EACH_CHILD(map, child)
		if (child->key_len &&
		    !native_find(type, child->key, child->key_len))
			return true;
	return false;
}

/* Reports two members that are both set, the first ones in alphabetical order,
 * so that the order in the file does not matter; with CONSTRAINT_ONE, also a
 * map that sets none. */
static void check_union(struct constraint_check *check, const struct node *map,
			const struct native_constraint *constraint,
			const struct native_type *type)
{
	const struct node *first = NULL, *second = NULL;

	if (!node_is_map(map) || node_is_unknown(map))
		return;
	/* Most volumes and variables have a name, which does not count, and one
	 * other field. */
	if (constraint->kind == CONSTRAINT_MOST && node_count(map) <= 2 &&
	    node_get(map, "name"))
		return;
	FOR_EACH_CHILD(map, child) {
		if (node_is_unknown(child))
			return;
		if (node_is_unset(child) || node_eq(child, "") ||
		    (node_is_seq(child) && !node_first(child)) ||
		    !text_lists(constraint->argument, child->key))
			continue;
		if (!first || strcmp(child->key, first->key) < 0) {
			second = first;
			first = child;
		} else if (!second || strcmp(child->key, second->key) < 0) {
			second = child;
		}
	}
	if (second)
		check->found(check, second,
			     arena_printf(check->arena,
					  "`%s` and `%s` exclude each other in "
					  "`%s`",
					  first->key, second->key,
					  constraint->field));
	else if (!first && constraint->kind == CONSTRAINT_ONE &&
		 !check->partial &&
		 !(check->reports_unknown && has_unknown_field(map, type)))
		check->found(check, map,
			     arena_printf(check->arena,
					  strchr(constraint->argument, ',')
						  ? "`%s` needs one of %s"
						  : "`%s` needs `%s`",
					  constraint->field,
					  with_blanks(check->arena,
						      constraint->argument)));
}

/* Checks a map against "field=word,other": if the field is the word, the other
 * field must be set (CONSTRAINT_WITH), or must not be. */
static void check_pair(struct constraint_check *check, const struct node *map,
		       const struct native_constraint *constraint)
{
	const char *field = constraint->argument;
	const char *word = strchr(field, '=') + 1;
	const char *other = strchr(word, ',') + 1;
	const struct node *at =
		node_getn(map, field, (size_t)(word - field) - 1);
	const struct node *value = node_get(map, other);
	size_t len = (size_t)(other - word) - 1;
	bool with = constraint->kind == CONSTRAINT_WITH;

	if (!node_str(at) || at->len != len || memcmp(at->str, word, len) ||
	    node_is_unknown(value) || node_is_unset(value) != with ||
	    (with && check->partial))
		return;
	check->found(check, with ? at : value,
		     arena_printf(check->arena,
				  with ? "the `%.*s` `%s` requires `%s`"
				       : "the `%.*s` `%s` excludes `%s`",
				  (int)(word - field) - 1, field, at->str,
				  other));
}

/* Checks a map, or the maps of a list, in a field of the type. */
static void check_unions(struct constraint_check *check,
			 const struct node *value,
			 const struct native_constraint *constraint,
			 const struct native_type *type)
{
	const struct native_field *field =
		native_find(type, constraint->field, constraint->len);
	const struct native_type *of_maps =
		field && field->form == 'T' ? native_types + field->type : NULL;

	if (!node_is_seq(value))
		check_union(check, value, constraint, of_maps);
	else
		FOR_EACH_CHILD(value, item)
			check_union(check, item, constraint, of_maps);
}

/* type has the field of the value. */
static void check_value(struct constraint_check *check,
			const struct node *value,
			const struct native_constraint *constraint,
			const struct native_type *type)
{
	if (node_is_unset(value) || node_is_unknown(value))
		return;
	switch (constraint->kind) {
	case CONSTRAINT_RANGE:
		check_range(check, value, constraint);
		return;
	case CONSTRAINT_LABELS:
		check_labels(check, value);
		return;
	case CONSTRAINT_UNIQUE:
		check_unique(check, value, constraint);
		return;
	case CONSTRAINT_WITH:
	case CONSTRAINT_NOT:
		if (node_is_seq(value))
			FOR_EACH_CHILD(value, item)
				check_pair(check, item, constraint);
		else
			check_pair(check, value, constraint);
		return;
	case CONSTRAINT_ONE:
	case CONSTRAINT_MOST:
		check_unions(check, value, constraint, type);
		return;
	case CONSTRAINT_LENGTH:
	case CONSTRAINT_ITEMS:
	case CONSTRAINT_KEYS:
	case CONSTRAINT_PATTERN:
	case CONSTRAINT_FORMAT:
		constraint_check_schema(check, value, constraint);
		return;
	default:
		check_text(check, value, constraint);
	}
}

/* Checks an item of a list or map against the rows that are about the items of
 * the same field. */
static void check_item(struct constraint_check *check, const struct node *item,
		       const struct native_constraint *row, unsigned n,
		       const struct native_type *type)
{
	for (; n--; row++) {
		check->constraint = row;
		check_value(check, item, row, type);
	}
}

/* Returns the number of rows from this one on that are about the items of the
 * same field. */
static unsigned count_rows_of_items(const struct native_constraint *row,
				    unsigned left)
{
	unsigned n = 1;

	while (n < left && row[n].items && !strcmp(row[n].field, row->field))
		n++;
	return n;
}

void constraint_check_map(struct constraint_check *check,
			  const struct node *map,
			  const struct native_type *type)
{
	const struct native_constraint *row =
		native_constraints + type->constraint;

	for (unsigned left = type->nconstraints, n; left; left -= n, row += n) {
		const struct node *node = NULL;

		n = row->items ? count_rows_of_items(row, left) : 1;
		if (map->tags & node_tag_bit(row->tag))
			node = node_get_tagged(map, row->field, row->len,
					       row->tag);
		check->constraint = row;
		if (!row->items && !node_is_unset(node))
			check_value(check, node, row, type);
		else if (row->items && (node_is_seq(node) || node_is_map(node)))
			FOR_EACH_CHILD(node, item)
				check_item(check, item, row, n, type);
	}
}
