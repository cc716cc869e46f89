/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that Kubernetes' own types lack: in objects of its kinds as a whole,
 * in those of operators in their pod templates. What serves models may extend
 * its templates (Knative's have containerConcurrency): there, and where the
 * operator has a type of its own for pods, only devices below a key that nobody
 * reads are reported. The object of a review has lost such fields already, but
 * for those that a schema preserves.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/accelerator.h"
#include "kube/container.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/typed.h"

/* The server does both: a client asks for one of them (kubectl: refused). */
#define DROPPED "dropped (rejected with strict field validation)"

static void found(struct unknown_walk *walk, const struct unknown_field *field)
{
	struct rule_run *run = walk->context;
	const char *what;
	struct finding *f;

	what = arena_printf(rule_arena(run), "%s has no field `%s`: " DROPPED,
			    field->type, field->at->key);
	f = walk->pod ? report_pod(run, walk->pod, field->at, "%s", what)
		      : report_object(run, walk->object, field->at, "%s", what);

	finding_at_key(run, f, field->at);
	if (text_eq(field->at->key, "workloadRef")) {
		finding_severity(f, SEVERITY_WARNING);
		finding_help(run, f,
			     "only Kubernetes 1.35 has it; since 1.36 a pod "
			     "names its PodGroup in `schedulingGroup`");
	} else if (field->near) {
		finding_help(run, f, "did you mean `%s`?", field->near);
	} else if (field->owner) {
		finding_help(run, f, "it is a field of %s", field->owner);
	}
}

static const char *accelerator_in(struct rule_run *run, const struct node *map)
{
	if (node_is_map(map))
		FOR_EACH_CHILD(map, child)
			if (child->key &&
			    accelerator_find(rule_accelerators(run),
					     child->key))
				return child->key;
	return NULL;
}

static void report_device(struct rule_run *run, const struct container *c,
			  const struct node *at, const char *device,
			  const char *const *names, size_t n)
{
	const char *near = text_nearest(at->key, names, n);
	struct finding *f;

	f = report_container(run, c, at,
			     "`%s` is no field of %s: " DROPPED
			     ", and `%s` is not asked for",
			     at->key, n ? "`resources`" : "a container",
			     device);
	finding_at_key(run, f, at);
	if (near)
		finding_help(run, f, "did you mean `%s`?", near);
	else
		finding_help(run, f, "write it below `limits`, in `resources`");
}

static bool is_amounts(const struct node *at)
{
	return text_eq(at->key, "limits") || text_eq(at->key, "requests");
}

/* Where only parts of an object have known types: devices that nobody reads,
 * below a key of resources, in its place, or beside it. */
static void check_devices(struct rule_run *run, const struct container *c)
{
	static const char *const names[] = {"limits", "requests"};
	const char *device = accelerator_in(run, c->resources);

	if (node_is_map(c->resources))
		FOR_EACH_CHILD(c->resources, at) {
			if (text_eq(at->key, device))
				report_device(run, c, at, device, names, 2);
			else if (!is_amounts(at) && accelerator_in(run, at))
				report_device(run, c, at,
					      accelerator_in(run, at), names,
					      2);
		}
	if (node_is_map(c->node) && c->resources != c->node)
		FOR_EACH_CHILD(c->node, at)
			if (is_amounts(at) && at != c->limits &&
			    at != c->requests && accelerator_in(run, at))
				report_device(run, c, at,
					      accelerator_in(run, at), NULL, 0);
}

static void check_pod(struct unknown_walk *walk, const struct pod *pod)
{
	walk->pod = pod;
	if (!pod->flat && !pod->made && !pod->inner && pod->template &&
	    walk->object->class != KIND_SERVING)
		template_unknown_fields(walk, pod->template);
	else
		FOR_EACH_CONTAINER(pod, c)
			check_devices(walk->context, c);
}

static void check(struct rule_run *run, const struct object *object)
{
	struct unknown_walk walk = {
		.found = found, .context = run, .object = object};

	if (rule_at_admission(run) || object->fragment || object->guessed ||
	    typed_unknown_fields(&walk, object))
		return;
	FOR_EACH_POD(object, pod)
		check_pod(&walk, pod);
}

const struct rule rule_field_unknown = {
	.name = "field-unknown",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.since = "1.0",
	.summary = "a field that Kubernetes does not know",
	.why = "Kubernetes 1.37 has no such field there: the API server rejects the object (kubectl asks it to), or drops the field, which then has no effect. Devices below such a field are not requested.",
	.remedy =
		"Move the field to where it belongs, or correct its spelling.",
	.evidence =
		"https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/; https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation",
	.check_object = check,
};
