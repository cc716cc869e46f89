/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the author's map to a Go type and back, as
 * runtime.DefaultUnstructuredConverter of apimachinery does after setting the
 * defaults of the type. Then makes the changes of kube-apiserver and its
 * default admission plugins to Pods, Jobs, Services and other kinds.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "kube/container.h"
#include "kube/quantity.h"
#include "native.h"

/* --- values -------------------------------------------------------------- */

struct node *native_quantity(struct arena *arena, const struct node *from)
{
	char text[QUANTITY_TEXT];
	struct quantity q;
	struct node *node;

	if (node_quantity(from, &q) != QUANTITY_OK)
		return typed_copy(arena, from);
	node = typed_new(arena, NODE_STRING, from, NULL);
	node->str = arena_strdup(arena, quantity_text(q, text));
	node->len = (uint32_t)strlen(node->str);
	return node;
}

static struct node *scalar(struct arena *arena, const struct node *from,
			   char form)
{
	struct node *node;
	int64_t n;

	if (form == 'q')
		return native_quantity(arena, from);
	if (form != 'i' || from->type != NODE_FLOAT || !node_int(from, &n))
		return typed_copy(arena, from);
	node = typed_new(arena, NODE_INT, from, NULL);
	node->str = arena_printf(arena, "%lld", (long long)n);
	node->len = (uint32_t)strlen(node->str);
	return node;
}

static struct node *item(struct arena *arena, const struct native_field *field,
			 const struct node *from, const struct node *parent)
{
	if (from && node_is_unknown(from))
		return typed_copy(arena, from);
	if (field->form == 'T')
		return native_struct(arena, field->type, from, parent);
	if (from)
		return scalar(arena, from, field->form);
	return typed_new(arena, NODE_NULL, NULL, parent);
}

/*
 * Returns the zero value of a field, which is an empty string, 0 or false.
 * Pointers, lists, maps, times and values of any type have null.
 */
static struct node *zero(struct arena *arena, const struct native_field *field,
			 const struct node *parent)
{
	bool is_null =
		field->flags & (NATIVE_POINTER | NATIVE_LIST | NATIVE_MAP);
	struct node *node = typed_text(arena, "", parent);

	if (is_null || strchr("tx", field->form)) {
		node->type = NODE_NULL;
	} else if (strchr("ifo", field->form)) {
		node->type = NODE_INT;
		node->str = "0";
		node->len = 1;
	} else if (field->form == 'b') {
		node->type = NODE_BOOL;
		node->str = "false";
		node->len = 5;
	} else if (field->form == 'q') {
		node->str = "0";
		node->len = 1;
	}
	return node;
}

static bool is_empty(const struct native_field *field, const struct node *from)
{
	int64_t n;

	if (node_is_unset(from))
		return true;
	if (node_is_unknown(from))
		return false;
	if (field->flags & (NATIVE_LIST | NATIVE_MAP))
		return !from->len;
	if (field->flags & NATIVE_POINTER || field->form == 'T')
		return false;
	if (field->form == 'b')
		return node_is_false(from);
	if (field->form == 'i')
		return node_int(from, &n) && !n;
	return strchr("sy", field->form) && !from->len;
}

static struct node *collection(struct arena *arena,
			       const struct native_field *field,
			       const struct node *from)
{
	struct node *node = typed_new(arena, from->type, from, NULL);
	/* In a map of lists of strings or numbers, nothing is added. */
	bool both = field->flags & NATIVE_LIST && field->flags & NATIVE_MAP;
	enum node_type type = field->flags & NATIVE_LIST ? NODE_SEQ : NODE_MAP;

	if (both || from->type != type || node_is_unknown(from))
		return typed_copy(arena, from);
	FOR_EACH_CHILD(from, child) {
		bool unset = node_is_unset(child);

		typed_keep(
			node, child,
			unset && field->form != 'T'
				? zero(arena,
				       &(struct native_field){NULL, field->form,
							      0, 0, 0, 0, 0},
				       child)
				: item(arena, field, unset ? NULL : child,
				       child));
	}
	return node;
}

static struct node *value(struct arena *arena, const struct native_field *field,
			  const struct node *from, const struct node *map)
{
	bool many = field->flags & (NATIVE_LIST | NATIVE_MAP);
	bool always = field->form == 'T' && !many &&
		      !(field->flags & (NATIVE_POINTER | NATIVE_OMIT_ZERO));

	if (!is_empty(field, from))
		return many ? collection(arena, field, from)
			    : item(arena, field, from, map);
	if (always)
		return item(arena, field, NULL, map);
	if (!(field->flags & NATIVE_ALWAYS))
		return NULL;
	return node_is_unset(from) ? zero(arena, field, map)
				   : typed_copy(arena, from);
}

struct node *native_struct(struct arena *arena, unsigned number,
			   const struct node *from, const struct node *parent)
{
	const struct native_type *type = &native_types[number];
	struct node *map = typed_new(arena, NODE_MAP, from, parent);

	if (from && !node_is_map(from))
		return typed_copy(arena, from);
	for (unsigned i = 0; i < type->nfields; i++) {
		const struct native_field *field =
			&native_fields[type->field + i];
		const struct node *old = node_get(from, field->name);
		struct node *new = value(arena, field, old, map);

		if (new)
			typed_put(map, field->name, new);
	}
	native_set_defaults(arena, number, map);
	return map;
}

/* --- defaults ------------------------------------------------------------ */

static bool meets_condition(const struct node *map, const char *condition)
{
	const char *equals = strchr(condition, '=');
	char field[64];
	size_t n;
	bool not ;

	if (text_eq(condition, "-"))
		return true;
	if (text_eq(condition, "alone"))
		return map->len <= 1;
	if (*condition == '+' || *condition == '!')
		return node_is_unset(node_path(map, condition + 1)) ==
		       (*condition == '!');
	not = equals > condition && equals[-1] == '!';
	n = (size_t)(equals - condition) - not ;
	memcpy(field, condition, n);
	field[n] = '\0';
	return node_eq(node_path(map, field), equals + 1) != not ;
}

static struct node *words(struct arena *arena, const char *text,
			  const struct node *parent)
{
	struct node *list = typed_new(arena, NODE_SEQ, NULL, parent);
	size_t n;

	for (text++; *text; text += n + 1) {
		n = strcspn(text, ",]");
		node_append(list,
			    typed_text(arena, arena_strndup(arena, text, n),
				       parent));
	}
	return list;
}

/* Returns the part of an image after the host. A host contains a dot, a port or
 * a capital letter before the first slash (distribution/reference
 * splitDockerDomain). */
static const char *behind_host(const char *image)
{
	size_t n = strcspn(image, "/");

	if (!image[n] || (strcspn(image, ".:ABCDEFGHIJKLMNOPQRSTUVWXYZ") >= n &&
			  !(n == 9 && !strncmp(image, "localhost", n))))
		return image;
	return image + n + 1;
}

/* True if the text may be the name of an image. The API server finds no tag in
 * other texts (parsers.ParseImageName fails). */
static bool is_reference(const char *image)
{
	const char *path = behind_host(image);
	size_t n = strcspn(path, ":@");

	return n && *path != '/' &&
	       strspn(path, "abcdefghijklmnopqrstuvwxyz0123456789._-/") == n;
}

/* Returns the default imagePullPolicy: Always for the tag `latest`, explicit or
 * by default (defaults.go SetDefaults_Container), else IfNotPresent. NULL for
 * an unknown image. */
static const char *pull_policy(const struct node *map)
{
	const char *image = node_str(node_get(map, "image"));
	const char *tag = image ? image_tag(image) : NULL;

	if (!image)
		return NULL;
	if (is_reference(image) &&
	    (tag ? text_eq(tag, "latest") : !strchr(image, '@')))
		return "Always";
	return "IfNotPresent";
}

static struct node *unknown(struct arena *arena, const struct node *map)
{
	struct node *node = typed_text(arena, "", map);

	node->flags |= NODE_UNKNOWN;
	return node;
}

static struct node *constant(struct arena *arena, const char *text,
			     const struct node *map)
{
	struct node *node;

	if (text_eq(text, "@pull"))
		text = pull_policy(map);
	if (!text || *text == '?') {
		node = unknown(arena, map);
		if (text && text[1])
			node->type = NODE_NULL;
		return node;
	}
	if (*text == '[')
		return words(arena, text, map);
	node = typed_text(arena, text, map);
	if (text_eq(text, "true") || text_eq(text, "false"))
		node->type = NODE_BOOL;
	else if (*text && !text[strspn(text, "0123456789")])
		node->type = NODE_INT;
	return node;
}

static struct node *default_value(struct arena *arena,
				  const struct native_type *type,
				  const struct native_default *row,
				  const struct node *map)
{
	const struct native_field *field =
		native_find(type, row->field, strlen(row->field));
	const struct node *from;

	if (*row->value == '$') {
		from = node_path(map, row->value + 1);
		return from ? typed_copy(arena, from) : NULL;
	}
	if (text_eq(row->value, "{}") && field)
		return native_struct(arena, field->type, NULL, map);
	if (field && field->form == 'q')
		return typed_text(arena, row->value, map);
	return constant(arena, row->value, map);
}

static struct node *parent_of(struct node *map, const char *path,
			      const char **name)
{
	const char *dot;

	for (; map && (dot = strchr(path, '.')); path = dot + 1)
		map = typed_find(map, path, (size_t)(dot - path));
	*name = path;
	return map;
}

void native_set_defaults(struct arena *arena, unsigned number, struct node *map)
{
	const struct native_type *type = &native_types[number];

	for (unsigned i = 0; i < type->nrows; i++) {
		const struct native_default *row =
			&native_defaults[type->row + i];
		const char *name;
		struct node *at = parent_of(map, row->field, &name);
		struct node *new, *old;

		if (!at || at->type != NODE_MAP || at->flags & NODE_UNKNOWN ||
		    !meets_condition(map, row->condition))
			continue;
		old = typed_find(at, name, strlen(name));
		if (!node_is_unset(old) && (old->type != NODE_STRING ||
					    old->len || node_is_unknown(old)))
			continue;
		if (old)
			node_unlink(at, old);
		new = default_value(arena, type, row, map);
		if (new)
			typed_put(at, name, new);
	}
}

/* --- special cases -------------------------------------------------------- */

static void finish_namespace(struct arena *arena, struct node *root)
{
	static const char key[] = "kubernetes.io/metadata.name";
	struct node *metadata = typed_find(root, "metadata", 8);
	const struct node *name = node_get(metadata, "name");
	struct node *labels = typed_find(metadata, "labels", 6);

	if (!name || node_get(labels, key))
		return;
	if (!labels) {
		labels = typed_new(arena, NODE_MAP, NULL, root);
		typed_put(metadata, "labels", labels);
	}
	typed_put(labels, key, typed_copy(arena, name));
}

/* Copies into the map `to` the entries of the map `from` whose keys it
 * lacks. */
static void fill_up(struct arena *arena, struct node *holder, const char *from,
		    const char *to)
{
	const struct node *values = node_get(holder, from);
	struct node *into = typed_find(holder, to, strlen(to));

	if (!node_is_map(values) || node_is_unknown(into))
		return;
	if (!into) {
		into = typed_new(arena, NODE_MAP, values, NULL);
		typed_put(holder, to, into);
	}
	FOR_EACH_CHILD(values, value)
		if (!node_getn(into, value->key, value->key_len))
			typed_keep(into, value, typed_copy(arena, value));
}

static void host_ports(struct arena *arena, struct node *container)
{
	struct node *ports = typed_find(container, "ports", 5), *port;

	for (port = ports ? ports->first : NULL; port; port = port->next) {
		const struct node *number = node_get(port, "containerPort");

		if (number && !node_get(port, "hostPort"))
			typed_put(port, "hostPort", typed_copy(arena, number));
	}
}

/*
 * True if the taint is tolerated
 * (plugin/pkg/admission/defaulttolerationseconds).
 */
static bool tolerates(const struct node *list, const char *taint)
{
	FOR_EACH_CHILD(list, toleration) {
		const struct node *key = node_get(toleration, "key");
		const struct node *effect = node_get(toleration, "effect");

		if ((node_is_unset(key) || node_eq(key, "") ||
		     node_eq(key, taint)) &&
		    (node_is_unset(effect) || node_eq(effect, "") ||
		     node_eq(effect, "NoExecute")))
			return true;
	}
	return false;
}

static void add_tolerations(struct arena *arena, struct node *list)
{
	static const char *const taints[] = {"node.kubernetes.io/not-ready",
					     "node.kubernetes.io/unreachable"};

	for (size_t i = 0; list && list->type == NODE_SEQ && i < 2; i++) {
		struct node *toleration;

		if (tolerates(list, taints[i]))
			continue;
		toleration = typed_new(arena, NODE_MAP, NULL, list);
		typed_put(toleration, "key",
			  typed_text(arena, taints[i], list));
		typed_put(toleration, "operator",
			  typed_text(arena, "Exists", list));
		typed_put(toleration, "effect",
			  typed_text(arena, "NoExecute", list));
		typed_put(toleration, "tolerationSeconds",
			  constant(arena, "300", list));
		node_append(list, toleration);
	}
}

static void finish_pod(struct arena *arena, struct node *pod)
{
	static const char *const lists[] = {"containers", "initContainers"};
	struct node *spec = typed_find(pod, "spec", 4), *container;
	bool host = node_is_true(node_get(spec, "hostNetwork"));

	add_tolerations(arena, typed_find(spec, "tolerations", 11));
	for (size_t i = 0; i < 2; i++) {
		struct node *list =
			typed_find(spec, lists[i], strlen(lists[i]));

		for (container = list ? list->first : NULL; container;
		     container = container->next) {
			fill_up(arena, typed_find(container, "resources", 9),
				"limits", "requests");
			if (host)
				host_ports(arena, container);
		}
	}
}

/* Sets the defaults of SetDefaults_LimitRangeItem. */
static void finish_limit_range(struct arena *arena, struct node *range)
{
	struct node *limits =
		typed_find(typed_find(range, "spec", 4), "limits", 6);
	struct node *item = limits ? limits->first : NULL;

	for (; item; item = item->next) {
		if (!node_eq(node_get(item, "type"), "Container"))
			continue;
		fill_up(arena, item, "max", "default");
		fill_up(arena, item, "default", "defaultRequest");
		fill_up(arena, item, "min", "defaultRequest");
	}
}

/* Moves the keys of stringData into data, where they are unknown, because the
 * API server encodes them as base64. */
static void finish_secret(struct arena *arena, struct node *secret)
{
	struct node *texts = typed_find(secret, "stringData", 10);
	struct node *data = typed_find(secret, "data", 4);

	if (!texts)
		return;
	node_unlink(secret, texts);
	if (!data) {
		data = typed_new(arena, NODE_MAP, texts, NULL);
		typed_put(secret, "data", data);
	}
	FOR_EACH_CHILD(texts, text)
		if (!node_getn(data, text->key, text->key_len))
			typed_keep(data, text, unknown(arena, text));
}

/* Adds the labels that the API server sets for a Job's pods, with unknown
 * values (PrepareForCreate). With `always`, adds them also if labels are
 * not set. */
static void label_job(struct arena *arena, struct node *metadata, bool always)
{
	static const char *const keys[] = {
		"controller-uid", "batch.kubernetes.io/controller-uid",
		"job-name", "batch.kubernetes.io/job-name"};
	struct node *labels = typed_find(metadata, "labels", 6);

	if (!labels && always) {
		labels = typed_new(arena, NODE_MAP, NULL, metadata);
		typed_put(metadata, "labels", labels);
	}
	for (size_t i = 0; labels && i < ARRAY_SIZE(keys); i++)
		if (!node_get(labels, keys[i]))
			typed_put(labels, keys[i], unknown(arena, labels));
}

/* Sets the labels of a Job's pods, unless manualSelector is set. A Job without
 * labels (labeled is false) has got the labels of its pods by default, and gets
 * these too. */
static void finish_job(struct arena *arena, struct node *job, bool labeled)
{
	struct node *spec = typed_find(job, "spec", 4);
	struct node *template = typed_find(spec, "template", 8);

	if (node_is_true(node_get(spec, "manualSelector")))
		return;
	label_job(arena, typed_find(template, "metadata", 8), true);
	if (!labeled)
		label_job(arena, typed_find(job, "metadata", 8), false);
}

/* Marks node ports as unknown, because the API server allocates them before it
 * evaluates policies. */
static void finish_service(struct arena *arena, struct node *service)
{
	struct node *spec = typed_find(service, "spec", 4);
	struct node *ports = typed_find(spec, "ports", 5), *port;
	const struct node *type = node_get(spec, "type");

	if (!ports ||
	    (!node_eq(type, "NodePort") && !node_eq(type, "LoadBalancer")))
		return;
	for (port = ports->first; port; port = port->next)
		if (node_is_map(port) && !node_get(port, "nodePort"))
			typed_put(port, "nodePort", unknown(arena, port));
}

/* Removes the phase that is set by default: the API server resets the status of
 * a new claim after it has set the defaults. */
static void finish_volume_claim(struct node *claim)
{
	struct node *status = typed_find(claim, "status", 6);
	struct node *phase = typed_find(status, "phase", 5);

	if (phase)
		node_unlink(status, phase);
}

/* Replaces the status by an empty one with its defaults, because a create
 * request cannot set it. */
static void reset_status(struct arena *arena, unsigned type, struct node *root)
{
	const struct native_field *field =
		native_find(&native_types[type], "status", 6);
	struct node *status = typed_find(root, "status", 6);

	if (!field || !status)
		return;
	node_unlink(root, status);
	typed_put(root, "status",
		  native_struct(arena, field->type, NULL, root));
	native_set_defaults(arena, type, root);
}

struct node *native_root(struct arena *arena, const struct native_kind *kind,
			 const struct node *from)
{
	struct node *root = native_struct(arena, kind->type, from, NULL);

	if (node_get(from, "status"))
		reset_status(arena, kind->type, root);
	if (text_eq(kind->kind, "Pod"))
		finish_pod(arena, root);
	else if (text_eq(kind->kind, "Job"))
		finish_job(arena, root,
			   node_count(node_path(from, "metadata.labels")));
	else if (text_eq(kind->kind, "Service"))
		finish_service(arena, root);
	else if (text_eq(kind->kind, "LimitRange"))
		finish_limit_range(arena, root);
	else if (text_eq(kind->kind, "PersistentVolumeClaim"))
		finish_volume_claim(root);
	else if (text_eq(kind->kind, "Namespace"))
		finish_namespace(arena, root);
	else if (text_eq(kind->kind, "Secret"))
		finish_secret(arena, root);
	return root;
}
