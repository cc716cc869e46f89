/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports problems and notes about objects from --admission-policy files with
 * their source positions.
 */
#include <stdarg.h>

#include "admission_policy_internal.h"
#include "base/text.h"

const char admission_group[] = "admissionregistration.k8s.io";

/* Makes a remark of one line, even if quoted names contain line breaks. */
static struct admission_remark remark_at(struct admission_policies *set,
					 const struct input_object *input,
					 uint32_t offset, const char *text)
{
	struct position at = source_position(input->source, offset);
	char *line = arena_strdup(&set->arena, text);

	text_mask_controls(line);
	return (struct admission_remark){input->source->name, at.line,
					 at.column, line};
}

void admission_problem_at(struct admission_policies *set,
			  const struct input_object *input, uint32_t offset,
			  const char *text)
{
	struct admission_remark remark = remark_at(set, input, offset, text);
	const struct admission_listener *listener = set->listener;

	set->problems++;
	if (listener)
		listener->problem(listener->context, &remark);
}

static uint32_t anchor_of(const struct input_object *input,
			  const struct node *at)
{
	uint32_t start, end;

	node_anchor(at ? at : input->object->root, &start, &end);
	return start;
}

void admission_problem(struct admission_policies *set,
		       const struct input_object *input, const struct node *at,
		       const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	admission_problem_at(set, input, anchor_of(input, at),
			     arena_vprintf(&set->arena, fmt, ap));
	va_end(ap);
}

void admission_problem_in(struct admission_policies *set,
			  const struct input_object *input,
			  const struct node *scalar, size_t offset,
			  const char *text)
{
	admission_problem_at(set, input,
			     source_text_offset(input->source, scalar, offset),
			     text);
}

void admission_note(struct admission_policies *set,
		    const struct input_object *input, const char *fmt, ...)
{
	const struct admission_listener *listener = set->listener;
	struct admission_remark remark;
	va_list ap;

	if (!listener->note)
		return;
	va_start(ap, fmt);
	remark = remark_at(set, input, anchor_of(input, NULL),
			   arena_vprintf(&set->arena, fmt, ap));
	va_end(ap);
	listener->note(listener->context, &remark);
}

const char *admission_string(const struct node *map, const char *key)
{
	const char *text = node_str(node_get(map, key));

	return text && *text ? text : NULL;
}

bool input_is(const struct input_object *input, const char *group,
	      const char *kind)
{
	return object_is(input->object, group, kind);
}

const char *admission_unread(const struct admission_policies *set,
			     const char *group, const char *kind)
{
	FOR_EACH_CHILD(set->unread, item)
		if (node_eq(node_get(item, "group"), group) &&
		    node_eq(node_get(item, "kind"), kind))
			return text_or_empty(
				node_str(node_get(item, "reason")));
	return NULL;
}
