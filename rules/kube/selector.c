/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selectors as apimachinery matches them: label selectors (pkg/apis/meta/v1
 * LabelSelectorAsSelector), node selectors and tolerations
 * (component-helpers scheduling/corev1). NotIn and DoesNotExist match where
 * the key is absent.
 */
#include "kube/selector.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

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

/* Are two label values the same text? */
static enum tri same_text(const struct node *a, const struct node *b)
{
	if (node_is_unknown(a) || node_is_unknown(b))
		return TRI_UNKNOWN;
	return tri_from(a && b && a->str && b->str && a->len == b->len &&
			!memcmp(a->str, b->str, a->len));
}

static enum tri value_in(const struct node *values, const struct node *value)
{
	enum tri any = node_is_unknown(values) ? TRI_UNKNOWN : TRI_NO;

	FOR_EACH_CHILD(values, one)
		any = tri_or(any, same_text(one, value));
	return any;
}

/* Gt and Lt compare integers; anything else does not match. */
static enum tri number_compare(const struct node *values,
			       const struct node *value, bool greater)
{
	const struct node *bound = node_at(values, 0);
	char *end_a, *end_b;
	long long a, b;

	if (node_is_unknown(bound) || node_is_unknown(value))
		return TRI_UNKNOWN;
	if (!bound || !bound->str || !value || !value->str)
		return TRI_NO;
	a = strtoll(value->str, &end_a, 10);
	b = strtoll(bound->str, &end_b, 10);
	if (*end_a || *end_b || end_a == value->str || end_b == bound->str)
		return TRI_NO;
	return tri_from(greater ? a > b : a < b);
}

static enum tri expression_matches(const struct node *expression,
				   const struct node *labels)
{
	const struct node *key = node_get(expression, "key");
	const struct node *operator= node_get(expression, "operator");
	const struct node *values = node_get(expression, "values");
	const struct node *value;

	if (!node_str(key) || !node_str(operator))
		return TRI_UNKNOWN;
	value = node_get(labels, node_str(key));
	if (node_is_unknown(value) && !node_eq(operator, "Exists") &&
	    !node_eq(operator, "DoesNotExist"))
		return TRI_UNKNOWN;
	if (node_eq(operator, "Exists"))
		return tri_from(value != NULL);
	if (node_eq(operator, "DoesNotExist"))
		return tri_from(value == NULL);
	if (node_eq(operator, "In"))
		return value ? value_in(values, value) : TRI_NO;
	if (node_eq(operator, "NotIn"))
		return value ? tri_not(value_in(values, value)) : TRI_YES;
	if (node_eq(operator, "Gt") || node_eq(operator, "Lt"))
		return value ? number_compare(values, value,
					      node_eq(operator, "Gt"))
			     : TRI_NO;
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
	enum tri all = node_is_unknown(want) ? TRI_UNKNOWN : TRI_YES;

	FOR_EACH_CHILD(want, one)
		all = tri_and(all, same_text(one, node_get(labels, one->key)));
	return all;
}

enum tri label_selector_matches(const struct node *selector,
				const struct node *labels)
{
	if (node_is_unset(selector))
		return TRI_NO;
	if (node_is_unknown(selector))
		return TRI_UNKNOWN;
	return tri_and(map_matches(node_get(selector, "matchLabels"), labels),
		       expressions_match(node_get(selector, "matchExpressions"),
					 labels));
}

enum tri label_map_matches(const struct node *want, const struct node *labels)
{
	if (node_is_unknown(want))
		return TRI_UNKNOWN;
	return node_count(want) ? map_matches(want, labels) : TRI_NO;
}

static enum tri term_matches(const struct node *term, const struct node *labels)
{
	const struct node *expressions = node_get(term, "matchExpressions");
	const struct node *fields = node_get(term, "matchFields");

	if (node_is_unknown(term) || node_count(fields))
		return TRI_UNKNOWN;
	if (!node_count(expressions))
		return TRI_NO;
	return expressions_match(expressions, labels);
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

/* Toleration.ToleratesTaint: an empty key with Exists takes every key, an
 * empty effect every effect, Equal is the default operator. */
static enum tri tolerates(const struct node *toleration, const char *key,
			  const char *value, const char *effect)
{
	const struct node *t_key = node_get(toleration, "key");
	const struct node *t_effect = node_get(toleration, "effect");
	const struct node *t_value = node_get(toleration, "value");
	bool exists = node_eq(node_get(toleration, "operator"), "Exists");

	if (node_is_unknown(toleration) || node_is_unknown(t_key) ||
	    node_is_unknown(t_effect))
		return TRI_UNKNOWN;
	if (effect && node_str(t_effect) && *node_str(t_effect) &&
	    strcmp(node_str(t_effect), effect))
		return TRI_NO;
	if (!node_str(t_key) || !*node_str(t_key))
		return tri_from(exists);
	if (strcmp(node_str(t_key), key))
		return TRI_NO;
	if (exists || !value)
		return TRI_YES;
	if (node_is_unknown(t_value))
		return TRI_UNKNOWN;
	return tri_from(
		!strcmp(node_str(t_value) ? node_str(t_value) : "", value));
}

enum tri tolerations_tolerate(const struct node *tolerations, const char *key,
			      const char *value, const char *effect)
{
	enum tri any = node_is_unknown(tolerations) ? TRI_UNKNOWN : TRI_NO;

	FOR_EACH_CHILD(tolerations, toleration)
		any = tri_or(any, tolerates(toleration, key, value, effect));
	return any;
}

const struct node *toleration_of_key(const struct node *tolerations,
				     const char *key)
{
	FOR_EACH_CHILD(tolerations, toleration)
		if (node_eq(node_get(toleration, "key"), key))
			return toleration;
	return NULL;
}
