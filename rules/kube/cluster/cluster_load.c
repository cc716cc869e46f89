/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a snapshot file, which is one JSON object. Items are read and packed
 * one at a time, so that only one tree is in memory. An error outside of the
 * items, or an item that appears twice, rejects the file. An invalid object is
 * left out and reported.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/text.h"
#include "cluster_internal.h"
#include "doc/load.h"

enum { VERSION = 1 };

struct load {
	struct source source;
	struct loader loader;
	struct load_limits limits;
	struct arena arena; /* memory of one value */
	struct arena lines;
	struct cluster_builder *builder;
	struct err *err;
	uint32_t at;
	/* members that were found and are valid */
	bool api_version, kind, version;
	int64_t taken_at;
	char *server, *policy, *admission;
	void (*warn)(void *context, const char *text);
	void *context;
};

static int fail(struct load *load, uint32_t at, const char *text)
{
	struct position p = source_position(&load->source, at);

	return err_set_at(load->err, p.line, p.column, "%s", text);
}

static void reject_text(void *context, const struct load_issue *issue)
{
	struct load *load = context;

	if (issue->kind == LOAD_SYNTAX)
		fail(load, issue->start, issue->text);
}

/* --- JSON, value by value ------------------------------------------------- */

static int peek(struct load *load)
{
	const struct source *s = &load->source;

	while (load->at < s->len && strchr(" \t\r\n", s->text[load->at]))
		load->at++;
	return load->at < s->len ? (unsigned char)s->text[load->at] : -1;
}

static int expect(struct load *load, int c, const char *what)
{
	if (peek(load) != c)
		return fail(load, load->at, what);
	load->at++;
	return 0;
}

/* Returns the next value; NULL after an error. It lives until the arena is
 * reset. */
static const struct node *read_value(struct load *load)
{
	const struct node *node;
	uint32_t start;

	if (peek(load) < 0) {
		fail(load, load->at, "the file ends too early");
		return NULL;
	}
	start = load->at;
	node = json_read(&load->loader, start, (uint32_t)load->source.len,
			 &load->at);
	if (!node)
		fail(load, start, "not a JSON value");
	return node;
}

/* Calls item() for each item of the list that starts at the current position.
 * Returns 0, or -1 after an error. */
static int each_item(struct load *load,
		     int (*item)(struct load *load, const struct node *node))
{
	if (expect(load, '[', "expected a list"))
		return -1;
	if (peek(load) == ']') {
		load->at++;
		return 0;
	}
	for (;;) {
		const struct node *node = read_value(load);

		if (!node || item(load, node))
			return -1;
		arena_reset(&load->arena);
		if (peek(load) == ']')
			break;
		if (expect(load, ',', "expected ',' or ']'"))
			return -1;
	}
	load->at++;
	return 0;
}

/* --- contents of the file ------------------------------------------------- */

static bool is_there(struct load *load, const struct object_id *id)
{
	const struct cluster *state = &load->builder->state;
	enum cluster_kind kind = cluster_kind_of(id->api_version, id->kind);

	if (kind == CLUSTER_NODE)
		return table_find(&load->builder->node_names,
				  text_keyed_hash(id->name, strlen(id->name)));
	return cluster_object(state, id, &load->arena) != NULL;
}

static int add_item(struct load *load, const struct node *node)
{
	struct cluster_item item = {NULL, NULL, node};
	struct object_id id = cluster_id(&item);
	struct err err = {0};
	struct position p = source_position(&load->source, node->start);

	if (*id.name && is_there(load, &id))
		return err_set_at(load->err, p.line, p.column,
				  "%s `%s%s%s` appears twice in the file",
				  id.kind, id.namespace,
				  *id.namespace ? "/" : "", id.name);
	if (cluster_builder_add(load->builder, &item, &err) < 0 && load->warn)
		load->warn(load->context,
			   arena_printf(&load->arena, "%u:%u: left out: %s",
					p.line, p.column, err.text));
	return 0;
}

static int add_usage(struct load *load, const struct node *node)
{
	struct err err = {0};
	struct position p = source_position(&load->source, node->start);

	if (cluster_builder_usage(load->builder, node, &err) < 0 && load->warn)
		load->warn(load->context,
			   arena_printf(&load->arena, "%u:%u: left out: %s",
					p.line, p.column, err.text));
	return 0;
}

static int add_unreadable(struct load *load, const struct node *node)
{
	const char *kind = node_str(node_get(node, "kind"));
	const char *version = node_str(node_get(node, "apiVersion"));
	const char *reason = node_str(node_get(node, "reason"));
	enum cluster_kind which = CLUSTER_OTHER;

	for (int i = 0; kind && !version && i < CLUSTER_KINDS; i++)
		if (!strcmp(cluster_resource(i)->kind, kind))
			which = i;
	if (kind && version)
		which = cluster_kind_of(version, kind);
	if (which != CLUSTER_OTHER)
		cluster_builder_unreadable(load->builder, which,
					   reason ? reason : "not readable");
	return 0;
}

static int read_api_version(struct load *load, const struct node *value)
{
	load->api_version = node_eq(value, "gpugate.dev/v1");
	return load->api_version ? 0
				 : fail(load, value->start,
					"apiVersion is not gpugate.dev/v1");
}

static int read_kind(struct load *load, const struct node *value)
{
	load->kind = node_eq(value, "ClusterSnapshot");
	return load->kind
		       ? 0
		       : fail(load, value->start,
			      "kind is not ClusterSnapshot: this is not a file "
			      "of `gpugate snapshot`");
}

static int read_version(struct load *load, const struct node *value)
{
	int64_t version;

	if (!node_int(value, &version) || version < 1)
		return fail(load, value->start, "version is not a number");
	load->version = true;
	if (version > VERSION)
		return fail(load, value->start,
			    "the file was written by a newer gpugate: "
			    "version is above 1");
	return 0;
}

static int read_taken_at(struct load *load, const struct node *value)
{
	struct tm tm = {0};
	const char *text = node_str(value);
	const char *end =
		text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	if (end && *end == '.')
		end += 1 + strspn(end + 1, "0123456789");
	if (!end || strcmp(end, "Z") != 0)
		return fail(
			load, value->start,
			"takenAt is not a time such as 2026-01-31T08:00:00Z");
	load->taken_at = (int64_t)timegm(&tm);
	return 0;
}

static char *dup_text(const struct node *value)
{
	const char *text = node_str(value);

	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		OUT_OF_MEMORY();
	return copy;
}

static void replace_text(char **at, char *text)
{
	free(*at);
	*at = text;
}

static int read_server(struct load *load, const struct node *value)
{
	replace_text(&load->server, dup_text(value));
	return 0;
}

static int read_policy(struct load *load, const struct node *value)
{
	replace_text(&load->policy, dup_text(value));
	return 0;
}

/* Stores the admission policies as text, for callers that evaluate them. */
static int read_admission(struct load *load, const struct node *value)
{
	char *text = strndup(load->source.text + value->start,
			     value->end - value->start);

	if (!text)
		OUT_OF_MEMORY();
	replace_text(&load->admission, text);
	return 0;
}

static const struct snapshot_field {
	const char *name;
	int (*read)(struct load *load, const struct node *node);
	bool list;
} fields[] = {
	{"apiVersion", read_api_version, false},
	{"kind", read_kind, false},
	{"version", read_version, false},
	{"takenAt", read_taken_at, false},
	{"server", read_server, false},
	{"policy", read_policy, false},
	{"admission", read_admission, false},
	{"unreadable", add_unreadable, true},
	{"items", add_item, true},
	{"usage", add_usage, true},
};

static int read_field(struct load *load)
{
	const struct node *key = read_value(load);
	const struct snapshot_field *field = NULL;
	const struct node *value;

	if (!key)
		return -1;
	if (!node_str(key))
		return fail(load, key->start, "expected a key");
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (node_eq(key, fields[i].name))
			field = &fields[i];
	if (expect(load, ':', "expected ':' after a key"))
		return -1;
	arena_reset(&load->arena);
	if (field && field->list)
		return each_item(load, field->read);
	value = read_value(load);
	if (!value || (field && field->read(load, value)))
		return -1;
	arena_reset(&load->arena);
	return 0;
}

static int read_file(struct load *load)
{
	bool first = true;

	if (expect(load, '{', "expected a JSON object"))
		return -1;
	while (peek(load) != '}' || !first) {
		if (read_field(load))
			return -1;
		first = false;
		if (peek(load) == '}')
			break;
		if (expect(load, ',',
			   peek(load) < 0 ? "the file ends too early"
					  : "expected ',' or '}'"))
			return -1;
	}
	load->at++;
	if (peek(load) >= 0)
		return fail(load, load->at, "text follows the object");
	if (!load->api_version || !load->kind || !load->version)
		return fail(load, 0,
			    "not a file of `gpugate snapshot`: apiVersion, "
			    "kind and version are missing");
	return 0;
}

static void load_init(struct load *load, const struct cluster_text *text)
{
	load->limits = load_limits_default;
	load->limits.bytes = text->len;
	load->limits.nodes = 4000000;
	source_init(&load->source, &load->lines, text->name, text->text,
		    text->len);
	loader_init(&load->loader, &load->source, &load->limits, &load->arena);
	load->loader.issue = reject_text;
	load->loader.context = load;
	load->builder = cluster_builder_new();
}

static void load_end(void *context)
{
	struct load *load = context;

	cluster_builder_free(load->builder);
	arena_release(&load->arena);
	arena_release(&load->lines);
	free(load->server);
	free(load->policy);
	free(load->admission);
}

struct cluster *cluster_parse(const struct cluster_text *text,
			      void (*warn)(void *context, const char *text),
			      void *context, struct err *err)
{
	struct err own = {0};
	struct load load = {
		.err = err ? err : &own, .warn = warn, .context = context};
	struct cluster *cluster = NULL;
	struct escape_guard guard;

	if (text->len > INT32_MAX) {
		err_set(err, EFBIG, "larger than 2 GiB");
		return NULL;
	}
	escape_guard(&guard, load_end, &load);
	load_init(&load, text);
	if (!read_file(&load)) {
		cluster_builder_origin(load.builder, load.server, load.policy);
		cluster_builder_admission(load.builder, load.admission);
		cluster = cluster_builder_finish(load.builder, load.taken_at);
	}
	escape_unguard(&guard);
	load_end(&load);
	return cluster;
}

/* --- files ---------------------------------------------------------------- */

/* The file is read, not mapped, because truncating a mapped file would end the
 * process. */
struct cluster *cluster_load(const char *path, bool may_pipe,
			     void (*warn)(void *context, const char *text),
			     void *context, struct err *err)
{
	const struct file_how how = {.limit = FILE_CLUSTER_MAX,
				     .may_pipe = may_pipe};
	struct cluster *cluster = NULL;
	struct cluster_text text = {.name = path};
	struct escape_guard guard;
	struct buf all;

	buf_init(&all);
	escape_guard(&guard, buf_drop, &all);
	if (!file_load(path, &how, &all, err)) {
		text.text = all.data;
		text.len = all.len;
		cluster = cluster_parse(&text, warn, context, err);
	}
	escape_unguard(&guard);
	buf_release(&all);
	if (!cluster)
		err_wrap(err, "cluster snapshot %s", path);
	return cluster;
}
