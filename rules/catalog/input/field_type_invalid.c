/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports values of a wrong type: an env value that is a number, a nodeSelector
 * or label that is a boolean, containers that are not a list, replicas as text.
 * The API server rejects them ("json: cannot unmarshal number into Go struct
 * field EnvVar.value of type string"). Missing quotes in YAML are the usual
 * cause.
 *
 * Observed on kube-apiserver, for custom resources with their CRDs' schemas.
 * The API server decodes an object before it calls a webhook, so only numbers
 * of pods, which other rules use, are checked at admission.
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/typed.h"

/* Returns "`env`", or "`key` of `labels`", or "item 2 of `args`". */
static const char *name_of(struct rule_run *run,
			   const struct field_issue *issue)
{
	const struct node *at = issue->at;

	if (!at->key)
		return arena_printf(rule_arena(run), "item %u of `%s`",
				    at->index + 1, issue->field);
	if (text_ends(issue->field, at->key))
		return arena_printf(rule_arena(run), "`%s`", issue->field);
	return arena_printf(rule_arena(run), "`%s` of `%s`", at->key,
			    issue->field);
}

static bool is_plain(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("+-._", c));
}

/* Returns the scalar as the file spells it ("on", "1.0"), which YAML reads as
 * another value; NULL if only the position of an enclosing string is
 * known. */
static const char *spelling(struct rule_run *run, const struct object *object,
			    const struct node *at)
{
	const struct source *source = object->doc->source;

	if (!source || at->end > source->len || at->start >= at->end)
		return NULL;
	for (size_t i = at->start; i < at->end; i++)
		if (!is_plain(source->text[i]))
			return NULL;
	return arena_strndup(rule_arena(run), source->text + at->start,
			     at->end - at->start);
}

static void suggest_quotes(struct rule_run *run, struct finding *f,
			   const struct object *object, const struct node *at)
{
	const char *text = spelling(run, object, at);

	if (text)
		finding_help(run, f, "Put it in quotes: `\"%s\"`.", text);
	else
		finding_help(run, f, "Put it in quotes.");
}

static void found(struct field_walk *walk, const struct field_issue *issue)
{
	struct rule_run *run = walk->context;
	const struct node *at = issue->at;
	const char *name = name_of(run, issue);
	/* A number of the wrong type is shown, and only the type of other
	 * values. */
	const char *is = at->str && text_starts(issue->wanted, "an integer") &&
					 at->type != NODE_STRING
				 ? at->str
				 : node_type_text(at);
	bool newer = walk->custom && !issue->pod && !issue->c &&
		     rule_operator_is_newer(run, issue->object);
	struct finding *f;

	if (walk->custom && rule_input_defines_kind(run, issue->object))
		return;
	if (issue->c)
		f = report_container(run, issue->c, at, "%s must be %s, not %s",
				     name, issue->wanted, is);
	else if (issue->pod)
		f = report_pod(run, issue->pod, at, "%s must be %s, not %s",
			       name, issue->wanted, is);
	else
		f = report_object(
			run, issue->object, at, "%s must be %s, not %s%s", name,
			issue->wanted, is, newer ? OF_KNOWN_VERSIONS : "");
	if (!strcmp(issue->wanted, "a string") && at->str)
		suggest_quotes(run, f, issue->object, at);
	if (newer)
		finding_severity(f, SEVERITY_WARNING);
}

static void check(struct rule_run *run, const struct object *object)
{
	struct field_walk walk = {.found = found,
				  .context = run,
				  .counts_only = rule_at_admission(run)};

	if (!walk.counts_only) {
		walk.defined = rule_has_definition(run, object);
		walk.valid = !rule_may_find(run, TYPED_TYPES);
	}
	field_issues(&walk, object);
}

const struct rule rule_field_type_invalid = {
	.name = "field-type-invalid",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.summary = "a value of a type that the API server rejects",
	.why = "The object is rejected: the API server cannot decode the value. It calls webhooks only for objects that it could decode, so gpugated checks only the fields that give a number of pods.",
	.remedy =
		"Write the value in the type of the field. Text that looks like a number or a boolean needs quotes.",
	.evidence = "observed on kube-apiserver 1.37.2",
	.check_object = check,
};
