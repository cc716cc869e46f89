/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads admission policies of the cluster from the files of `custom:`:
 * policies, their bindings, definitions, and parameters, which may have any
 * kind.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "policy_read.h"

static const struct {
	const char *group, *kind;
} kinds[] = {
	{"admissionregistration.k8s.io/", "ValidatingAdmissionPolicy"},
	{"admissionregistration.k8s.io/", "ValidatingAdmissionPolicyBinding"},
	{"apiextensions.k8s.io/", "CustomResourceDefinition"},
};

size_t admission_kinds(const char **names)
{
	size_t n = ARRAY_SIZE(kinds);

	for (size_t i = 0; i < n; i++)
		names[i] = kinds[i].kind;
	return n;
}

void add_admission_document(struct policy_reader *r, const struct doc *doc)
{
	struct admission_policies **set = &r->policy->admission;

	if (!*set) {
		*set = admission_policies_new();
		policy_keep_admission(r->policy, *set);
		admission_policies_be_strict(*set);
	}
	admission_policies_add_document(*set, r->source, doc);
}

bool read_admission_document(struct policy_reader *r, const struct doc *doc)
{
	const struct node *kind = node_get(doc->root, "kind");
	const struct node *version = node_get(doc->root, "apiVersion");

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!node_eq(kind, kinds[i].kind))
			continue;
		if (text_starts(text_or_empty(node_str(version)),
				kinds[i].group))
			add_admission_document(r, doc);
		else
			problem(r, version ? version : doc->root,
				"expected apiVersion `%sv1`", kinds[i].group);
		return true;
	}
	return false;
}

static void add_remark(struct policy_reader *r,
		       const struct admission_remark *remark, bool is_warning)
{
	problem_at(r, remark->file,
		   (struct position){remark->line, remark->column}, is_warning,
		   remark->text);
}

static void on_problem(void *context, const struct admission_remark *remark)
{
	add_remark(context, remark, false);
}

static void on_note(void *context, const struct admission_remark *remark)
{
	add_remark(context, remark, true);
}

void finish_admission(struct policy_reader *r)
{
	const struct admission_listener listener = {
		.problem = on_problem, .note = on_note, .context = r};

	if (r->policy->admission)
		admission_policies_finish(r->policy->admission, &listener);
}
