/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports fields that Kubernetes' own types do not have: anywhere in native
 * kinds, and in the pod templates of operators' kinds. In common operators'
 * kinds, other fields are compared with the definitions of all releases
 * (rules/kube/data/custom_types.tsv), unless the input or the snapshot has the
 * definition. There, a field that resembles none is a warning, because a newer
 * release may have it; in a cluster with a newer release, each one is. In
 * templates of serving kinds, which may have more fields, and in an operator's
 * own types for pods, only devices below an unknown key are reported. A field
 * of other releases is a warning, but an error in Kubernetes 1.36 and later,
 * which have none of them. Skipped at admission, after the server dropped them.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/accelerator.h"
#include "kube/container.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/typed.h"

/* kubectl asks the server for strict validation, so the consequence depends on
 * the client. */
#define DROPPED "API server drops it (rejects it with strict field validation)"
/* KServe and Argo Workflows have both full definitions, and definitions that
 * preserve all fields. */
#define IGNORED "API server drops it, or the operator ignores it"

/* Returns the end of a message: "; did you mean `limits`? The API server
 * ...". */
static const char *consequence(struct rule_run *run, const char *near,
			       bool loose)
{
	const char *what = loose ? IGNORED : DROPPED;

	if (!near)
		return arena_printf(rule_arena(run), ": the %s", what);
	return arena_printf(rule_arena(run), "; did you mean `%s`? The %s",
			    near, what);
}

/* Returns "`resources`", or the type of an item: "Container". */
static const char *field_place(struct rule_run *run,
			       const struct unknown_field *field)
{
	const struct node *map = field->at->parent;

	if (map->key)
		return arena_printf(rule_arena(run), "`%s`", map->key);
	/* A list's type in an operator's kind has the name of the list. */
	return islower((unsigned char)*field->type)
		       ? arena_printf(rule_arena(run), "an item of `%s`",
				      field->type)
		       : field->type;
}

/* Returns the help for a field that only other releases have; NULL for other
 * fields. */
static const char *replaced(const struct unknown_field *field)
{
	static const struct {
		const char *type, *name, *help;
	} former[] = {
		{"PodSpec", "workloadRef",
		 "Only Kubernetes 1.35 has this field; since 1.36, name the PodGroup in `schedulingGroup`."},
		{"PodResourceClaim", "source",
		 "Kubernetes 1.26 to 1.30 have this field; since 1.31, set `resourceClaimName` or `resourceClaimTemplateName` next to `name`."},
		{"NetworkPolicy", "status",
		 "Kubernetes 1.24 to 1.27 have this field; remove it."},
		{"ServiceSpec", "topologyKeys",
		 "Kubernetes 1.17 to 1.21 have this field; set `trafficDistribution`."},
		{"ServiceSpec", "ipFamily",
		 "Kubernetes 1.16 to 1.19 have this field; set `ipFamilies`."},
		{"spec", "serveConfig",
		 "KubeRay 1.0 has this field; since 1.1, set the string `serveConfigV2`."},
	};

	for (size_t i = 0; i < ARRAY_SIZE(former); i++)
		if (text_eq(field->type, former[i].type) &&
		    text_eq(field->at->key, former[i].name))
			return former[i].help;
	return NULL;
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

static bool is_amounts(const struct node *at)
{
	return text_eq(at->key, "limits") || text_eq(at->key, "requests");
}

/* Returns a device in `at`, an entry of the container: in stray `limits` or
 * `requests`, or below a key that was probably meant to be `resources`.
 * NULL if there is none. */
static const char *stray_device(struct rule_run *run, const struct container *c,
				const struct node *at)
{
	static const char *const resources[] = {"resources"};
	const char *device = NULL;

	if (is_amounts(at) && at != c->limits && at != c->requests)
		return accelerator_in(run, at);
	if (at != c->resources && text_nearest(at->key, resources, 1)) {
		device = accelerator_in(run, node_get(at, "limits"));
		if (!device)
			device = accelerator_in(run, node_get(at, "requests"));
	}
	return device;
}

/* True if check_devices() reports the field of a custom kind. */
static bool has_stray_device(const struct unknown_walk *walk,
			     const struct node *at)
{
	FOR_EACH_POD(walk->object, pod)
		FOR_EACH_CONTAINER(pod, c)
			if (at->parent == c->node &&
			    stray_device(walk->context, c, at))
				return true;
	return false;
}

/* True if Argo reads the field, because it ignores the case of names in this
 * object. */
static bool is_read(const struct unknown_walk *walk,
		    const struct unknown_field *field)
{
	return walk->object->spelled != walk->object->root && field->near &&
	       !strcasecmp(field->at->key, field->near);
}

static void found(struct unknown_walk *walk, const struct unknown_field *field)
{
	struct rule_run *run = walk->context;
	const char *key = field->at->key;
	const char *help = replaced(field);
	bool custom = walk->custom && !walk->pod;
	bool may_be_new = custom && !help &&
			  ((!field->near && !field->owner) ||
			   rule_operator_is_newer(run, walk->object));
	const char *what = arena_printf(
		rule_arena(run), "`%s` is not a field of %s%s%s", key,
		field_place(run, field),
		may_be_new ? " in any known release of the operator" : "",
		consequence(run, field->near, walk->loose && !walk->pod));
	struct finding *f;

	if (custom &&
	    (rule_input_defines_kind(run, walk->object) ||
	     has_stray_device(walk, field->at) || is_read(walk, field)))
		return;
	f = walk->pod ? report_pod(run, walk->pod, field->at, "%s", what)
		      : report_object(run, walk->object, field->at, "%s", what);
	finding_at_key(run, f, field->at);
	if (help) {
		if (custom || rule_platform(run)->kubernetes < 36)
			finding_severity(f, SEVERITY_WARNING);
		finding_help(run, f, "%s", help);
	} else if (!field->near && (text_lists("apiVersion kind", key) ||
				    node_is_unset(field->at))) {
		finding_help(run, f, "Remove the field.");
	} else if (may_be_new) {
		finding_severity(f, SEVERITY_WARNING);
		finding_help(run, f, "Remove it unless a new release has it.");
	} else if (!field->near && field->owner && !field->unclear) {
		finding_help(run, f,
			     "Move it to `%.*s`, which has such a field.",
			     (int)strcspn(field->owner, "."), field->owner);
	}
}

static void report_device(struct rule_run *run, const struct container *c,
			  const struct node *at, const char *device,
			  bool in_resources)
{
	static const char *const amounts[] = {"limits", "requests"};
	static const char *const resources[] = {"resources"};
	const char *near = in_resources ? text_nearest(at->key, amounts, 2)
					: text_nearest(at->key, resources,
						       !is_amounts(at));
	struct finding *f = report_container(
		run, c, at,
		"`%s` is not a field of %s%s, and `%s` is not requested",
		at->key, in_resources ? "`resources`" : "Container",
		consequence(run, near, false), device);

	finding_at_key(run, f, at);
	if (!near)
		finding_help(run, f, "Set it in `resources.limits`.");
}

/* Reports devices directly in `resources`, below an unknown key of it, or below
 * a key next to it, in objects whose types are known only in part. */
static void check_devices(struct rule_run *run, const struct container *c)
{
	const char *device = accelerator_in(run, c->resources);

	if (node_is_map(c->resources))
		FOR_EACH_CHILD(c->resources, at) {
			if (text_eq(at->key, device))
				report_device(run, c, at, device, true);
			else if (!is_amounts(at) && accelerator_in(run, at))
				report_device(run, c, at,
					      accelerator_in(run, at), true);
		}
	if (node_is_map(c->node) && c->resources != c->node)
		FOR_EACH_CHILD(c->node, at) {
			device = stray_device(run, c, at);
			if (device)
				report_device(run, c, at, device, false);
		}
}

/* Reports resources of Dynamo's own type, which has no key for others: Dynamo
 * deploy/operator api/v1alpha1 common.go, ResourceItem. */
static void check_dynamo(struct rule_run *run, const struct pod *pod)
{
	static const char *const keys[] = {"cpu",     "memory", "gpu",
					   "gpuType", "custom", NULL};
	static const char *const lists[] = {"limits", "requests", NULL};
	const struct node *resources =
		node_get(pod->made ? pod->source : pod->group, "resources");

	if (!text_eq(pod->object->api_version, "nvidia.com/v1alpha1") ||
	    !text_starts(pod->object->kind, "Dynamo"))
		return;
	for (const char *const *list = lists; *list; list++)
		FOR_EACH_CHILD(node_get(resources, *list), value) {
			struct finding *f;

			if (!value->key || text_any(value->key, keys, text_eq))
				continue;
			f = report_pod(
				run, pod, value,
				"`%s` is not a field of `%s` of Dynamo%s",
				value->key, *list,
				consequence(run, NULL, false));
			finding_at_key(run, f, value);
			finding_help(
				run, f, "%s",
				accelerator_find(rule_accelerators(run),
						 value->key)
					? "Set the number in `gpu`, and another resource name than nvidia.com/gpu in `gpuType`."
					: "Move it to `custom`.");
		}
}

static void check_pod(struct unknown_walk *walk, const struct pod *pod)
{
	walk->pod = pod;
	if (!pod->flat && !pod->made && !pod->inner && pod->template &&
	    (walk->object->class != KIND_SERVING ||
	     object_kind_has(walk->object, KIND_PLAIN)))
		typed_unknown_fields(walk);
	else
		FOR_EACH_CONTAINER(pod, c)
			check_devices(walk->context, c);
	check_dynamo(walk->context, pod);
}

static void check(struct rule_run *run, const struct object *object)
{
	struct unknown_walk walk = {
		.found = found, .context = run, .object = object};

	if (rule_at_admission(run) || object->fragment ||
	    !rule_may_find(run, TYPED_UNKNOWN))
		return;
	walk.defined = rule_has_definition(run, object);
	if (typed_unknown_fields(&walk) || object->pods_inferred)
		return;
	FOR_EACH_POD(object, pod)
		check_pod(&walk, pod);
}

const struct rule rule_field_unknown = {
	.name = "field-unknown",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.summary = "a field that Kubernetes or the operator does not know",
	.why = "Neither Kubernetes 1.37 nor a release of the operator has this field there. For kubectl, the API server rejects the object; for other clients, it may drop the field, which then has no effect. Devices below such a field are not requested.",
	.remedy =
		"Move the field to where it belongs, or correct its spelling.",
	.evidence =
		"https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/; https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation; observed on kube-apiserver 1.37.2",
	.check_object = check,
};
