/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the results of the cluster's admission policies for an object as
 * findings. */
#include "base/array.h"
#include "base/text.h"
#include "kube/object.h"
#include "run_internal.h"

struct admission_run {
	struct rule_run rr;
	const struct setting *settings;
};

static void settle_rule(struct admission_run *r, bool definition)
{
	struct run *run = r->rr.run;
	int index =
		run->state->internal[definition ? INTERNAL_CRD_VALIDATION
						: INTERNAL_ADMISSION_POLICY];

	r->rr.rule = run->options.rules->items[index];
	r->rr.setting = &r->settings[index];
}

static const char *keep_text(struct admission_run *r, const char *text)
{
	return arena_strdup(&r->rr.run->file_arena, text);
}

static void found(void *context, const struct admission_result *result)
{
	struct admission_run *r = context;
	struct finding *f;

	settle_rule(r, result->definition);
	f = report_object(
		&r->rr, r->rr.object, result->nnodes ? result->nodes[0] : NULL,
		"%s `%s`: %s", result->definition ? "the definition" : "policy",
		result->policy, result->message);
	finding_severity(f, result->severity);
	f->policy = keep_text(r, result->policy);
	f->binding = keep_text(r, result->binding);
	/* The finding is identified only by the policy and the expression. */
	f->place.named_path = 0;
	f->cause = arena_printf(&r->rr.run->file_arena, "%s\n%s",
				result->policy, result->expression);
	for (size_t i = 1; i < result->nnodes; i++)
		finding_label(&r->rr, f, result->nodes[i], "read here");
}

static void not_run(void *context, bool definition, const char *reason)
{
	struct admission_run *r = context;

	settle_rule(r, definition);
	rule_not_run(&r->rr, reason);
}

static struct admission_request request_for(struct admission_run *r)
{
	struct run *run = r->rr.run;
	const int *internal = run->state->internal;
	const struct run_file *file = &run->state->file;

	return (struct admission_request){
		.object = r->rr.object,
		.cluster = run->state->cluster,
		.namespaces = run->options.namespaces,
		.review = file->request,
		.old_object = file->old_object,
		.old_unknown = run->options.admission &&
			       (!file->request || file->old_unknown),
		.user = run->options.user,
		.groups = run->options.groups,
		.policies = r->settings[internal[INTERNAL_ADMISSION_POLICY]]
				    .enabled,
		.definitions =
			r->settings[internal[INTERNAL_CRD_VALIDATION]].enabled,
		.arena = &run->state->doc_arena,
		.found = found,
		.not_run = not_run,
		.context = r,
	};
}

struct policy_sets {
	const struct admission_policies *items[4]; /* may be NULL */
};

static struct policy_sets policy_sets(const struct run *run)
{
	const struct policy *policy = run->state->file.policy;

	return (struct policy_sets){{
		run->options.admission_policies,
		run->state->cluster_old ? NULL
					: run->state->file.cluster_policies,
		policy_admission(policy, false),
		policy_admission(policy, true),
	}};
}

bool rule_has_definition(const struct rule_run *rr, const struct object *object)
{
	struct policy_sets sets = policy_sets(rr->run);

	for (size_t i = 0; i < ARRAY_SIZE(sets.items); i++)
		if (admission_policies_define(sets.items[i], object->group,
					      object->kind))
			return true;
	return false;
}

/* Returns the policies of the input files. They are read only if a pod has
 * devices, because this reads all files. */
static const struct admission_policies *
input_mutations(const struct run *run, const struct object *object)
{
	if (!run->options.find_mutations)
		return NULL;
	FOR_EACH_POD(object, pod)
		if (pod_uses_gpu(pod) != TRI_NO)
			return run->options.find_mutations(run->options.set);
	return NULL;
}

static void inject_touched(const struct admission_policies *set,
			   const struct admission_request *request,
			   struct object *object)
{
	for (size_t p = 0; set && p < object->npods; p++) {
		const struct node *fields = admission_policies_touched(
			set, request, &object->pods[p]);

		if (fields)
			pod_inject(request->arena, &object->pods[p], fields);
	}
}

void run_inject(struct run *run, struct arena *arena, struct object *object)
{
	const struct admission_request request = {
		.object = object,
		.cluster = run->state->cluster,
		.namespaces = run->options.namespaces,
		.arena = arena,
	};
	struct policy_sets sets = policy_sets(run);

	object_inject(arena, run_kube(run), object);
	for (size_t i = 0; i < ARRAY_SIZE(sets.items); i++)
		inject_touched(sets.items[i], &request, object);
	inject_touched(input_mutations(run, object), &request, object);
}

void run_admission_policies(struct run *run, const struct object *object,
			    const struct setting *settings)
{
	const struct run_state *state = run->state;
	struct policy_sets sets = policy_sets(run);
	struct admission_run r = {.rr = {.run = run, .object = object},
				  .settings = settings};
	struct admission_request request = request_for(&r);

	if (request.policies && state->cluster_old &&
	    state->file.cluster_policies)
		not_run(&r, false, state->cluster_old);
	for (size_t i = 0; i < ARRAY_SIZE(sets.items); i++)
		if (sets.items[i] && !object->parent)
			admission_policies_judge(sets.items[i], &request);
}
