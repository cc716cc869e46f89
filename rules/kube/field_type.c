/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of fields as kube-apiserver decodes them: "cannot unmarshal number
 * into Go struct field EnvVar.value of type string" for its own kinds, "must
 * be of type integer" by the schema of a custom resource. Both observed on
 * kube-apiserver 1.36. Fields of pods and containers have one type wherever
 * they stand; fields of a flat spec are the operator's own and left alone.
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

struct field {
	const char *path;
	enum want want;
	bool dotted; /* several keys */
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

static const struct node *field_node(const struct node *map,
				     const struct field *field)
{
	return field->dotted ? node_path(map, field->path)
			     : node_get(map, field->path);
}

static void check_field(struct field_walk *walk, struct field_issue *issue,
			const struct node *map, const struct field *field)
{
	const struct node *node = field_node(map, field);

	if (!node)
		return;
	issue->field = field->path;
	check(walk, issue, node, field->want);
	if (field->want == WANT_STRING_MAP && !node_is_map(node))
		return;
	if (field->want != WANT_STRING_MAP && !node_is_seq(node))
		return;
	FOR_EACH_CHILD(node, item)
		check(walk, issue, item,
		      field->want == WANT_MAPS ? WANT_MAP : WANT_STRING);
}

/* fields end with an empty path. */
static void check_fields(struct field_walk *walk, struct field_issue *issue,
			 const struct node *map, const struct field *fields)
{
	if (!node_is_map(map))
		return;
	for (; fields->path; fields++)
		check_field(walk, issue, map, fields);
}

/* -- what stands where --------------------------------------------------- */

static const struct field container_fields[] = {
	{"name", WANT_STRING, false},
	{"image", WANT_STRING, false},
	{"command", WANT_STRINGS, false},
	{"args", WANT_STRINGS, false},
	{"env", WANT_MAPS, false},
	{"envFrom", WANT_MAPS, false},
	{"ports", WANT_MAPS, false},
	{"volumeMounts", WANT_MAPS, false},
	{"workingDir", WANT_STRING, false},
	{"imagePullPolicy", WANT_STRING, false},
	{"resources", WANT_MAP, false},
	{"resources.limits", WANT_MAP, true},
	{"resources.requests", WANT_MAP, true},
	{0},
};

static const struct field env_fields[] = {
	{"name", WANT_STRING, false}, {"value", WANT_STRING, false}, {0}};

static const struct field pod_fields[] = {
	{"containers", WANT_MAPS, false},
	{"initContainers", WANT_MAPS, false},
	{"volumes", WANT_MAPS, false},
	{"tolerations", WANT_MAPS, false},
	{"nodeSelector", WANT_STRING_MAP, false},
	{"affinity", WANT_MAP, false},
	{"priorityClassName", WANT_STRING, false},
	{"schedulerName", WANT_STRING, false},
	{"runtimeClassName", WANT_STRING, false},
	{"serviceAccountName", WANT_STRING, false},
	{"restartPolicy", WANT_STRING, false},
	{"hostNetwork", WANT_BOOL, false},
	{"hostIPC", WANT_BOOL, false},
	{"hostPID", WANT_BOOL, false},
	{"terminationGracePeriodSeconds", WANT_INT, false},
	{"activeDeadlineSeconds", WANT_INT, false},
	{"priority", WANT_INT, false},
	{0},
};

static const struct field metadata_fields[] = {
	{"name", WANT_STRING, false},
	{"namespace", WANT_STRING, false},
	{"labels", WANT_STRING_MAP, false},
	{"annotations", WANT_STRING_MAP, false},
	{0},
};

/* Numbers of pods, in the object's spec or a group of its pods. */
static const struct field count_fields[] = {
	{"replicas", WANT_COUNT, false},
	{"minReplicas", WANT_COUNT, false},
	{"maxReplicas", WANT_COUNT, false},
	{"numOfHosts", WANT_COUNT, false},
	{"template.spec.parallelism", WANT_COUNT, true},
	{"template.spec.completions", WANT_COUNT, true},
	{0},
};

/* Only of native kinds: elsewhere `parallelism` may be a map. */
static const struct field spec_fields[] = {
	{"template", WANT_MAP, false},
	{"template.spec", WANT_MAP, true},
	{"selector.matchLabels", WANT_STRING_MAP, true},
	{"parallelism", WANT_COUNT, false},
	{"completions", WANT_COUNT, false},
	{"backoffLimit", WANT_COUNT, false},
	{"activeDeadlineSeconds", WANT_COUNT, false},
	{"ttlSecondsAfterFinished", WANT_COUNT, false},
	{"jobTemplate.spec.parallelism", WANT_COUNT, true},
	{"jobTemplate.spec.completions", WANT_COUNT, true},
	{"jobTemplate.spec.backoffLimit", WANT_COUNT, true},
	{0},
};

static void check_pod(struct field_walk *walk, const struct pod *pod)
{
	struct field_issue issue = {.object = pod->object, .pod = pod};

	if (pod->flat)
		return;
	/* CRDs that leave out the template's metadata drop what is in it. */
	if (object_is_native(pod->object) &&
	    pod->metadata != node_get(pod->object->root, "metadata"))
		check_fields(walk, &issue, pod->metadata, metadata_fields);
	check_fields(walk, &issue, pod->spec, pod_fields);
	FOR_EACH_CONTAINER(pod, c) {
		issue.c = c;
		check_fields(walk, &issue, c->node, container_fields);
		FOR_EACH_CHILD(node_get(c->node, "env"), entry)
			check_fields(walk, &issue, entry, env_fields);
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
	struct field_issue issue = {.object = object};

	check_fields(walk, &issue, node_get(object->root, "metadata"),
		     metadata_fields);
	if (object->npods && !object->guessed)
		check_fields(walk, &issue, spec, count_fields);
	if (object_is_native(object))
		check_fields(walk, &issue, spec, spec_fields);
	FOR_EACH_POD(object, pod) {
		check_pod(walk, pod);
		issue.pod = pod;
		if (!object->guessed && !same_group(object, pod))
			check_fields(walk, &issue, pod->group, count_fields);
	}
}
