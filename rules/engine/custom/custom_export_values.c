/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes parameters as a literal, and the list of an object's pods according to
 * the table of kinds. The type of `params` is dyn, as in the rule. In a literal
 * with values of several types, each value is converted to dyn, as the API
 * server requires.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "custom_internal.h"
#include "kube/typed.h"

/* --- literals ------------------------------------------------------------- */

void export_quoted(struct buf *out, const char *text, size_t len)
{
	buf_addc(out, '\'');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == 0x7f)
			buf_addf(out, "\\u%04x", c);
		else
			buf_addf(out, c == '\'' || c == '\\' ? "\\%c" : "%c",
				 c);
	}
	buf_addc(out, '\'');
}

/* True if the children have one type, which is not a list or map. */
static bool is_alike(const struct node *node)
{
	const struct node *first = node_first(node);

	FOR_EACH_CHILD(node, child)
		if (child->type != first->type || child->type == NODE_MAP ||
		    child->type == NODE_SEQ)
			return false;
	return true;
}

static void put_value(struct buf *out, const struct node *node, bool dyn);

static void put_children(struct buf *out, const struct node *node)
{
	bool dyn = !is_alike(node);

	FOR_EACH_CHILD(node, child) {
		if (child != node_first(node))
			buf_adds(out, ", ");
		if (node->type == NODE_MAP) {
			export_quoted(out, child->key, child->key_len);
			buf_adds(out, ": ");
		}
		put_value(out, child, dyn);
	}
}

static void put_value(struct buf *out, const struct node *node, bool dyn)
{
	int64_t integer;

	buf_adds(out, dyn ? "dyn(" : "");
	switch ((enum node_type)node->type) {
	case NODE_STRING:
		export_quoted(out, node->str, node->len);
		break;
	case NODE_INT:
	case NODE_FLOAT:
		/* An integer beyond 64 bits is a double as well. */
		buf_addf(out, node_int(node, &integer) ? "%s" : "double('%s')",
			 node->str);
		break;
	case NODE_MAP:
	case NODE_SEQ:
		buf_addc(out, node->type == NODE_MAP ? '{' : '[');
		put_children(out, node);
		buf_addc(out, node->type == NODE_MAP ? '}' : ']');
		break;
	case NODE_NULL:
		buf_adds(out, "null");
		break;
	default:
		buf_adds(out, node->str);
	}
	buf_adds(out, dyn ? ")" : "");
}

/* Writes the policy's value in the form that the parameter's type requires. */
static void put_given(struct buf *out, const char *type, const char *text)
{
	if (*type == 'i' || *type == 'b') {
		buf_addf(out, "dyn(%s)", text);
		return;
	}
	buf_adds(out, *type == 'l' ? "dyn([" : "dyn(");
	while (*text || *type != 'l') {
		size_t len = *type == 'l' ? strcspn(text, ",") : strlen(text);

		export_quoted(out, text, len);
		text += len + (text[len] == ',');
		if (*type != 'l')
			break;
		buf_adds(out, *text ? ", " : "");
	}
	buf_adds(out, *type == 'l' ? "])" : ")");
}

void export_params(struct custom_export *e, struct buf *out)
{
	const struct rule_param *declared = e->rule->rule.params;
	size_t k = 0;

	buf_adds(out, "dyn({");
	FOR_EACH_CHILD(e->rule->params, child) {
		bool known = declared && declared[k].name == child->key;

		if (child != node_first(e->rule->params))
			buf_adds(out, ", ");
		export_quoted(out, child->key, child->key_len);
		buf_adds(out, ": ");
		if (known && strcmp(e->given[k], declared[k].value) != 0)
			put_given(out, declared[k].type, e->given[k]);
		else
			put_value(out, child, true);
		k += known;
	}
	buf_adds(out, "})");
}

/* --- pods ----------------------------------------------------------------- */

static bool is_wildcard(const char *step)
{
	return !strcmp(step, "[]") || !strcmp(step, "*");
}

/* Writes the steps up to the next wildcard, each after dot: `.?a.?b` or `.a.b`.
 * Returns their number. */
static size_t put_fields(struct buf *out, const char *const *steps,
			 const char *dot)
{
	size_t n = 0;

	for (; steps[n] && !is_wildcard(steps[n]); n++)
		buf_addf(out, "%s%s", dot, steps[n]);
	return n;
}

/*
 * Writes a list of the values at the steps below each item of a list or value
 * of a map.
 */
static void put_items(struct buf *out, const struct buf *collection,
		      const char *const *steps)
{
	bool list = !strcmp(steps[0], "[]");
	struct buf item;

	buf_init(&item);
	buf_addf(&item, list ? "item" : "%s[key]", collection->data);
	buf_addf(out, ".orValue(%s)\n.map(%s, ", list ? "[]" : "{}",
		 list ? "item" : "key");
	if (steps[1]) {
		buf_adds(out, item.data);
		put_fields(out, steps + 1, ".?");
		buf_adds(out, ".hasValue(), ");
	}
	buf_adds(out, item.data);
	put_fields(out, steps + 1, ".");
	buf_addc(out, ')');
	buf_release(&item);
}

/* Writes a list of the present values at the steps below the object. */
static void put_path(struct buf *out, const char *const *steps)
{
	struct buf before;
	size_t n;

	buf_init(&before);
	buf_adds(&before, "object");
	n = put_fields(&before, steps, ".");
	buf_adds(out, steps[n] ? "object" : n ? "[?object" : "[object");
	put_fields(out, steps, ".?");
	if (steps[n])
		put_items(out, &before, steps + n);
	else
		buf_addc(out, ']');
	buf_release(&before);
}

/* Returns the expression for the pods of one kind. Sets e->why if the kind
 * cannot be exported. */
static const char *pods_of(struct custom_export *e, const char *group,
			   const char *kind)
{
	struct buf text;
	const char *why, *kept;
	size_t n;
	const struct pod_path *paths =
		kind_pod_paths(e->arena, group, kind, &n, &why);

	buf_init(&text);
	for (size_t i = 0; i < n; i++) {
		if (paths[i].boxes && e->rule->each == EACH_CONTAINER)
			why = "its operator names containers in fields of its own";
		buf_adds(&text, i ? "\n+ " : "");
		put_path(&text, paths[i].steps);
		if (paths[i].is_spec)
			buf_adds(&text, ".map(spec, {'spec': spec})");
	}
	if (why)
		e->why = arena_printf(e->arena, "%s: %s", kind, why);
	kept = arena_strdup(e->arena, text.data);
	buf_release(&text);
	return kept;
}

/*
 * Writes a branch of a conditional: for the kinds whose pods have the same
 * paths as those of the i-th kind, the expression for their pods. Writes
 * nothing if an earlier kind has the same paths, and no condition if all kinds
 * have them.
 */
static void put_alike(struct buf *out, const struct custom_kind *kinds,
		      const char *const *pods, size_t n, size_t i)
{
	bool first = true, all = true;

	for (size_t k = 0; k < n; k++) {
		all &= !strcmp(pods[k], pods[i]);
		if (k < i && !strcmp(pods[k], pods[i]))
			return;
	}
	if (all) {
		buf_adds(out, pods[i]);
		return;
	}
	for (size_t k = i; k < n; k++) {
		if (strcmp(pods[k], pods[i]) != 0)
			continue;
		buf_addf(out, "%s'%s/%s'",
			 first ? "request.kind.group + '/' + "
				 "request.kind.kind in ["
			       : ", ",
			 kinds[k].group, kinds[k].kind);
		first = false;
	}
	buf_addf(out, "]\n? %s\n: ", pods[i]);
}

void export_pods(struct custom_export *e, struct buf *out)
{
	const char **pods = ARENA_ARRAY(e->arena, const char *, e->nkinds + 1);

	for (size_t i = 0; i < e->nkinds; i++)
		pods[i] = pods_of(e, e->kinds[i].group, e->kinds[i].kind);
	for (size_t i = 0; i < e->nkinds; i++)
		put_alike(out, e->kinds, pods, e->nkinds, i);
	if (out->len > 1 && out->data[out->len - 2] == ':')
		buf_adds(out, "[]");
}
