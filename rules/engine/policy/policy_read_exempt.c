/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads exceptions: `exempt:`, documents of kind Exemptions, and the keys for
 * admission (`suppressions:`, `breakGlass:`, `controllers:`).
 *
 * An Exemptions document applies only to the namespaces it declares: a pattern
 * of an entry must be one of them, or a plain name that one of them matches.
 */
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "policy_read.h"
#include "rules/engine/rule_word.h"

enum { WARN_DAYS = 14, MAX_DAYS = 3660 };

/* --- exempt --------------------------------------------------------------- */

static void warn_of_end(struct policy_reader *r, const struct node *node,
			int64_t until)
{
	int64_t left = until - r->today;

	if (left < 0)
		warning(r, node, "the exemption expired on %s", node->str);
	else if (left == 0)
		warning(r, node, "the exemption expires today, %s", node->str);
	else if (left < WARN_DAYS)
		warning(r, node, "the exemption expires on %s, in %lld day%s",
			node->str, (long long)left, left == 1 ? "" : "s");
}

static void read_until(struct policy_reader *r, const struct node *node,
		       void *into)
{
	const char *text = node_str(node);
	int64_t *until = into;

	if (text && date_parse(text, node->len, until))
		warn_of_end(r, node, *until);
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

static void warn_of_refused(struct policy_reader *r, const struct node *node)
{
	struct rule_word word = {0};

	if (node_str(node) && rule_word_parse(r->rules, node->str, &word) &&
	    word.rule &&
	    (rule_is_fixed(word.rule) || word.rule->flags & RULE_LOCKED))
		warning(r, node, "no exemption or annotation hides `%s`",
			word.rule->name);
}

/* Reads a word that selects a rule or one of its checks. */
static void read_exempt_word(struct policy_reader *r, const struct node *node,
			     void *into)
{
	struct exemption *exemption = into;
	struct rule_word word = {0};

	if (!node_str(node) || !rule_word_parse(r->rules, node->str, &word) ||
	    !word.check)
		read_rule_word(r, node, exemption->rules);
	else
		*VEC_PUSH(policy_arena(r->policy), exemption->checks,
			  exemption->nchecks, exemption->checks_size) = word;
	warn_of_refused(r, node);
}

static void read_exempt_rules(struct policy_reader *r, const struct node *node,
			      void *into)
{
	struct exemption *exemption = into;

	exemption->rules =
		ARENA_ARRAY(policy_arena(r->policy), bool, r->rules->n + 1);
	read_list(r, node, read_exempt_word, exemption);
}

static void read_granted_rules(struct policy_reader *r, const struct node *node,
			       void *into)
{
	field_rules(r, node, into);
	if (node_is_seq(node))
		FOR_EACH_CHILD(node, child)
			warn_of_refused(r, child);
}

#define IN_EXEMPTION(member) offsetof(struct exemption, member)

void read_exemption(struct policy_reader *r, const struct node *node,
		    void *unused)
{
	static const struct policy_field fields[] = {
		{"namespaces", field_patterns, 0, IN_EXEMPTION(namespaces)},
		{"kinds", field_patterns, 0, IN_EXEMPTION(kinds)},
		{"names", field_patterns, 0, IN_EXEMPTION(names)},
		{"rules", read_exempt_rules, REQUIRED, 0},
		{"reason", field_text, REQUIRED, IN_EXEMPTION(reason)},
		{"until", read_until, 0, IN_EXEMPTION(until)},
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

void read_exemptions_document(struct policy_reader *r, const struct node *root)
{
	static const struct policy_field head[] = {
		{"apiVersion", read_elsewhere, REQUIRED, 0},
		{"kind", read_elsewhere, REQUIRED, 0},
		{"namespaces", field_patterns, REQUIRED, 0},
		{"exempt", read_elsewhere, REQUIRED, 0},
		{0},
	};
	struct patterns declared = {0};
	const struct node *exempt = node_get(root, "exempt");

	/* Read the namespaces before the exemptions, whatever the order of the
	 * keys. */
	r->declared = &declared;
	read_fields(r, root, head, &declared);
	if (!node_is_unset(exempt))
		read_list(r, exempt, read_exemption, NULL);
	r->declared = NULL;
}

/* --- suppressions --------------------------------------------------------- */

static void read_max_days(struct policy_reader *r, const struct node *node,
			  void *into)
{
	read_int(r, node, 1, MAX_DAYS, into);
}

#define IN_POLICY(member) offsetof(struct policy, member)

static void read_annotations(struct policy_reader *r, const struct node *node,
			     void *unused)
{
	static const struct policy_field fields[] = {
		{"rules", read_granted_rules, REQUIRED, IN_POLICY(grant_rules)},
		{"namespaces", field_patterns, 0, IN_POLICY(grant_namespaces)},
		{"requireReason", field_flag, 0,
		 IN_POLICY(grant.require_reason)},
		{"maxDays", read_max_days, 0, IN_POLICY(grant.max_days)},
		{0},
	};

	r->policy->has_grant = true;
	r->policy->grant.require_reason = true;
	read_fields(r, node, fields, r->policy);
}

void read_suppressions(struct policy_reader *r, const struct node *node,
		       void *unused)
{
	static const struct policy_field fields[] = {
		{"annotations", read_annotations, 0, 0},
		{0},
	};

	read_fields(r, node, fields, r->policy);
}

/* --- break glass, controllers --------------------------------------------- */

static void read_groups(struct policy_reader *r, const struct node *node,
			void *unused)
{
	struct text_list list = {0};

	field_texts(r, node, &list);
	r->policy->break_glass.groups = list.items;
	r->policy->break_glass.ngroups = list.n;
}

/* True if the text has roughly the form of a Kubernetes key: prefix/name. */
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
		{"groups", read_groups, REQUIRED, 0},
		{"annotation", read_annotation, 0, 0},
		{0},
	};

	r->policy->has_break_glass = true;
	r->policy->break_glass.annotation = "gpugate.dev/break-glass";
	read_fields(r, node, fields, r->policy);
}

/* True for system:serviceaccount:NAMESPACE:NAME, or another system: account. */
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

void read_controller(struct policy_reader *r, const struct node *node,
		     void *unused)
{
	const char *text = read_text(r, node);

	if (text && !is_account(text))
		problem(r, node,
			"`%s` is not an account such as "
			"`system:serviceaccount:NAMESPACE:NAME`",
			shown(r, text));
	else if (text)
		add_text(r, &r->policy->controllers, text);
}
