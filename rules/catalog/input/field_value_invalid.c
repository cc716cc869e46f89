/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values outside an enumeration of Kubernetes' own types: `effect: NoShedule`,
 * `concurrencyPolicy: forbid`. The API server rejects a native object with such
 * a value. The schema of an operator's kind accepts it, and the API server
 * rejects its pods. At admission, native objects have already been rejected.
 */
#include <strings.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/field_value.h"

enum { MOST_LISTED = 8, SHORTEST = 5 };

/* "`Always`, `Never` or `OnFailure`" */
static const char *words(struct rule_run *run, const char *const *values)
{
	const char *list = NULL;

	for (size_t i = 0; values[i]; i++) {
		const char *between = !list	      ? ""
				      : values[i + 1] ? ", "
						      : " or ";

		list = arena_printf(rule_arena(run), "%s%s`%s`",
				    list ? list : "", between, values[i]);
	}
	return list;
}

static size_t count(const char *const *values)
{
	size_t n = 0;

	while (values[n])
		n++;
	return n;
}

/* In other letters, or of one or two others; NULL: no word, or one so short
 * that any word resembles it. */
static const char *nearest(const char *value, const char *const *values)
{
	for (size_t i = 0; values[i]; i++)
		if (!strcasecmp(value, values[i]))
			return values[i];
	if (strlen(value) < SHORTEST)
		return NULL;
	return text_nearest(value, values, count(values));
}

/* Returns "`effect`", or "`hostPath.type`" if the field alone is ambiguous. */
static const char *field_of(struct rule_run *run,
			    const struct value_issue *issue)
{
	const struct node *map = issue->at->parent;

	if (!text_eq(issue->field, "type") || !map->key)
		return issue->field;
	return arena_printf(rule_arena(run), "%s.%s", map->key, issue->field);
}

static void found(struct value_walk *walk, const struct value_issue *issue)
{
	struct rule_run *run = walk->context;
	const char *value = node_str(issue->at);
	const char *near = nearest(value, issue->values);
	const char *what;
	struct finding *f;

	/* restart-policy-invalid knows the words of an operator as well. */
	if (issue->pod && text_eq(issue->field, "restartPolicy"))
		return;
	what = arena_printf(rule_arena(run),
			    "`%s` is not a valid value of `%s`", value,
			    field_of(run, issue));
	if (near)
		what = arena_printf(rule_arena(run), "%s; did you mean `%s`?",
				    what, near);
	if (issue->c)
		f = report_container(run, issue->c, issue->at, "%s", what);
	else if (issue->pod)
		f = report_pod(run, issue->pod, issue->at, "%s", what);
	else
		f = report_object(run, issue->object, issue->at, "%s", what);
	if (count(issue->values) <= MOST_LISTED)
		finding_help(run, f, "Use %s.", words(run, issue->values));
}

static void check(struct rule_run *run, const struct object *object)
{
	struct value_walk walk = {.found = found,
				  .context = run,
				  .custom_only = rule_at_admission(run)};

	value_issues(&walk, object);
}

const struct rule rule_field_value_invalid = {
	.name = "field-value-invalid",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.since = "1.0",
	.summary = "a word that is not among the values of its field",
	.why = "The API server rejects the object, or the pods that an operator makes of it.",
	.remedy = "Use one of the values that the API documents; case matters.",
	.evidence =
		"enumerations of k8s.io/api v0.37.2 that kube-apiserver 1.37.2 enforces",
	.check_object = check,
};
