/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses and values of environment variables in a container, new entries, and
 * lists of devices. Any mention of a variable's name counts as a use, because
 * a command may refer to it as $(NAME), a shell as $NAME and a script by the
 * name alone. Programs that read it without a mention are not detected.
 */
#include "kube/command/env.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/text.h"
#include "doc/edit.h"
#include "rules/kube/kinds.h"

static bool mentions(const struct node *list, const char *name)
{
	if (node_is_unknown(list))
		return true;
	FOR_EACH_CHILD(list, item)
		if (node_is_unknown(item) ||
		    text_contains(node_str(item), name))
			return true;
	return false;
}

bool container_says(const struct container *c, const char *text)
{
	return mentions(node_get(c->node, "command"), text) ||
	       mentions(node_get(c->node, "args"), text);
}

bool container_may_choose(const struct container *c)
{
	static const char *const texts[] = {"||",    "[ ",    "[[ ",
					    "grep ", "test ", NULL};

	for (const char *const *text = texts; *text; text++)
		if (container_says(c, *text))
			return true;
	return false;
}

bool container_env_is_free(const struct container *c, const struct node *entry)
{
	const char *name = node_str(node_get(entry, "name"));

	if (!name || container_says(c, name))
		return false;
	FOR_EACH_CHILD(node_get(c->node, "env"), other)
		if (other != entry &&
		    (node_eq(node_get(other, "name"), name) ||
		     text_contains(node_str(node_get(other, "value")), name)))
			return false;
	return true;
}

struct node *env_entry(struct arena *arena, const char *name, const char *value)
{
	struct node *entry = edit_map(arena);

	edit_member_string(arena, entry, "name", name);
	return edit_member_string(arena, entry, "value", value);
}

int64_t device_list_size(const char *text)
{
	int64_t n = 1;

	for (; *text; text++)
		n += *text == ',';
	return n;
}

const char *device_list_fault(const char *text, int64_t n)
{
	for (;;) {
		char *end;
		long ordinal;

		text += strspn(text, " ");
		if (text_starts(text, "GPU-") || text_starts(text, "MIG-"))
			return NULL;
		ordinal = strtol(text, &end, 10);
		if (end == text || ordinal < 0 ||
		    !isdigit((unsigned char)*text))
			return text;
		end += strspn(end, " ");
		if ((*end && *end != ',') || (n && ordinal >= n))
			return text;
		if (!*end)
			return NULL;
		text = end + 1;
	}
}

static const struct node *env_first(const struct node *env, const char *name,
				    const struct node **after)
{
	FOR_EACH_CHILD(env, entry) {
		bool same = node_is_map(env)
				    ? text_eq(entry->key, name)
				    : node_eq(node_get(entry, "name"), name);

		if (same && !*after)
			return entry;
		if (entry == *after)
			*after = NULL;
	}
	return NULL;
}

const struct node *container_env_after(const struct container *c,
				       const char *name,
				       const struct node *after)
{
	const struct node *lists[] = {node_get(c->node, "env"),
				      node_get(c->node, "envs"),
				      node_get(c->node, "envVars")};
	const struct node *injected = node_get(c->pod->injected, "env");

	/* The tags show that the list `env` lacks the name. */
	if (node_is_seq(lists[0]) &&
	    !container_may_have_env(c, node_tag(name, strlen(name))))
		lists[0] = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const struct node *found = env_first(lists[i], name, &after);

		if (found)
			return found;
	}
	if (node_is_unknown(injected))
		return after ? NULL : injected;
	return env_first(injected, name, &after);
}

/*
 * Computes the values of variables as the kubelet does. Labels and annotations
 * that a template lacks may be added by a controller (the index of a Job or a
 * StatefulSet), and those in a controller's domain may be overwritten; in a
 * Pod, all of them are final. The API server fills in absent requests from the
 * limits.
 *
 * Sources: kubelet makeEnvironment (pkg/kubelet/kubelet_pods.go),
 * third_party/forked/golang/expansion, pkg/api/v1/resource helpers.go.
 */

/* Longer texts and longer searches are unknown: a few entries can expand to
 * exponentially long texts, and many may refer to one. */
enum { TEXT_MAX = 4096, REFERENCE_MAX = 512, SEARCH_MAX = 4096 };

struct env_reader {
	const struct container *c;
	/* number of entries compared with a reference so far */
	unsigned searched;
};

static bool is_long(const struct node *node, uint32_t most)
{
	return node_str(node) && node->len > most;
}

static struct env_value unknown(const struct node *at)
{
	return (struct env_value){.state = ENV_UNKNOWN, .at = at};
}

static struct env_value known(const struct node *at, const char *text)
{
	return (struct env_value){ENV_KNOWN, text, at, false};
}

static struct env_value known_or_not(const struct node *at, const char *text)
{
	return text ? known(at, text) : unknown(at);
}

/* --- fieldRef ------------------------------------------------------------- */

static bool is_pod(const struct pod *pod)
{
	return pod->object->class == KIND_POD && pod->metadata &&
	       pod->metadata == node_get(pod->object->root, "metadata");
}

/* True for keys of labels and annotations that controllers overwrite. */
static bool is_of_controller(const char *key)
{
	static const char *const domains[] = {
		"kubernetes.io", "k8s.io",     "kubeflow.org", "ray.io",
		"volcano.sh",	 "apache.org", "kserve.io",    "argoproj.io",
		"nvidia.com",	 NULL};
	static const char *const names[] = {"job-name",
					    "controller-uid",
					    "pod-template-hash",
					    "replica-index",
					    "replica-type",
					    "rank",
					    "app",
					    NULL};
	const char *slash = strchr(key, '/');
	size_t len = slash ? (size_t)(slash - key) : 0;

	if (!slash)
		return text_any(key, names, text_eq);
	for (const char *const *domain = domains; *domain; domain++) {
		size_t n = strlen(*domain);

		if (len >= n && !strncmp(key + len - n, *domain, n) &&
		    (len == n || key[len - n - 1] == '.'))
			return true;
	}
	return false;
}

/* Returns a label or an annotation of the pod: "" if a Pod lacks it, NULL if it
 * is unknown or if path is malformed. map is "labels" or "annotations", path is
 * ['KEY']. */
static const char *member(const struct pod *pod, const char *map,
			  const char *path)
{
	size_t len = strlen(path);
	const struct node *value;
	const char *key;

	if (len < 5 || memcmp(path, "['", 2) ||
	    memcmp(path + len - 2, "']", 2) != 0)
		return NULL;
	key = arena_strndup(pod->memo->arena, path + 2, len - 4);
	if (!is_pod(pod) && is_of_controller(key))
		return NULL;
	value = strcmp(map, "labels") ? pod_annotation(pod, key)
				      : pod_label(pod, key);
	if (node_is_unknown(value) || (!value && !is_pod(pod)) ||
	    is_long(value, TEXT_MAX))
		return NULL;
	return value ? node_str(value) : "";
}

static const char *field_text(const struct pod *pod, const char *path)
{
	const struct object *object = pod->object;

	if (text_starts(path, "metadata.labels"))
		return member(pod, "labels", path + strlen("metadata.labels"));
	if (text_starts(path, "metadata.annotations"))
		return member(pod, "annotations",
			      path + strlen("metadata.annotations"));
	if (!strcmp(path, "metadata.namespace"))
		return object->namespace;
	if (!strcmp(path, "metadata.name"))
		return is_pod(pod) ? object->name : NULL;
	if (!strcmp(path, "spec.nodeName"))
		return node_str(pod_field(pod, "nodeName"));
	if (!strcmp(path, "spec.serviceAccountName"))
		return node_str(pod_field(pod, "serviceAccountName"));
	return NULL;
}

/* --- resourceFieldRef ----------------------------------------------------- */

static const struct container *find_container(const struct container *c,
					      const struct node *name)
{
	if (node_is_unset(name))
		return c;
	FOR_EACH_CONTAINER(c->pod, other)
		if (node_str(name) && text_eq(other->name, node_str(name)))
			return other;
	return NULL;
}

/* Returns the quantity divided by the divisor and rounded up, as the downward
 * API does; both in thousandths if `milli`. Returns NULL if the divisor is
 * invalid or the quantity negative. */
static const char *divided(const struct pod *pod, struct quantity q,
			   const struct node *divisor, bool milli)
{
	struct quantity by = quantity_from(1);
	int64_t n, of;

	if (!node_is_unset(divisor) &&
	    node_quantity(divisor, &by) != QUANTITY_OK)
		return NULL;
	if (!by.nano)
		by = quantity_from(1); /* default of the API server */
	n = milli ? quantity_milli(q) : quantity_value(q);
	of = milli ? quantity_milli(by) : quantity_value(by);
	if (n < 0 || of < 1)
		return NULL;
	return arena_printf(pod->memo->arena, "%" PRId64,
			    n / of + (n % of != 0));
}

static const char *resource_text(const struct container *c,
				 const struct node *ref)
{
	const char *path = node_str(node_get(ref, "resource"));
	bool limit = text_starts(path, "limits.");
	const char *name;
	struct quantity q;

	c = find_container(c, node_get(ref, "containerName"));
	if (!c || !path || (!limit && !text_starts(path, "requests.")))
		return NULL;
	name = strchr(path, '.') + 1;
	if (limit ? container_limit(c, name, &q) != QUANTITY_OK
		  : container_request(c, name, &q) != QUANTITY_OK &&
			    container_limit(c, name, &q) != QUANTITY_OK)
		return NULL;
	return divided(c->pod, q, node_get(ref, "divisor"),
		       !strcmp(name, "cpu"));
}

/* --- $(NAME) -------------------------------------------------------------- */

static struct env_value read_entry(struct env_reader *reader,
				   const struct node *entry, size_t before);

/* Returns the value of entry i; NULL if it is unknown or too long. */
static const char *value_of(struct env_reader *reader, size_t i)
{
	const struct node *entry = reader->c->env[i].node;
	const struct node *value =
		node_is_map(entry) ? node_get(entry, "value") : entry;

	if (is_long(value, TEXT_MAX))
		return NULL;
	return read_entry(reader, entry, i).text;
}

/* Returns the value of the last entry of that name before number `before`, or
 * NULL if it is unknown. A name without an entry may come from envFrom, a
 * Service or the operator. */
static const char *referred(struct env_reader *reader, const char *name,
			    size_t before)
{
	const struct container *c = reader->c;

	for (size_t i = before; i-- && reader->searched++ < SEARCH_MAX;)
		if (node_eq(c->env[i].name, name))
			return value_of(reader, i);
	return NULL;
}

/* Appends the value of the reference "$(NAME)" at *at and moves *at behind it.
 * Without the closing bracket, appends only the `$`. Returns false if the value
 * is unknown. */
static bool expand_one(struct env_reader *reader, struct buf *out,
		       const char **at, size_t before)
{
	size_t length = strnlen(*at, REFERENCE_MAX);
	const char *end = memchr(*at, ')', length);
	const char *name, *text;

	if (!end && length == REFERENCE_MAX)
		return false;
	if (!end) {
		buf_addc(out, *(*at)++);
		return true;
	}
	name = arena_strndup(reader->c->pod->memo->arena, *at + 2,
			     (size_t)(end - *at) - 2);
	*at = end + 1;
	text = referred(reader, name, before);
	if (text)
		buf_adds(out, text);
	return text;
}

static bool expand(struct env_reader *reader, struct buf *out, const char *at,
		   size_t before)
{
	while (*at && out->len <= TEXT_MAX) {
		if (at[0] == '$' && at[1] == '$') {
			buf_addc(out, '$');
			at += 2;
		} else if (at[0] == '$' && at[1] == '(') {
			if (!expand_one(reader, out, &at, before))
				return false;
		} else {
			buf_addc(out, *at++);
		}
	}
	return !*at;
}

static struct env_value expanded(struct env_reader *reader,
				 const struct node *at, size_t before)
{
	struct env_value value = unknown(at);
	struct buf out;

	buf_init(&out);
	if (expand(reader, &out, at->str, before))
		value = known(at, arena_strndup(reader->c->pod->memo->arena,
						out.data, out.len));
	buf_release(&out);
	return value;
}

/* --- an entry ------------------------------------------------------------- */

static struct env_value read_source(const struct container *c,
				    const struct node *from)
{
	const struct node *field = node_get(from, "fieldRef");
	const struct node *resource = node_get(from, "resourceFieldRef");
	const char *path = node_str(node_get(field, "fieldPath"));

	if (is_long(node_get(field, "fieldPath"), REFERENCE_MAX) ||
	    is_long(node_get(resource, "resource"), REFERENCE_MAX))
		return unknown(from);
	if (path)
		return known_or_not(from, field_text(c->pod, path));
	if (node_is_map(resource))
		return known_or_not(from, resource_text(c, resource));
	return unknown(from);
}

/* The kubelet treats an empty `value` as if it were not set. */
static struct env_value read_entry(struct env_reader *reader,
				   const struct node *entry, size_t before)
{
	const struct node *at =
		node_is_map(entry) ? node_get(entry, "value") : entry;
	const struct node *from =
		node_is_map(entry) ? node_get(entry, "valueFrom") : NULL;
	const char *text = node_str(at);

	if (node_is_unknown(entry) || node_is_unknown(at) ||
	    node_is_unknown(from))
		return unknown(at ? at : entry);
	if (!node_is_unset(from) && (node_is_unset(at) || (text && !*text)))
		return read_source(reader->c, from);
	if (node_is_unset(at))
		return known(entry, "");
	if (!text)
		return unknown(at);
	if (strstr(text, "$(") || strstr(text, "$$"))
		return expanded(reader, at, before);
	return (struct env_value){ENV_KNOWN, text, at, true};
}

static size_t position(const struct container *c, const struct node *entry)
{
	for (size_t i = 0; i < c->nenv; i++)
		if (c->env[i].node == entry)
			return i;
	return c->nenv;
}

struct env_value env_entry_value(const struct container *c,
				 const struct node *entry)
{
	struct env_reader reader = {.c = c};

	if (!entry)
		return (struct env_value){.state = ENV_UNSET};
	return read_entry(&reader, entry, position(c, entry));
}

const struct node *container_env_source(const struct container *c,
					const char *name,
					const struct node *after)
{
	if (container_env(c, name))
		return NULL;
	FOR_EACH_CHILD(node_get(c->node, "envFrom"), source) {
		const struct node *prefix = node_get(source, "prefix");

		if (after) {
			if (source == after)
				after = NULL;
			continue;
		}
		if (node_is_unset(prefix) || node_is_unknown(prefix) ||
		    text_starts(name, node_str(prefix)))
			return source;
	}
	return NULL;
}
