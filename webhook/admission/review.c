/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a review. The fields around the objects may come in any order, so the
 * whole text is parsed before any field is used.
 *
 * If an object exceeds the limits, only the fields around the objects are read
 * again, so that the denial can be sent with the request's uid. Without a
 * response the API server would admit the object under failurePolicy Ignore.
 *
 * Source: kubernetes/api admission/v1 types.go. The sizes and the order of
 * fields are those that kube-apiserver 1.36 sends.
 */
#include "review.h"

#include <string.h>

#include "base/array.h"
#include "doc/budget.h"

enum {
	/* An object of 1.5 MiB, etcd's limit, with only short fields has 60,000
	 * nodes; and a review may contain two objects. */
	REVIEW_NODES = 150000,
	REVIEW_DEPTH = 1010,
};

static const char last_applied[] =
	"kubectl.kubernetes.io/last-applied-configuration";

static bool key_is(const char *key, size_t len, const char *name)
{
	return len == strlen(name) && !memcmp(key, name, len);
}

static bool is_object(const struct node *node)
{
	return node && node->key &&
	       (key_is(node->key, node->key_len, "object") ||
		key_is(node->key, node->key_len, "oldObject")) &&
	       node->parent && node->parent->key &&
	       !strcmp(node->parent->key, "request");
}

static uint64_t bit_of(const char *key)
{
	return node_tag_bit(node_tag(key, strlen(key)));
}

/* Returns true for a field that is not read. Called for keys whose bit is set
 * in loader.skip_tags. */
static bool skip_unseen(void *context, const struct node *map, const char *key,
			size_t len)
{
	switch (len) {
	case sizeof("status") - 1:
		return !memcmp(key, "status", len) && is_object(map);
	case sizeof("managedFields") - 1:
		return !memcmp(key, "managedFields", len) &&
		       is_object(map->parent) && map->key &&
		       !strcmp(map->key, "metadata");
	case sizeof(last_applied) - 1:
		return !memcmp(key, last_applied, len) && map->key &&
		       !strcmp(map->key, "annotations");
	default:
		return false;
	}
}

static bool skip_objects(void *context, const struct node *map, const char *key,
			 size_t len)
{
	return map->parent &&
	       (key_is(key, len, "object") || key_is(key, len, "oldObject") ||
		key_is(key, len, "options"));
}

struct trouble {
	struct arena *arena;
	struct source *source;
	const char *text;
};

static void note_trouble(void *context, const struct load_issue *issue)
{
	struct trouble *trouble = context;

	if (issue->kind != LOAD_SYNTAX || trouble->text)
		return;
	trouble->text = arena_printf(trouble->arena, "%s (byte %u)",
				     issue->text, issue->start);
}

/* Parses the text of the review. Sets *few to true if no list and no string in
 * it is long, so that work_is_too_much() need not be called. */
static struct node *read_tree(struct arena *arena, struct review *review,
			      bool (*skip)(void *context,
					   const struct node *map,
					   const char *key, size_t len),
			      bool *few)
{
	struct trouble trouble = {.arena = arena, .source = &review->source};
	struct load_limits limits = load_limits_default;
	struct source *source = &review->source;
	struct loader loader;
	struct node *root;
	uint32_t used;

	limits.nodes = REVIEW_NODES;
	limits.depth = REVIEW_DEPTH;
	loader_init(&loader, source, &limits, arena);
	loader.issue = note_trouble;
	loader.context = &trouble;
	loader.skip = skip;
	if (skip == skip_unseen)
		loader.skip_tags = bit_of("status") | bit_of("managedFields") |
				   bit_of(last_applied);
	root = json_read(&loader, 0, (uint32_t)source->len, &used);
	while (root && used < source->len &&
	       strchr(" \t\r\n", source->text[used]))
		used++;
	if (root && used < source->len) {
		trouble.text = "text after the review";
		root = NULL;
	}
	review->problem = trouble.text ? trouble.text : "empty body";
	*few = loader.breadth <= WORK_MAX && !loader.long_text;
	return root;
}

/* --- fields --------------------------------------------------------------- */

static const char *text_of(const struct node *node)
{
	const char *text = node_str(node);

	/* A text with a NUL inside is ignored: C code would read only the part
	 * before the NUL. */
	return text && strlen(text) == node->len ? text : "";
}

static enum operation operation_of(const char *name)
{
	static const char *const names[] = {
		[OPERATION_OTHER] = "",		 [OPERATION_CREATE] = "CREATE",
		[OPERATION_UPDATE] = "UPDATE",	 [OPERATION_DELETE] = "DELETE",
		[OPERATION_CONNECT] = "CONNECT",
	};

	for (int i = 0; i < (int)ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return (enum operation)i;
	return OPERATION_OTHER;
}

/* Makes an object of the request the root of a separate document. */
static void take_document(struct review *review, const struct node *object,
			  struct doc *doc)
{
	/* This review has built the tree and does not share it, so it may be
	 * changed. */
	struct node *root = (struct node *)(uintptr_t)object;

	memset(doc, 0, sizeof(*doc));
	doc->source = &review->source;
	doc->number = 1;
	doc->json = true;
	if (!node_is_map(root))
		return;
	root->parent = NULL;
	root->key = NULL;
	root->key_len = 0;
	root->key_start = root->key_end = root->start;
	doc->start = root->start;
	doc->end = root->end;
	doc->root = root;
}

static void read_request(struct review *review, const struct node *request)
{
	const struct node *kind = node_get(request, "kind");
	const struct node *user = node_get(request, "userInfo");

	review->request = request;
	review->operation_name = text_of(node_get(request, "operation"));
	review->operation = operation_of(review->operation_name);
	review->group = text_of(node_get(kind, "group"));
	review->version = text_of(node_get(kind, "version"));
	review->kind = text_of(node_get(kind, "kind"));
	review->subresource = text_of(node_get(request, "subResource"));
	review->namespace = text_of(node_get(request, "namespace"));
	review->name = text_of(node_get(request, "name"));
	review->user = text_of(node_get(user, "username"));
	review->groups = node_get(user, "groups");
	review->dry_run = node_is_true(node_get(request, "dryRun"));
	take_document(review, node_get(request, "object"), &review->object);
	take_document(review, node_get(request, "oldObject"), &review->old);
}

static bool read_envelope(struct review *review, const struct node *root)
{
	const struct node *request = node_get(root, "request");
	const struct node *uid = node_get(request, "uid");

	if (!node_eq(node_get(root, "apiVersion"), "admission.k8s.io/v1") ||
	    !node_eq(node_get(root, "kind"), "AdmissionReview")) {
		review->problem =
			"body is not an AdmissionReview of admission.k8s.io/v1";
		return false;
	}
	if (!node_str(uid) || !uid->len) {
		review->problem = "request.uid is missing";
		return false;
	}
	review->uid = uid->str;
	review->uid_len = uid->len;
	read_request(review, request);
	return true;
}

static void clear(struct review *review)
{
	memset(review, 0, sizeof(*review));
	review->uid = review->operation_name = review->group = "";
	review->version = review->kind = review->subresource = "";
	review->namespace = review->name = review->user = "";
}

/* Returns REVIEW_UNREADABLE if a list, key or string of the object is too long
 * for the rules to finish in time. For the old object, sets old_too_long. */
static enum review_outcome check_lists(struct review *review)
{
	review->old_too_long = work_is_too_much(review->old.root);
	if (!work_is_too_much(review->object.root))
		return REVIEW_GOOD;
	review->problem = "its lists, keys or texts are too long to be checked";
	return REVIEW_UNREADABLE;
}

enum review_outcome review_read(struct arena *arena, const char *body,
				size_t len, struct review *review)
{
	const struct node *root;
	const char *why;
	bool few;

	clear(review);
	source_init(&review->source, arena, "review", body, len);
	/* Positions in the API server's text are never reported, so lines are
	 * not counted. */
	review->source.bytes_only = true;
	root = read_tree(arena, review, skip_unseen, &few);
	if (root && !read_envelope(review, root))
		return REVIEW_NONE;
	if (root)
		return few ? REVIEW_GOOD : check_lists(review);
	why = review->problem;
	root = read_tree(arena, review, skip_objects, &few);
	if (!root || !read_envelope(review, root)) {
		review->problem = why;
		return REVIEW_NONE;
	}
	review->problem = why;
	return REVIEW_UNREADABLE;
}

/* --- the start of a long review ------------------------------------------- */

/*
 * Returns the offset of the first "object" or "oldObject" key, after its
 * opening quote; 0 if it is beyond the text. The API server writes fields in
 * the order of its types: all fields that describe the request come before the
 * objects.
 */
static size_t end_of_envelope(const char *text, size_t len)
{
	unsigned depth = 0;
	bool key = false;

	for (size_t i = 0; i < len; i++) {
		size_t start = i + 1;

		if (text[i] == '{' || text[i] == '[')
			depth++;
		else if (text[i] == '}' || text[i] == ']')
			depth--;
		if (strchr("{[,:", text[i]))
			key = text[i] == '{' || text[i] == ',';
		if (text[i] != '"')
			continue;
		for (i++; i < len && text[i] != '"'; i++)
			i += text[i] == '\\';
		if (key && depth == 2 && i < len &&
		    (key_is(text + start, i - start, "object") ||
		     key_is(text + start, i - start, "oldObject")))
			return start;
	}
	return 0;
}

enum review_outcome review_read_start(struct arena *arena, const char *start,
				      size_t len, struct review *review)
{
	static const char rest[] = "\":null}}";
	size_t end = end_of_envelope(start, len);
	char *text = arena_alloc(arena, end + sizeof(rest));
	enum review_outcome outcome;

	if (!end) {
		clear(review);
		return REVIEW_NONE;
	}
	memcpy(text, start, end);
	memcpy(text + end, rest, sizeof(rest));
	outcome = review_read(arena, text, end + sizeof(rest) - 1, review);
	return outcome == REVIEW_NONE ? REVIEW_NONE : REVIEW_UNREADABLE;
}

bool review_in_group(const struct review *review, const char *group)
{
	FOR_EACH_CHILD(review->groups, item)
		if (node_eq(item, group))
			return true;
	return false;
}
