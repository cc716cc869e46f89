/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions: `exempt:`, documents of kind Exemptions, and those of admission
 * (`suppressions:`, `breakGlass:`, `controllers:`).
 *
 * An Exemptions document applies only to the namespaces it declares: a pattern
 * of an entry must be one of them, or a plain name that one of them matches.
 */
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "policy_read.h"
#include "rules/engine/date.h"

enum { WARN_DAYS = 14, MAX_DAYS = 3660 };

/* --- exempt --------------------------------------------------------------- */

static void read_namespaces(struct policy_reader *r, const struct node *node,
			    void *into)
{
	struct exemption *exemption = into;

	read_patterns(r, node, &exemption->namespaces);
}

static void read_kinds(struct policy_reader *r, const struct node *node,
		       void *into)
{
	struct exemption *exemption = into;

	read_patterns(r, node, &exemption->kinds);
}

static void read_names(struct policy_reader *r, const struct node *node,
		       void *into)
{
	struct exemption *exemption = into;

	read_patterns(r, node, &exemption->names);
}

static void read_exempt_rules(struct policy_reader *r, const struct node *node,
			      void *into)
{
	struct exemption *exemption = into;

	exemption->rules = read_rule_words(r, node);
}

static void read_reason(struct policy_reader *r, const struct node *node,
			void *into)
{
	struct exemption *exemption = into;

	exemption->reason = read_text(r, node);
}

static void warn_of_end(struct policy_reader *r, const struct node *node,
			int64_t until)
{
	int64_t left = until - r->today;

	if (left < 0)
		warning(r, node, "the exemption ended on %s", node->str);
	else if (left < WARN_DAYS)
		warning(r, node, "the exemption ends on %s, in %lld days",
			node->str, (long long)left);
}

static void read_until(struct policy_reader *r, const struct node *node,
		       void *into)
{
	struct exemption *exemption = into;
	const char *text = node_str(node);

	if (text && date_parse(text, node->len, &exemption->until))
		warn_of_end(r, node, exemption->until);
	else
		problem(r, node,
			"expected a date such as 2027-06-30, found %s%s",
			text ? "" : node_noun(node),
			text ? shown(r, text) : "");
}

static bool is_declared(const struct patterns *declared,
			const struct path_pattern *pattern)
{
	for (size_t i = 0; i < declared->n; i++)
		if (strcmp(declared->items[i].text, pattern->text) == 0)
			return true;
	return !strpbrk(pattern->text, "*?[{\\") &&
	       patterns_match(declared, pattern->text);
}

static void check_declared(struct policy_reader *r, const struct node *node,
			   struct exemption *exemption)
{
	const struct node *list = node_get(node, "namespaces");

	if (!r->declared)
		return;
	if (!exemption->namespaces.n) {
		exemption->namespaces = *r->declared;
		return;
	}
	for (size_t i = 0; i < exemption->namespaces.n; i++) {
		const struct path_pattern *one =
			&exemption->namespaces.items[i];

		if (!is_declared(r->declared, one))
			problem(r, list,
				"`%s` is not among the namespaces of "
				"this document",
				shown(r, one->text));
	}
}

static void read_exemption(struct policy_reader *r, const struct node *node,
			   void *unused)
{
	static const struct policy_field fields[] = {
		{"namespaces", read_namespaces, false},
		{"kinds", read_kinds, false},
		{"names", read_names, false},
		{"rules", read_exempt_rules, true},
		{"reason", read_reason, true},
		{"until", read_until, false},
		{0},
	};
	struct policy *policy = r->policy;
	struct exemption exemption = {.until = DATE_NONE,
				      .from = read_from(r, node)};

	read_fields(r, node, fields, &exemption);
	if (node_is_map(node) && !r->declared &&
	    node_is_unset(node_get(node, "namespaces")) &&
	    node_is_unset(node_get(node, "kinds")) &&
	    node_is_unset(node_get(node, "names")))
		problem(r, node,
			"an exemption needs namespaces, kinds or names");
	check_declared(r, node, &exemption);
	*VEC_PUSH(policy_arena(policy), policy->exemptions, policy->nexemptions,
		  policy->exemptions_size) = exemption;
}

void read_exempt(struct policy_reader *r, const struct node *node, void *unused)
{
	read_list(r, node, read_exemption, NULL);
}

static void skip(struct policy_reader *r, const struct node *node, void *unused)
{
}

static void read_declared(struct policy_reader *r, const struct node *node,
			  void *unused)
{
	read_patterns(r, node, r->declared);
}

void read_exemptions_document(struct policy_reader *r, const struct node *root)
{
	static const struct policy_field head[] = {
		{"apiVersion", skip, true},
		{"kind", skip, true},
		{"namespaces", read_declared, true},
		{"exempt", skip, true},
		{0},
	};
	struct patterns declared = {0};
	const struct node *exempt = node_get(root, "exempt");

	/* The namespaces first, wherever the key is. */
	r->declared = &declared;
	read_fields(r, root, head, NULL);
	if (!node_is_unset(exempt))
		read_exempt(r, exempt, NULL);
	r->declared = NULL;
}

/* --- suppressions --------------------------------------------------------- */

static void read_grant_rules(struct policy_reader *r, const struct node *node,
			     void *unused)
{
	r->policy->grant_rules = read_rule_words(r, node);
}

static void read_grant_namespaces(struct policy_reader *r,
				  const struct node *node, void *unused)
{
	read_patterns(r, node, &r->policy->grant_namespaces);
}

static void read_require_reason(struct policy_reader *r,
				const struct node *node, void *unused)
{
	read_bool(r, node, &r->policy->grant.require_reason);
}

static void read_max_days(struct policy_reader *r, const struct node *node,
			  void *unused)
{
	read_int(r, node, 1, MAX_DAYS, &r->policy->grant.max_days);
}

static void read_annotations(struct policy_reader *r, const struct node *node,
			     void *unused)
{
	static const struct policy_field fields[] = {
		{"rules", read_grant_rules, true},
		{"namespaces", read_grant_namespaces, false},
		{"requireReason", read_require_reason, false},
		{"maxDays", read_max_days, false},
		{0},
	};

	r->policy->has_grant = true;
	r->policy->grant.require_reason = true;
	read_fields(r, node, fields, NULL);
}

void read_suppressions(struct policy_reader *r, const struct node *node,
		       void *unused)
{
	static const struct policy_field fields[] = {
		{"annotations", read_annotations, false},
		{0},
	};

	read_fields(r, node, fields, NULL);
}

/* --- break glass, controllers --------------------------------------------- */

struct text_list {
	const char **items;
	size_t n, size;
};

static void add_text(struct policy_reader *r, const struct node *node,
		     void *into)
{
	struct text_list *list = into;
	const char *text = read_text(r, node);

	if (text)
		*VEC_PUSH(policy_arena(r->policy), list->items, list->n,
			  list->size) = text;
}

static void read_groups(struct policy_reader *r, const struct node *node,
			void *unused)
{
	struct text_list list = {0};

	read_list(r, node, add_text, &list);
	r->policy->break_glass.groups = list.items;
	r->policy->break_glass.ngroups = list.n;
}

/* prefix/name, both as Kubernetes has them; roughly. */
static bool is_annotation(const char *text)
{
	const char *slash = strchr(text, '/');
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_./";

	return !text[strspn(text, allowed)] && slash != text &&
	       (!slash || (slash[1] && !strchr(slash + 1, '/')));
}

static void read_annotation(struct policy_reader *r, const struct node *node,
			    void *unused)
{
	const char *text = read_text(r, node);

	if (text && !is_annotation(text))
		problem(r, node, "`%s` is not the name of an annotation",
			shown(r, text));
	else if (text)
		r->policy->break_glass.annotation = text;
}

void read_break_glass(struct policy_reader *r, const struct node *node,
		      void *unused)
{
	static const struct policy_field fields[] = {
		{"groups", read_groups, true},
		{"annotation", read_annotation, false},
		{0},
	};

	r->policy->has_break_glass = true;
	r->policy->break_glass.annotation = "gpugate.dev/break-glass";
	read_fields(r, node, fields, NULL);
}

/* system:serviceaccount:NAMESPACE:NAME, or another system: account. */
static bool is_account(const char *text)
{
	static const char prefix[] = "system:serviceaccount:";
	const char *name;

	if (!text_starts(text, prefix))
		return text_starts(text, "system:") && text[7];
	text += strlen(prefix);
	name = strchr(text, ':');
	return name && name != text && name[1] && !strchr(name + 1, ':');
}

static void read_controller(struct policy_reader *r, const struct node *node,
			    void *unused)
{
	struct policy *policy = r->policy;
	const char *text = read_text(r, node);

	if (text && !is_account(text))
		problem(r, node,
			"`%s` is not an account such as "
			"`system:serviceaccount:NAMESPACE:NAME`",
			shown(r, text));
	else if (text)
		*VEC_PUSH(policy_arena(policy), policy->controllers,
			  policy->ncontrollers, policy->controllers_size) =
			text;
}

void read_controllers(struct policy_reader *r, const struct node *node,
		      void *unused)
{
	read_list(r, node, read_controller, NULL);
}
