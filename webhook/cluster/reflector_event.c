/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes objects to the builder: items of a list, events of a watch (meta/v1
 * WatchEvent: ADDED, MODIFIED, DELETED, BOOKMARK, ERROR). An invalid object is
 * logged and left out; its previous version stays. A line that is not an event
 * ends the watch, because events may be lost too. Failures of feeds are logged
 * if they last, and again from time to time.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "doc/load.h"
#include "reflector.h"

enum { REPEAT_MS = 300000 }; /* time between two lines about the same failure */

/* Logs only once, not for each kind, that the server does not respond. */
static void report_unreached(struct feed *feed, int64_t now)
{
	struct feeds *all = feed->all;
	struct log_field fields[] = {
		{"server", api_server(all->options->api), 0},
		{"reason", feed->err.text, 0},
	};

	if (!all->away_since)
		all->away_since = now;
	if (all->away_logged && now - all->away_logged < REPEAT_MS)
		return;
	all->away_logged = now;
	log_event(all->options->log, LOG_WARN,
		  "cluster state: the API server does not answer", fields, 2);
}

void reflector_report(struct feed *feed, int64_t now)
{
	struct log_field fields[] = {
		{"kind", cluster_resource(feed->kind)->kind, 0},
		{"group", cluster_resource(feed->kind)->group, 0},
		{"reason", feed->err.text, 0},
		{"retry_ms", NULL, feed->due - now},
	};

	if (feed->unreached) {
		/* The first broken connection is not logged. */
		if (feed->failures > 1 || !feed->listed)
			report_unreached(feed, now);
		return;
	}
	if (feed->refusals < FEED_HICCUPS ||
	    (feed->out_since && now - feed->out_since < REPEAT_MS))
		return;
	feed->out_since = now;
	log_event(feed->all->options->log, LOG_WARN,
		  "cluster state: cannot read a kind", fields, 4);
}

void feeds_count_memory(struct feeds *all)
{
	metrics_add(all->options->metrics, METRICS_CLUSTER_OUT_OF_MEMORY, 1);
	all->failures++;
}

void feeds_report_answer(struct feeds *all, int64_t now)
{
	if (all->away_logged)
		log_event(all->options->log, LOG_INFO,
			  "cluster state: the API server answers again",
			  (struct log_field[]){
				  {"server", api_server(all->options->api), 0},
				  {"seconds", NULL,
				   (now - all->away_since) / 1000},
			  },
			  2);
	if (all->away_since)
		all->back_since = now;
	all->away_since = all->away_logged = 0;
}

enum { WARNING_MS = 10000, GONE = 410 };

/* --- reading -------------------------------------------------------------- */

static bool skip(void *context, const struct node *map, const char *key,
		 size_t len)
{
	const struct feed *feed = context;

	return cluster_is_unread(feed->kind, map, key, len);
}

/* Parses a map into the shared arena of the feeds; returns NULL if the text is
 * not a map. */
static const struct node *read_map(struct feed *feed, const char *text,
				   size_t len)
{
	struct arena *arena = &feed->all->arena;
	struct load_limits limits = load_limits_default;
	struct source source;
	struct loader loader;
	const struct node *root;
	uint32_t used;

	arena_reset(arena);
	source_init(&source, arena, "answer", text, len);
	loader_init(&loader, &source, &limits, arena);
	loader.skip = skip;
	loader.context = feed;
	root = json_read(&loader, 0, (uint32_t)source.len, &used);
	return node_is_map(root) ? root : NULL;
}

static struct object_id id_of(const struct feed *feed, const struct node *root)
{
	const struct node *meta = node_get(root, "metadata");
	const char *namespace = node_str(node_get(meta, "namespace"));
	const char *name = node_str(node_get(meta, "name"));

	return (struct object_id){
		node_str(node_get(root, "apiVersion")),
		cluster_resource(feed->kind)->kind,
		namespace ? namespace : "",
		name ? name : "",
	};
}

/* --- changes -------------------------------------------------------------- */

/* Logs a warning, at most one line per interval. */
static void warn(struct feed *feed, const char *text)
{
	struct feeds *all = feed->all;
	int64_t now = live_now();
	struct log_field fields[] = {
		{"reason", text, 0},
		{"others", NULL, all->warnings},
	};

	all->warnings++;
	if (now < all->next_warning)
		return;
	all->next_warning = now + WARNING_MS;
	all->warnings = 0;
	log_event(all->options->log, LOG_WARN,
		  "an object of the cluster is invalid and is left out", fields,
		  2);
}

static bool broken(struct feed *feed, const char *why)
{
	feed->verdict = FEED_BROKEN;
	err_set(&feed->err, 0, "%s", why);
	return false;
}

static void add_item(struct feed *feed, const struct cluster_item *item)
{
	struct err err = {0};
	int rc;

	feed->all->torn = true;
	rc = cluster_builder_add(feed->all->builder, item, &err);
	feed->all->torn = false;
	if (rc > 0)
		feed->all->changed = true;
	if (rc < 0)
		warn(feed, err.text);
}

/* Returns the version of the kind that is requested, as an apiVersion. */
static const char *api_version(struct feed *feed)
{
	const struct cluster_resource *r = cluster_resource(feed->kind);

	return arena_printf(
		&feed->all->arena, "%s%s%.*s", r->group, *r->group ? "/" : "",
		(int)strcspn(feed->api_version, " "), feed->api_version);
}

bool reflector_take_object(struct feed *feed, const char *text, size_t len)
{
	struct cluster_item item = {.root = read_map(feed, text, len)};

	if (!item.root)
		return false;
	item.api_version = api_version(feed);
	item.kind = cluster_resource(feed->kind)->kind;
	add_item(feed, &item);
	return true;
}

bool reflector_take_item(void *context, const char *text, size_t len)
{
	struct feed *feed = context;
	struct cluster_item item = {.root = read_map(feed, text, len)};
	struct object_id id;

	if (!item.root)
		return broken(feed, "an item of the list is not an object");
	item.api_version = api_version(feed);
	item.kind = cluster_resource(feed->kind)->kind;
	id = id_of(feed, item.root);
	id.api_version = item.api_version;
	*ARRAY_PUSH(feed->seen, feed->nseen, feed->seen_size) =
		cluster_builder_key(feed->all->builder, feed->kind, &id);
	add_item(feed, &item);
	return true;
}

static void take_text(struct buf *out, const struct node *node)
{
	buf_reset(out);
	if (node_str(node))
		buf_adds(out, node_str(node));
}

int reflector_take_head(struct feed *feed, struct err *err)
{
	const struct buf *head = &feed->items.head;
	const struct node *root, *meta;

	if (!feed->items.done)
		return err_set(err, 0, "the list is cut off");
	root = read_map(feed, head->data, head->len);
	meta = node_get(root, "metadata");
	if (!node_get(root, "items") ||
	    !node_str(node_get(meta, "resourceVersion")))
		return err_set(err, 0, "the response is not a list");
	take_text(&feed->next, node_get(meta, "continue"));
	take_text(&feed->version, node_get(meta, "resourceVersion"));
	return 0;
}

/* --- events --------------------------------------------------------------- */

static bool take_error(struct feed *feed, const struct node *status)
{
	const char *message = node_str(node_get(status, "message"));
	int64_t code = 0;

	node_int(node_get(status, "code"), &code);
	feed->verdict = code == GONE ? FEED_RELIST : FEED_BROKEN;
	err_set(&feed->err, 0, "the watch reports %lld%s%s", (long long)code,
		message ? ": " : "", message ? message : "");
	return false;
}

static void take_out(struct feed *feed, const struct node *object)
{
	struct object_id id = id_of(feed, object);

	feed->all->torn = true;
	if (cluster_builder_remove(feed->all->builder, &id) > 0)
		feed->all->changed = true;
	feed->all->torn = false;
}

static bool take_change(struct feed *feed, const char *type,
			const struct node *object)
{
	struct cluster_item item = {.root = object};

	if (!strcmp(type, "DELETED")) {
		take_out(feed, object);
	} else if (!strcmp(type, "ADDED") || !strcmp(type, "MODIFIED")) {
		add_item(feed, &item);
	} else if (strcmp(type, "BOOKMARK") != 0) {
		return broken(feed, "an event of an unknown type");
	}
	return true;
}

bool reflector_take_event(void *context, const char *text, size_t len)
{
	struct feed *feed = context;
	const struct node *event = read_map(feed, text, len);
	const char *type = node_str(node_get(event, "type"));
	const struct node *object = node_get(event, "object");
	const struct node *version =
		node_path(object, "metadata.resourceVersion");

	if (!type || !node_is_map(object))
		return broken(feed, "a line of the watch is not an event");
	if (!strcmp(type, "ERROR"))
		return take_error(feed, object);
	if (!node_eq(node_get(object, "kind"),
		     cluster_resource(feed->kind)->kind) ||
	    !node_str(node_get(object, "apiVersion")) || !node_str(version))
		return broken(feed, "an event about another kind");
	if (!take_change(feed, type, object))
		return false;
	take_text(&feed->version, version);
	feed->all->events++;
	reflector_recovered(feed);
	feed->good = live_now();
	return true;
}
