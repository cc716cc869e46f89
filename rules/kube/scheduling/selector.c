/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches selectors as apimachinery does: maps of labels (pkg/labels
 * SelectorFromSet), node selectors and tolerations (component-helpers
 * scheduling/corev1). NotIn and DoesNotExist match if the key is absent. Also
 * adds kubernetes.io/metadata.name to the labels of a namespace.
 */
#include "kube/scheduling/selector.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "doc/edit.h"

static enum tri tri_and(enum tri a, enum tri b)
{
	if (a == TRI_NO || b == TRI_NO)
		return TRI_NO;
	return a == TRI_UNKNOWN || b == TRI_UNKNOWN ? TRI_UNKNOWN : TRI_YES;
}

static enum tri tri_not(enum tri a)
{
	if (a == TRI_UNKNOWN)
		return TRI_UNKNOWN;
	return a == TRI_YES ? TRI_NO : TRI_YES;
}

/* Sets *text and *len to the text of a scalar; a label without a value (null)
 * has the value "". Returns false if the node is not a scalar. */
static bool text_of(const struct node *node, const char **text, size_t *len)
{
	*text = "";
	*len = 0;
	if (!node || node_is_map(node) || node_is_seq(node))
		return false;
	if (node_is_unset(node))
		return true;
	*text = node->str;
	*len = node->len;
	return true;
}

/* Returns whether two label values are equal. */
static enum tri same_text(const struct node *a, const struct node *b)
{
	const char *x, *y;
	size_t n, m;

	if (node_is_unknown(a) || node_is_unknown(b))
		return TRI_UNKNOWN;
	return tri_from(text_of(a, &x, &n) && text_of(b, &y, &m) && n == m &&
			!memcmp(x, y, n));
}

static enum tri value_in(const struct node *values, const struct node *value)
{
	enum tri any = node_is_unknown(values) ? TRI_UNKNOWN : TRI_NO;

	FOR_EACH_CHILD(values, one)
		any = tri_or(any, same_text(one, value));
	return any;
}

/* Parses an integer of 64 bits like Go's ParseInt(), without blanks. */
static bool integer(const struct node *node, long long *n)
{
	char *end;

	if (!node || !node->str || isspace((unsigned char)*node->str))
		return false;
	errno = 0;
	*n = strtoll(node->str, &end, 10);
	return !*end && end != node->str && !errno;
}

/* Evaluates Gt and Lt, which compare integers; other values do not match. */
static enum tri number_compare(const struct node *values,
			       const struct node *value, bool greater)
{
	const struct node *bound = node_at(values, 0);
	long long a, b;

	if (node_is_unknown(bound))
		return TRI_UNKNOWN;
	if (!integer(value, &a) || !integer(bound, &b))
		return TRI_NO;
	return tri_from(greater ? a > b : a < b);
}

static enum tri expression_matches(const struct node *expression,
				   const struct node *labels)
{
	const struct node *key = node_get(expression, "key");
	const struct node *op = node_get(expression, "operator");
	const struct node *values = node_get(expression, "values");
	const struct node *value;

	if (!node_str(key) || !node_str(op) || node_is_unknown(labels))
		return TRI_UNKNOWN;
	value = node_get(labels, node_str(key));
	if (node_eq(op, "Exists"))
		return tri_from(value != NULL);
	if (node_eq(op, "DoesNotExist"))
		return tri_from(value == NULL);
	if (node_eq(op, "NotIn") && !value)
		return TRI_YES;
	if (!value)
		return TRI_NO;
	if (node_is_unknown(value))
		return TRI_UNKNOWN;
	if (node_eq(op, "In"))
		return value_in(values, value);
	if (node_eq(op, "NotIn"))
		return tri_not(value_in(values, value));
	if (node_eq(op, "Gt") || node_eq(op, "Lt"))
		return number_compare(values, value, node_eq(op, "Gt"));
	return TRI_UNKNOWN;
}

static enum tri expressions_match(const struct node *expressions,
				  const struct node *labels)
{
	enum tri all = node_is_unknown(expressions) ? TRI_UNKNOWN : TRI_YES;

	FOR_EACH_CHILD(expressions, expression)
		all = tri_and(all, expression_matches(expression, labels));
	return all;
}

static enum tri map_matches(const struct node *want, const struct node *labels)
{
	enum tri all = TRI_YES;

	if (!node_is_unset(want) && !node_is_map(want))
		return TRI_UNKNOWN;
	FOR_EACH_CHILD(want, one)
		all = tri_and(all, same_text(one, node_get(labels, one->key)));
	return all;
}

enum tri label_map_matches(const struct node *want, const struct node *labels)
{
	if (node_is_unknown(want))
		return TRI_UNKNOWN;
	return node_count(want) ? map_matches(want, labels) : TRI_NO;
}

static bool is_of_operator(const char *key)
{
	static const char *const starts[] = {"job-", "replica-", "group-",
					     "controller-"};

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (text_starts(key, starts[i]))
			return true;
	return strchr(key, '/');
}

bool label_may_be_added(const char *key, enum more_labels more)
{
	return more == LABELS_ANY_MORE ||
	       (more == LABELS_OF_OPERATOR && is_of_operator(key));
}

/* Returns unknown instead of no if the label is not among the known ones but
 * may exist. */
static enum tri unless_more(enum tri matches, const struct node *labels,
			    const char *key, enum more_labels more)
{
	return key && !node_get(labels, key) && label_may_be_added(key, more)
		       ? TRI_UNKNOWN
		       : matches;
}

enum tri label_selector_matches(const struct node *selector,
				const struct node *labels,
				enum more_labels more)
{
	const struct node *want = node_get(selector, "matchLabels");
	const struct node *expressions = node_get(selector, "matchExpressions");
	enum tri all = TRI_YES;

	if (node_is_unset(selector))
		return TRI_NO;
	if (!node_is_map(selector) ||
	    (!node_is_unset(want) && !node_is_map(want)) ||
	    (!node_is_unset(expressions) && !node_is_seq(expressions)))
		return TRI_UNKNOWN;
	FOR_EACH_CHILD(want, one)
		all = tri_and(
			all,
			unless_more(same_text(one, node_get(labels, one->key)),
				    labels, one->key, more));
	FOR_EACH_CHILD(expressions, one)
		all = tri_and(all, unless_more(expression_matches(one, labels),
					       labels,
					       node_str(node_get(one, "key")),
					       more));
	return all;
}

/* Evaluates a term of a node affinity. An empty term matches no node. With
 * matchFields, the term at most may match, because their only field is
 * metadata.name, and names of nodes are unknown here. */
static enum tri term_matches(const struct node *term, const struct node *labels)
{
	const struct node *expressions = node_get(term, "matchExpressions");
	const struct node *fields = node_get(term, "matchFields");
	enum tri matches;

	if (node_is_unknown(term))
		return TRI_UNKNOWN;
	if (!node_is_unknown(expressions) && !node_count(expressions) &&
	    !node_is_unknown(fields) && !node_count(fields))
		return TRI_NO;
	matches = expressions_match(expressions, labels);
	if (node_is_unknown(fields) || node_count(fields))
		matches = tri_and(matches, TRI_UNKNOWN);
	return matches;
}

enum tri node_selector_matches(const struct node *selector,
			       const struct node *labels)
{
	const struct node *terms = node_get(selector, "nodeSelectorTerms");
	enum tri any = node_is_unknown(terms) ? TRI_UNKNOWN : TRI_NO;

	FOR_EACH_CHILD(terms, term)
		any = tri_or(any, term_matches(term, labels));
	return any;
}

/* Returns the text of a field; "" if it is unset, NULL if it is unknown. */
static inline const char *field(const struct node *toleration, const char *name)
{
	const struct node *node = node_get(toleration, name);

	if (node_is_unset(node))
		return "";
	return node_str(node);
}

/* Compares the values of toleration and taint, whose keys match. The default
 * operator is Equal. */
static enum tri value_tolerates(const struct node *toleration,
				const char *value)
{
	const char *op = field(toleration, "operator");
	const char *own = field(toleration, "value");

	if (!op)
		return TRI_UNKNOWN;
	if (!strcmp(op, "Exists"))
		return TRI_YES;
	/* Lt and Gt compare numbers if the cluster enables them, which is
	 * unknown. */
	if (*op && strcmp(op, "Equal") != 0)
		return TRI_UNKNOWN;
	if (!value)
		return TRI_YES;
	return own ? tri_from(!strcmp(own, value)) : TRI_UNKNOWN;
}

/* Returns whether the toleration tolerates the taint, like
 * Toleration.ToleratesTaint(). Without a key, Exists tolerates every key. A
 * toleration without an effect tolerates every effect. If one known field shows
 * that it does not match, the unknown ones do not matter. */
static enum tri tolerates(const struct node *toleration, const char *key,
			  const char *value, const char *effect)
{
	const char *own_key = field(toleration, "key"), *own_effect;
	enum tri matches = TRI_YES;

	if (node_is_unknown(toleration))
		return TRI_UNKNOWN;
	if (own_key && *own_key && strcmp(own_key, key) != 0)
		return TRI_NO;
	own_effect = field(toleration, "effect");
	if (effect && own_effect && *own_effect &&
	    strcmp(own_effect, effect) != 0)
		return TRI_NO;
	if (own_key && !*own_key &&
	    !node_is_unknown(node_get(toleration, "operator")) &&
	    !node_eq(node_get(toleration, "operator"), "Exists"))
		return TRI_NO;
	if (!own_key || (effect && !own_effect))
		matches = TRI_UNKNOWN;
	return tri_and(matches, value_tolerates(toleration, value));
}

enum tri tolerations_tolerate(const struct node *tolerations, const char *key,
			      const char *value, const char *effect)
{
	enum tri any = node_is_unknown(tolerations) ? TRI_UNKNOWN : TRI_NO;

	FOR_EACH_CHILD(tolerations, toleration)
		any = tri_or(any, tolerates(toleration, key, value, effect));
	return any;
}

const struct node *labels_with_namespace(struct arena *arena,
					 const struct node *labels,
					 const char *name)
{
	static const char key[] = "kubernetes.io/metadata.name";
	struct node *map = edit_map(arena);

	FOR_EACH_CHILD(labels, label)
		edit_member(arena, map, label->key, edit_copy(arena, label));
	if (!node_get(map, key))
		edit_member_string(arena, map, key, name);
	return map;
}
