/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities that the API server rejects: text that does not parse (`1Zi`,
 * `8GB`, empty), a negative amount, a cpu, memory or storage request above its
 * limit. In a custom resource it also rejects a fraction written as a number
 * (`cpu: 0.5`), because its schema takes integers and strings.
 *
 * Sources: apimachinery pkg/api/resource ("quantities must match the regular
 * expression"); pkg/apis/core/validation; observed on kube-apiserver.
 */
#include "base/array.h"
#include "engine/rule.h"
#include "kube/field_type.h"

/* Units as people write them, and as Kubernetes does. */
static const char *const units[][2] = {
	{"kb", "k"},   {"mb", "Mi"},  {"gb", "Gi"},  {"tb", "Ti"},
	{"kib", "Ki"}, {"mib", "Mi"}, {"gib", "Gi"}, {"tib", "Ti"},
	{"ki", "Ki"},  {"mi", "Mi"},  {"gi", "Gi"},  {"ti", "Ti"},
	{"g", "G"},    {"t", "T"},    {"zi", "Gi"},  {"b", ""},
	{"cpu", ""},   {"cpus", ""},  {"cores", ""},
};

/* A spelling that is probably meant ("8GB": "8Gi"), or NULL. */
static const char *quantity_suggest(struct arena *arena,
				    const struct node *node)
{
	const char *text = node_str(node);
	size_t digits, blank;

	if (!text)
		return NULL;
	text += strspn(text, " ");
	digits = strspn(text, "0123456789.");
	blank = strspn(text + digits, " ");
	for (size_t i = 0; digits && i < ARRAY_SIZE(units); i++) {
		struct quantity q;
		char *made;

		if (strcasecmp(text + digits + blank, units[i][0]))
			continue;
		made = arena_printf(arena, "%.*s%s", (int)digits, text,
				    units[i][1]);
		return quantity_parse(made, strlen(made), &q) ? made : NULL;
	}
	return NULL;
}

static struct finding *report_issue(struct rule_run *run,
				    const struct quantity_issue *issue,
				    const char *what)
{
	const struct node *at = issue->at;
	const char *key = at->key ? at->key : "";
	const char *text =
		at->str ? arena_printf(rule_arena(run), "`%s: %s` %s", key,
				       at->str, what)
			: arena_printf(rule_arena(run),
				       "`%s` is %s, not a quantity", key,
				       node_type_text(at));

	if (issue->c)
		return report_container(run, issue->c, at, "%s", text);
	if (issue->pod)
		return report_pod(run, issue->pod, at, "%s", text);
	return report_object(run, issue->object, at, "%s", text);
}

static void found(struct quantity_walk *walk,
		  const struct quantity_issue *issue)
{
	static const char *const what[] = {
		[QUANTITY_NO_QUANTITY] = "is not a quantity",
		[QUANTITY_NOT_IN_CRD] =
			"is rejected in a custom resource, which accepts integers and strings",
		[QUANTITY_NEGATIVE] = "is negative",
		[QUANTITY_ABOVE_LIMIT] = "is requested above its limit",
	};
	struct rule_run *run = walk->context;
	const struct node *at = issue->at;
	const char *better = quantity_suggest(rule_arena(run), at);
	struct finding *f;

	/* Kueue's webhook writes numbers as strings. */
	if (issue->fault == QUANTITY_NOT_IN_CRD && at->type != NODE_STRING &&
	    (issue->object->kueue ||
	     object_kind_has(issue->object, KIND_NUMBERS)))
		return;
	/* gpu-fractional-quantity reports it. */
	if (issue->fault != QUANTITY_NO_QUANTITY &&
	    accelerator_find(rule_accelerators(run), at->key))
		return;
	f = report_issue(run, issue, what[issue->fault]);
	finding_cause(run, f, at->key);
	if (issue->limit)
		finding_label(run, f, issue->limit, "the limit");
	if (issue->fault == QUANTITY_NOT_IN_CRD && at->type != NODE_STRING)
		finding_help(run, f, "put it in quotes: `\"%s\"`", at->str);
	else if (issue->fault == QUANTITY_NO_QUANTITY && better)
		finding_help(run, f, "write `%s`", better);
}

static void check(struct rule_run *run, const struct object *object)
{
	struct quantity_walk walk = {.found = found, .context = run};

	quantity_issues(&walk, object);
}

const struct rule rule_quantity_invalid = {
	.name = "quantity-invalid",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.since = "1.0",
	.summary = "a quantity that the API server rejects",
	.why = "The object is rejected, or its operator cannot create the pods.",
	.remedy =
		"Write an integer, a decimal number or a number with a Kubernetes suffix: 500m, 1.5, 8Gi, 8G.",
	.evidence =
		"https://github.com/kubernetes/apimachinery/tree/master/pkg/api/resource; https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/validation; observed on kube-apiserver 1.37.2",
	.check_object = check,
};
