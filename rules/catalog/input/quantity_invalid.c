/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports quantities that the API server rejects: text that does not parse
 * (`1Zi`, `8GB`, empty), a negative amount, a cpu, memory or storage request
 * above its limit. In a custom resource, a fraction written as a number (`cpu:
 * 0.5`) is also rejected: the schema takes integers and strings.
 *
 * Sources: apimachinery pkg/api/resource ("quantities must match the regular
 * expression"); pkg/apis/core/validation; observed on kube-apiserver.
 */
#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/typed.h"

/* Units that users write, and those that Kubernetes accepts. */
static const char *const units[][2] = {
	{"kb", "k"},   {"mb", "Mi"},  {"gb", "Gi"},  {"tb", "Ti"},
	{"kib", "Ki"}, {"mib", "Mi"}, {"gib", "Gi"}, {"tib", "Ti"},
	{"ki", "Ki"},  {"mi", "Mi"},  {"gi", "Gi"},  {"ti", "Ti"},
	{"g", "G"},    {"t", "T"},    {"zi", "Gi"},  {"b", ""},
	{"cpu", ""},   {"cpus", ""},  {"cores", ""},
};

/* Returns the text that was probably meant ("8Gi" for "8GB"), or NULL. */
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

/* Faults, as a message names them. */
static const char no_quantity[] = "is not a quantity"; /* it does not parse */
static const char not_in_crd[] =
	"is rejected in a custom resource, which accepts integers and strings";
static const char negative[] = "is negative";
static const char above_limit[] = "is requested above its limit";

struct quantity_check {
	struct rule_run *run;
	const struct object *object;
	const struct pod *pod;	   /* may be NULL */
	const struct container *c; /* may be NULL */
	bool native;
};

static struct finding *report_at(const struct quantity_check *check,
				 const struct node *at, const char *what)
{
	struct rule_run *run = check->run;
	const char *key = at->key ? at->key : "";
	const char *text =
		at->str ? arena_printf(rule_arena(run), "`%s: %s` %s", key,
				       at->str, what)
			: arena_printf(rule_arena(run),
				       "`%s` is %s, not a quantity", key,
				       node_type_text(at));

	if (check->c)
		return report_container(run, check->c, at, "%s", text);
	if (check->pod)
		return report_pod(run, check->pod, at, "%s", text);
	return report_object(run, check->object, at, "%s", text);
}

/* Reports a fault, unless it is NULL. limit is set for above_limit. */
static void report_issue(const struct quantity_check *check, const char *fault,
			 const struct node *at, const struct node *limit)
{
	struct rule_run *run = check->run;
	const char *better;
	struct finding *f;

	if (!fault)
		return;
	/* Kueue's webhook writes numbers as strings. */
	if (fault == not_in_crd && at->type != NODE_STRING &&
	    (check->object->kueue ||
	     object_kind_has(check->object, KIND_NUMBERS)))
		return;
	/* gpu-fractional-quantity reports it. */
	if (fault != no_quantity &&
	    accelerator_find(rule_accelerators(run), at->key))
		return;
	better = quantity_suggest(rule_arena(run), at);
	f = report_at(check, at, fault);
	finding_cause(run, f, at->key);
	if (limit)
		finding_label(run, f, limit, "the limit");
	if (fault == not_in_crd && at->type != NODE_STRING)
		finding_help(run, f, "Put it in quotes: `\"%s\"`.", at->str);
	else if (fault == no_quantity && better)
		finding_help(run, f, "Write `%s`.", better);
	else if (fault == above_limit)
		finding_help(run, f, "Lower the request, or raise the limit.");
}

/* True if a CRD's schema accepts the quantity: an integer, or a string without
 * blanks at its ends. */
static bool fits_crd(const struct node *node)
{
	struct quantity q;
	int64_t n;

	if (node->type != NODE_STRING)
		return node_int(node, &n);
	/* The value was read and is valid. */
	if (node->len && node->str[0] > ' ' && node->str[node->len - 1] > ' ')
		return true;
	return quantity_parse(node->str, node->len, &q);
}

static const char *fault_of(const struct node *node, bool native,
			    enum quantity_state state, const struct quantity *q)
{
	switch (state) {
	case QUANTITY_INVALID:
		return no_quantity;
	case QUANTITY_OK:
		break;
	default:
		return NULL;
	}
	if (q->nano < 0)
		return negative;
	return native || fits_crd(node) ? NULL : not_in_crd;
}

static void check_value(struct quantity_check *check, const struct node *at)
{
	struct quantity q;
	enum quantity_state state = node_quantity(at, &q);

	report_issue(check, fault_of(at, check->native, state, &q), at, NULL);
}

static void check_map(struct quantity_check *check, const struct node *map)
{
	if (node_is_map(map))
		FOR_EACH_CHILD(map, value)
			check_value(check, value);
}

/* Reports a request above its limit. Other rules report extended resources and
 * huge pages, whose request must equal the limit. */
static void check_order(struct quantity_check *check,
			const struct node *request, const struct node *limit)
{
	if (strchr(request->key, '/') ||
	    text_starts(request->key, "hugepages-"))
		return;
	report_issue(check, above_limit, request, limit);
}

static bool is_above(const struct node *request, const struct node *limit)
{
	struct quantity low, high;

	return node_quantity(request, &low) == QUANTITY_OK &&
	       node_quantity(limit, &high) == QUANTITY_OK &&
	       quantity_cmp(low, high) > 0;
}

static void check_resources(struct quantity_check *check,
			    const struct node *resources)
{
	const struct node *limits = node_get(resources, "limits");
	const struct node *requests = node_get(resources, "requests");

	check_map(check, limits);
	check_map(check, requests);
	if (!node_is_map(requests))
		return;
	FOR_EACH_CHILD(requests, request) {
		const struct node *limit = node_get(limits, request->key);

		if (is_above(request, limit))
			check_order(check, request, limit);
	}
}

static void check_entry(struct quantity_check *check,
			const struct resource_entry *entry)
{
	report_issue(check,
		     fault_of(entry->node, check->native, entry->state,
			      &entry->quantity),
		     entry->node, NULL);
}

/* Checks a container, whose values are parsed already. */
static void check_container(struct quantity_check *check,
			    const struct container *c)
{
	FOR_EACH_LIMIT(c, limit)
		check_entry(check, limit);
	FOR_EACH_REQUEST(c, request) {
		const struct resource_entry *limit = request->other;

		check_entry(check, request);
		if (limit && limit->state == QUANTITY_OK &&
		    request->state == QUANTITY_OK &&
		    quantity_cmp(request->quantity, limit->quantity) > 0)
			check_order(check, request->node, limit->node);
	}
}

static void check_pod(struct quantity_check *check, const struct pod *pod)
{
	/* Fields of a flat spec belong to the operator. */
	if (pod->flat || pod->made)
		return;
	check->pod = pod;
	check_map(check, node_get(pod->spec, "overhead"));
	if (node_is_seq(node_get(pod->spec, "containers")))
		check_resources(check, node_get(pod->spec, "resources"));
	FOR_EACH_CHILD(node_get(pod->spec, "volumes"), volume) {
		const struct node *claim = node_get(
			node_get(volume, "ephemeral"), "volumeClaimTemplate");

		check_value(check, node_get(node_get(volume, "emptyDir"),
					    "sizeLimit"));
		check_resources(check,
				node_get(node_get(claim, "spec"), "resources"));
	}
	FOR_EACH_CONTAINER(pod, c) {
		check->c = c;
		check_container(check, c);
	}
	check->c = NULL;
	check->pod = NULL;
}

static void check_limit_range(struct quantity_check *check,
			      const struct node *spec)
{
	static const char *const maps[] = {"max", "min", "default",
					   "defaultRequest",
					   "maxLimitRequestRatio"};

	FOR_EACH_CHILD(node_get(spec, "limits"), item)
		for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
			check_map(check, node_get(item, maps[i]));
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	struct quantity_check all = {.run = run, .object = object};

	/* The Workflow CRD has no schema for the templates. */
	all.native = typed_group_is_native(object->group) ||
		     object->pods_inferred ||
		     text_eq(object->group, "argoproj.io");
	FOR_EACH_POD(object, pod)
		check_pod(&all, pod);
	FOR_EACH_CHILD(node_get(spec, "volumeClaimTemplates"), claim)
		check_resources(&all, node_path(claim, "spec.resources"));
	if (!text_eq(object->group, ""))
		return;
	if (text_eq(object->kind, "ResourceQuota"))
		check_map(&all, node_get(spec, "hard"));
	else if (text_eq(object->kind, "LimitRange"))
		check_limit_range(&all, spec);
	else if (text_eq(object->kind, "PersistentVolumeClaim"))
		check_resources(&all, node_get(spec, "resources"));
}

const struct rule rule_quantity_invalid = {
	.name = "quantity-invalid",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.summary = "a quantity that the API server rejects",
	.why = "The object is rejected, or its operator cannot create the pods.",
	.remedy =
		"Write an integer, a decimal number or a number with a Kubernetes suffix, for example 500m, 1.5, 8Gi or 8G, and not negative.",
	.evidence =
		"https://github.com/kubernetes/apimachinery/tree/master/pkg/api/resource; https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/validation; observed on kube-apiserver 1.37.2",
	.check_object = check,
};
