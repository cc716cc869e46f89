/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the annotations gpugate.dev/ignore, -reason and -until of an object or
 * a template in it. An object's annotation covers all findings of the object
 * and of those it embeds. A template's annotation covers findings inside of the
 * template. The annotation of a pod template also covers findings about fields
 * of its role (a replica spec's restartPolicy).
 *
 * Places are compared by JSON Pointer within a document: nodes are freed when
 * the next document is read.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "suppress_internal.h"

static const char ignore_key[] = "gpugate.dev/ignore";
static const char reason_key[] = "gpugate.dev/ignore-reason";
static const char until_key[] = "gpugate.dev/ignore-until";

/* True if the pointer inner is equal to outer or below it. */
static bool is_below(const char *inner, const char *outer)
{
	size_t len = strlen(outer);

	return strncmp(inner, outer, len) == 0 &&
	       (!inner[len] || inner[len] == '/');
}

static void read_terms(struct suppressions *s, const struct node *annotations,
		       struct suppress_clause *clause)
{
	const struct node *reason = node_get(annotations, reason_key);
	const struct node *until = node_get(annotations, until_key);
	const char *text = node_str(reason);
	size_t len = text ? strlen(text) : 0;

	clause->reason = "";
	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	if (len)
		clause->reason = arena_strndup(s->arena, text, len);
	else if (!node_is_unknown(reason))
		clause->problem = "annotation `gpugate.dev/ignore-reason` is "
				  "missing";
	if (node_is_unset(until))
		return;
	text = node_str(until);
	if (!text || !date_parse(text, until->len, &clause->until)) {
		clause->problem =
			"`gpugate.dev/ignore-until` needs a date, for "
			"example \"2027-01-31\"";
		clause->broken = true;
	}
}

static void read_clause(struct suppressions *s, const struct node *annotations,
			const struct node *ignore,
			struct suppress_clause *clause)
{
	const char *text = node_str(ignore);

	clause->start = ignore->start;
	clause->end = ignore->end;
	clause->until = DATE_NONE;
	if (text)
		suppress_read_words(s->arena, text, strlen(text),
				    &clause->words);
	if (clause->words.n && clause->words.n < SUPPRESS_WORDS_MAX) {
		read_terms(s, annotations, clause);
		return;
	}
	clause->problem = clause->words.n
				  ? "`gpugate.dev/ignore` names too many rules"
				  : "`gpugate.dev/ignore` names no rule";
	clause->broken = true;
}

static bool is_noted(const struct suppressions *s,
		     const struct suppress_annotation *one)
{
	for (size_t i = s->nannotations; i-- > 0;) {
		const struct suppress_annotation *other = &s->annotations[i];

		if (other->clause.document != one->clause.document)
			break; /* annotations are in the order of documents */
		if (other->clause.start == one->clause.start &&
		    strcmp(other->object, one->object) == 0 &&
		    text_eq(other->template, one->template))
			return true;
	}
	return false;
}

/* Adds an annotation. template is NULL for the object itself; role is NULL if
 * it is not about pods. */
static void note_annotation(struct suppressions *s, const struct object *object,
			    const struct node *metadata,
			    const struct node *template, const char *role)
{
	const struct node *annotations = node_get(metadata, "annotations");
	const struct node *ignore = node_get(annotations, ignore_key);
	struct suppress_annotation one = {
		.clause.document = object->doc->number,
	};

	if (node_is_unset(ignore) || node_is_unknown(ignore))
		return;
	one.clause.start = ignore->start;
	one.clause.pointer = node_pointer_text(s->arena, ignore);
	one.clause.named_path = node_named_path(ignore, object->root);
	one.clause.id = finding_id(s->arena, object);
	one.object = node_pointer_text(s->arena, object->root);
	if (template)
		one.template = node_pointer_text(s->arena, template);
	one.of_pods = role;
	one.role = arena_strdup(s->arena, text_or_empty(role));
	if (is_noted(s, &one))
		return;
	read_clause(s, annotations, ignore, &one.clause);
	*VEC_PUSH(s->arena, s->annotations, s->nannotations,
		  s->annotations_size) = one;
}

/* Adds the annotations of outer templates (a CronJob's Job template), which the
 * owner of the pods gets. */
static void note_around(struct suppressions *s, const struct object *object,
			const struct node *template)
{
	const struct node *at = template;

	if (at == object->root)
		return;
	while ((at = at->parent) && at != object->root)
		if (node_is_map(at) && node_get(at, "metadata"))
			note_annotation(s, object, node_get(at, "metadata"), at,
					NULL);
}

/* True if the object's annotations were read before; else records that they are
 * read now. The caller reads them for each finding, and this makes it search
 * the pods only once. */
static bool is_seen(struct suppressions *s, const struct object *object)
{
	if (s->seen_document != object->doc->number)
		s->nseen = 0;
	s->seen_document = object->doc->number;
	for (size_t i = s->nseen; i-- > 0;)
		if (s->seen[i] == object->root)
			return true;
	*VEC_PUSH(s->arena, s->seen, s->nseen, s->seen_size) = object->root;
	return false;
}

void suppressions_object(struct suppressions *s, const struct object *object)
{
	const struct node *own = node_get(object->root, "metadata");

	if (!object->doc || object->doc->host || is_seen(s, object))
		return;
	if (own)
		note_annotation(s, object, own, NULL, NULL);
	FOR_EACH_POD(object, pod) {
		if (pod->template && pod->metadata && pod->metadata != own)
			note_annotation(s, object, pod->metadata, pod->template,
					text_or_empty(pod->role));
		if (pod->template)
			note_around(s, object, pod->template);
	}
	if (object->parent)
		suppressions_object(s, object->parent);
}

static bool annotation_matches(const struct suppress_annotation *one,
			       const char *object,
			       const struct finding *finding)
{
	if (!one->template)
		return is_below(object, one->object);
	if (is_below(finding->place.pointer, one->template))
		return true;
	return *one->role && strcmp(one->role, finding->pod) == 0 &&
	       strcmp(one->object, object) == 0;
}

void suppress_by_annotation(struct suppressions *s, const struct object *object,
			    const struct setting *setting,
			    struct finding *finding)
{
	const char *pointer;

	suppressions_object(s, object);
	if (!s->nannotations || !object->doc)
		return;
	pointer = node_pointer_text(s->arena, object->root);
	for (size_t i = s->nannotations; i-- > 0;) {
		struct suppress_annotation *one = &s->annotations[i];

		if (one->clause.document != object->doc->number)
			break;
		if (!annotation_matches(one, pointer, finding) ||
		    !suppress_by_clause(s, &one->clause, setting, finding,
					SUPPRESSED_ANNOTATION))
			continue;
		finding->ignored_by_object = !one->of_pods;
		return;
	}
}
