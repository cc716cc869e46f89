/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports values that the types of Kubernetes do not allow: words outside of an
 * enumeration (`effect: NoShedule`), numbers out of range, names that are not
 * DNS labels, two items with one name, two sources of one volume. The API
 * server rejects native objects with them. The schema of an operator's kind
 * accepts them in pod templates, and the API server rejects the pods. Outside
 * of pods, words and values are reported that no release of a common operator
 * allows, or only releases before the one that the message names
 * (rules/kube/data/custom_types.tsv). At admission only words in operators'
 * kinds are checked: the API server checks native objects itself, and other
 * values would cost too much.
 */
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "cel/cel.h"
#include "engine/rule.h"
#include "kube/resources/volume.h"
#include "kube/typed.h"

enum { MOST_LISTED = 8, SHORTEST = 5 };

/* Returns a list such as "`Always`, `Never` or `OnFailure`". */
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

static size_t count_values(const char *const *values)
{
	size_t n = 0;

	while (values[n])
		n++;
	return n;
}

/* Returns a word that differs only in case, or is similar. NULL if there is
 * none, or if the text is so short that it resembles any word. */
static const char *nearest_value(const char *value, const char *const *values)
{
	for (size_t i = 0; values[i]; i++)
		if (!strcasecmp(value, values[i]))
			return values[i];
	if (strlen(value) < SHORTEST)
		return NULL;
	return text_nearest(value, values, count_values(values));
}

/* Returns "`effect`", or "`hostPath.type`" if the field alone is ambiguous. */
static const char *field_of(struct rule_run *run,
			    const struct value_issue *issue)
{
	const struct node *map = issue->at->parent;

	if (strcmp(issue->field, "type") != 0 || !map->key)
		return issue->field;
	return arena_printf(rule_arena(run), "%s.%s", map->key, issue->field);
}

/* Returns "`Exist` is not a valid value of `operator`; did you mean
 * `Exists`?" */
static const char *message(struct rule_run *run,
			   const struct value_issue *issue)
{
	const char *value = node_str(issue->at);
	const char *near = nearest_value(value, issue->values);
	const char *text = arena_printf(rule_arena(run),
					"`%s` is not a valid value of `%s`",
					value, field_of(run, issue));

	if (near)
		text = arena_printf(rule_arena(run), "%s; did you mean `%s`?",
				    text, near);
	return text;
}

/* True for a negative number of pods, which field-type-invalid reports. */
static bool is_negative_count(const struct value_issue *issue)
{
	const struct object *object = issue->object;
	const struct node *map = issue->at->parent;
	int64_t n;

	if (!object->npods || object->pods_inferred ||
	    (!text_eq(issue->at->key, "replicas") &&
	     !text_eq(issue->at->key, "numOfHosts")) ||
	    !node_int(issue->at, &n) || n >= 0)
		return false;
	FOR_EACH_POD(object, pod)
		if (pod->group == map)
			return true;
	return map == node_get(object->root, "spec");
}

/* True if another rule reports it with a better message: the restartPolicy of a
 * pod, a mount at /dev/shm, the implementation of MPI, or a negative number of
 * pods. */
static bool is_said(const struct value_issue *issue)
{
	return is_negative_count(issue) ||
	       (issue->pod && !strcmp(issue->field, "restartPolicy")) ||
	       !strcmp(issue->field, "mpiImplementation") ||
	       (text_eq(issue->at->key, "mountPath") &&
		node_eq(issue->at, SHM_PATH));
}

/* Returns the message about a constraint of a custom kind, whose definition the
 * API server has; NULL if the cluster's release of the operator lacks it. */
static const char *message_of_custom(struct rule_run *run,
				     const struct value_issue *issue,
				     bool *certain)
{
	const char *name,
		*text = arena_printf(rule_arena(run),
				     "%s: the API server rejects the %s",
				     issue->text, issue->object->kind);

	if (!issue->since)
		return text;
	switch (rule_operator_is_at_least(run, issue->object, issue->since,
					  &name)) {
	case TRI_YES:
		return text;
	case TRI_NO:
		return NULL;
	default:
		*certain = false;
		return name ? arena_printf(rule_arena(run),
					   "%s with %s %s and later", text,
					   name, issue->since)
			    : NULL;
	}
}

static void found(struct value_walk *walk, const struct value_issue *issue)
{
	struct rule_run *run = walk->context;
	const char *text = issue->text ? issue->text : message(run, issue);
	bool of_kind = walk->custom && !issue->pod && !issue->c;
	bool newer = of_kind && rule_operator_is_newer(run, issue->object);
	bool certain = !newer;
	struct finding *f;

	if (of_kind && issue->text)
		text = message_of_custom(run, issue, &certain);
	if (!text || is_said(issue) ||
	    (walk->custom && rule_input_defines_kind(run, issue->object)))
		return;
	if (issue->c)
		f = report_container(run, issue->c, issue->at, "%s", text);
	else if (issue->pod)
		f = report_pod(run, issue->pod, issue->at, "%s", text);
	else
		f = report_object(run, issue->object, issue->at, "%s%s", text,
				  newer ? OF_KNOWN_VERSIONS : "");
	if (text_eq(issue->field, "resourceClaims") &&
	    node_get(issue->at->parent, "source"))
		finding_help(
			run, f,
			"Move the fields of `source` one level up, next to "
			"`name`: Kubernetes 1.31 removed `source`.");
	if (issue->values && count_values(issue->values) <= MOST_LISTED)
		finding_help(run, f, "Use %s.", words(run, issue->values));
	if (!certain)
		finding_severity(f, SEVERITY_WARNING);
}

static bool mismatches(struct value_walk *walk, const char *pattern,
		       const struct node *text)
{
	return cel_regex_mismatches(walk->arena, pattern, text->str, text->len);
}

static void check(struct rule_run *run, const struct object *object)
{
	struct value_walk walk = {.found = found,
				  .mismatches = mismatches,
				  .context = run,
				  .arena = rule_arena(run),
				  .custom_only = rule_at_admission(run)};

	if (!walk.custom_only) {
		if (!rule_may_find(run, TYPED_VALUES))
			return;
		walk.defined = rule_has_definition(run, object);
	}
	value_issues(&walk, object);
	/* At admission, the API server checks the pods when they are
	 * created. */
	if (rule_at_admission(run))
		return;
	walk.check = VALUE_CONSTRAINTS;
	value_issues(&walk, object);
}

const struct rule rule_field_value_invalid = {
	.name = "field-value-invalid",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.summary =
		"a value that its field does not allow, or that excludes another one",
	.why = "The API server rejects the object, or the pods that an operator creates from it.",
	.remedy =
		"Correct or remove the value. The API reference of Kubernetes, or of the operator for its own kinds, lists the allowed values.",
	.evidence =
		"enumerations of k8s.io/api v0.37.2 that kube-apiserver 1.37.2 enforces; enumerations and constraints of operators' definitions (rules/kube/data/custom_types.tsv); https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/validation; observed on kube-apiserver 1.37.2",
	.check_object = check,
};
