/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of fields as kube-apiserver decodes them: "cannot unmarshal number into
 * Go struct field EnvVar.value of type string" for its own kinds, "must be of
 * type integer" by the schema of a custom resource. Both observed on
 * kube-apiserver 1.36. Fields of pods and containers have one type wherever
 * they are; fields of a flat spec are the operator's own and left alone.
 */
#include "kube/field_type.h"

#include <string.h>

#include "base/text.h"

enum want {
	WANT_MAP,
	WANT_STRING,
	WANT_BOOL,
	WANT_INT,
	WANT_COUNT,	 /* an integer, not negative */
	WANT_STRINGS,	 /* a list of strings */
	WANT_MAPS,	 /* a list of maps */
	WANT_STRING_MAP, /* a map of strings */
};

static const char *const want_text[] = {
	[WANT_MAP] = "a map",
	[WANT_STRING] = "a string",
	[WANT_BOOL] = "a boolean",
	[WANT_INT] = "an integer",
	[WANT_COUNT] = "an integer of 0 or more",
	[WANT_STRINGS] = "a list",
	[WANT_MAPS] = "a list",
	[WANT_STRING_MAP] = "a map",
};

const char *node_type_text(const struct node *node)
{
	static const char *const names[] = {
		[NODE_NULL] = "null",	    [NODE_BOOL] = "a boolean",
		[NODE_INT] = "a number",    [NODE_FLOAT] = "a number",
		[NODE_STRING] = "a string", [NODE_MAP] = "a map",
		[NODE_SEQ] = "a list",
	};

	return names[node->type];
}

bool object_is_native(const struct object *object)
{
	static const char *const groups[] = {"",
					     "apps",
					     "batch",
					     "extensions",
					     "policy",
					     "autoscaling",
					     "scheduling.k8s.io",
					     "networking.k8s.io",
					     "storage.k8s.io",
					     "node.k8s.io",
					     "rbac.authorization.k8s.io",
					     "coordination.k8s.io",
					     "resource.k8s.io",
					     NULL};

	for (const char *const *group = groups; *group; group++)
		if (text_eq(object->group, *group))
			return true;
	return false;
}

static bool fits(const struct node *node, enum want want)
{
	int64_t n;

	if (node_is_unset(node) || node_is_unknown(node))
		return true;
	switch (want) {
	case WANT_MAP:
	case WANT_STRING_MAP:
		return node_is_map(node);
	case WANT_STRING:
		return node->type == NODE_STRING;
	case WANT_BOOL:
		return node->type == NODE_BOOL;
	case WANT_INT:
		return node_int(node, &n);
	case WANT_COUNT:
		return node_int(node, &n) && n >= 0;
	default:
		return node_is_seq(node);
	}
}

/* What nearly all values are. Numbers and items are looked at more closely. */
static inline bool is_plain(const struct node *node, enum want want)
{
	return (want == WANT_STRING && node->type == NODE_STRING) ||
	       (want == WANT_MAP && node->type == NODE_MAP) ||
	       (want == WANT_BOOL && node->type == NODE_BOOL);
}

/* -- walking ------------------------------------------------------------- */

static void check(struct field_walk *walk, struct field_issue *issue,
		  const struct node *node, enum want want)
{
	if (fits(node, want))
		return;
	issue->at = node;
	issue->wanted = want_text[want];
	walk->found(walk, issue);
}

/* The values of a list, or of a map of strings. */
static void check_items(struct field_walk *walk, struct field_issue *issue,
			const struct node *node, enum want want)
{
	enum node_type plain;

	if (want == WANT_STRING_MAP ? !node_is_map(node) : !node_is_seq(node))
		return;
	want = want == WANT_MAPS ? WANT_MAP : WANT_STRING;
	plain = want == WANT_MAP ? NODE_MAP : NODE_STRING;
	FOR_EACH_CHILD(node, item)
		if (item->type != plain)
			check(walk, issue, item, want);
}

struct fields {
	struct field_walk *walk;
	struct field_issue issue;
};

static void check_value(struct fields *fields, const struct node *node,
			const char *path, enum want want)
{
	fields->issue.field = path;
	check(fields->walk, &fields->issue, node, want);
	check_items(fields->walk, &fields->issue, node, want);
}

/* One field of a map, which nearly always has it right or not at all. Inline,
 * so that the key's tag is made when compiling. */
static inline void field(struct fields *fields, const struct node *map,
			 const char *name, enum want want)
{
	const struct node *node = node_get(map, name);

	if (node && !is_plain(node, want))
		check_value(fields, node, name, want);
}

/* The same for a field further down, which is named by its path. */
static inline void field_below(struct fields *fields, const struct node *map,
			       const char *path, const char *name,
			       enum want want)
{
	const struct node *node = node_get(map, name);

	if (node && !is_plain(node, want))
		check_value(fields, node, path, want);
}

/* -- values by place ----------------------------------------------------- */

static void check_container(struct fields *fields, const struct container *c)
{
	const struct node *map = c->node;

	field(fields, map, "name", WANT_STRING);
	field(fields, map, "image", WANT_STRING);
	field(fields, map, "command", WANT_STRINGS);
	field(fields, map, "args", WANT_STRINGS);
	field(fields, map, "envFrom", WANT_MAPS);
	field(fields, map, "ports", WANT_MAPS);
	field(fields, map, "volumeMounts", WANT_MAPS);
	field(fields, map, "workingDir", WANT_STRING);
	field(fields, map, "imagePullPolicy", WANT_STRING);
	field(fields, map, "resources", WANT_MAP);
	map = node_get(map, "resources");
	field_below(fields, map, "resources.limits", "limits", WANT_MAP);
	field_below(fields, map, "resources.requests", "requests", WANT_MAP);
	if (c->env_plain)
		return;
	field(fields, c->node, "env", WANT_MAPS);
	FOR_EACH_CHILD(node_get(c->node, "env"), entry) {
		field(fields, entry, "name", WANT_STRING);
		field(fields, entry, "value", WANT_STRING);
	}
}

static void check_pod_spec(struct fields *fields, const struct node *map)
{
	field(fields, map, "containers", WANT_MAPS);
	field(fields, map, "initContainers", WANT_MAPS);
	field(fields, map, "volumes", WANT_MAPS);
	field(fields, map, "tolerations", WANT_MAPS);
	field(fields, map, "nodeSelector", WANT_STRING_MAP);
	field(fields, map, "affinity", WANT_MAP);
	field(fields, map, "priorityClassName", WANT_STRING);
	field(fields, map, "schedulerName", WANT_STRING);
	field(fields, map, "runtimeClassName", WANT_STRING);
	field(fields, map, "serviceAccountName", WANT_STRING);
	field(fields, map, "restartPolicy", WANT_STRING);
	field(fields, map, "hostNetwork", WANT_BOOL);
	field(fields, map, "hostIPC", WANT_BOOL);
	field(fields, map, "hostPID", WANT_BOOL);
	field(fields, map, "terminationGracePeriodSeconds", WANT_INT);
	field(fields, map, "activeDeadlineSeconds", WANT_INT);
	field(fields, map, "priority", WANT_INT);
}

static void check_metadata(struct fields *fields, const struct node *map)
{
	field(fields, map, "name", WANT_STRING);
	field(fields, map, "namespace", WANT_STRING);
	field(fields, map, "labels", WANT_STRING_MAP);
	field(fields, map, "annotations", WANT_STRING_MAP);
}

/* Numbers of pods, in the object's spec or a group of its pods. */
static void check_counts(struct fields *fields, const struct node *map)
{
	const struct node *job = node_get(node_get(map, "template"), "spec");

	field(fields, map, "replicas", WANT_COUNT);
	field(fields, map, "minReplicas", WANT_COUNT);
	field(fields, map, "maxReplicas", WANT_COUNT);
	field(fields, map, "numOfHosts", WANT_COUNT);
	field(fields, map, "rayStartParams", WANT_STRING_MAP);
	field_below(fields, job, "template.spec.parallelism", "parallelism",
		    WANT_COUNT);
	field_below(fields, job, "template.spec.completions", "completions",
		    WANT_COUNT);
}

/* Only of native kinds: elsewhere `parallelism` may be a map. */
static void check_spec(struct fields *fields, const struct node *map)
{
	const struct node *job = node_get(node_get(map, "jobTemplate"), "spec");

	field(fields, map, "template", WANT_MAP);
	field_below(fields, node_get(map, "template"), "template.spec", "spec",
		    WANT_MAP);
	field_below(fields, node_get(map, "selector"), "selector.matchLabels",
		    "matchLabels", WANT_STRING_MAP);
	field(fields, map, "parallelism", WANT_COUNT);
	field(fields, map, "completions", WANT_COUNT);
	field(fields, map, "backoffLimit", WANT_COUNT);
	field(fields, map, "activeDeadlineSeconds", WANT_COUNT);
	field(fields, map, "ttlSecondsAfterFinished", WANT_COUNT);
	field_below(fields, job, "jobTemplate.spec.parallelism", "parallelism",
		    WANT_COUNT);
	field_below(fields, job, "jobTemplate.spec.completions", "completions",
		    WANT_COUNT);
	field_below(fields, job, "jobTemplate.spec.backoffLimit",
		    "backoffLimit", WANT_COUNT);
}

static void check_pod(struct field_walk *walk, const struct pod *pod)
{
	struct fields fields = {
		.walk = walk,
		.issue = {.object = pod->object, .pod = pod},
	};

	if (pod->flat)
		return;
	/* CRDs that leave out the template's metadata drop what is in it. */
	if (object_is_native(pod->object) &&
	    pod->metadata != node_get(pod->object->root, "metadata"))
		check_metadata(&fields, pod->metadata);
	check_pod_spec(&fields, pod->spec);
	FOR_EACH_CONTAINER(pod, c) {
		fields.issue.c = c;
		check_container(&fields, c);
	}
}

/* Is this group looked at already, with the pod before? */
static bool same_group(const struct object *object, const struct pod *pod)
{
	return pod->group == object->root ||
	       pod->group == node_get(object->root, "spec") ||
	       (pod > object->pods && pod[-1].group == pod->group);
}

void field_issues(struct field_walk *walk, const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	struct fields fields = {.walk = walk, .issue = {.object = object}};
	bool is_pod = object_is(object, "", "Pod");

	check_metadata(&fields, node_get(object->root, "metadata"));
	if (object->npods && !object->guessed && !is_pod)
		check_counts(&fields, spec);
	if (object_is_native(object) && !is_pod)
		check_spec(&fields, spec);
	FOR_EACH_POD(object, pod) {
		check_pod(walk, pod);
		fields.issue.pod = pod;
		if (!object->guessed && !same_group(object, pod))
			check_counts(&fields, pod->group);
	}
}
