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
	uint32_t len;
	enum want want;
	bool dotted; /* several keys */
};

#define FIELD(path, want)                                                      \
	{                                                                      \
		path, sizeof(path) - 1, want, false                            \
	}
#define DOTTED(path, want)                                                     \
	{                                                                      \
		path, sizeof(path) - 1, want, true                             \
	}

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
			     : node_getn(map, field->path, field->len);
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
	FIELD("name", WANT_STRING),
	FIELD("image", WANT_STRING),
	FIELD("command", WANT_STRINGS),
	FIELD("args", WANT_STRINGS),
	FIELD("env", WANT_MAPS),
	FIELD("envFrom", WANT_MAPS),
	FIELD("ports", WANT_MAPS),
	FIELD("volumeMounts", WANT_MAPS),
	FIELD("workingDir", WANT_STRING),
	FIELD("imagePullPolicy", WANT_STRING),
	FIELD("resources", WANT_MAP),
	DOTTED("resources.limits", WANT_MAP),
	DOTTED("resources.requests", WANT_MAP),
	{0},
};

static const struct field env_fields[] = {
	FIELD("name", WANT_STRING), FIELD("value", WANT_STRING), {0}};

static const struct field pod_fields[] = {
	FIELD("containers", WANT_MAPS),
	FIELD("initContainers", WANT_MAPS),
	FIELD("volumes", WANT_MAPS),
	FIELD("tolerations", WANT_MAPS),
	FIELD("nodeSelector", WANT_STRING_MAP),
	FIELD("affinity", WANT_MAP),
	FIELD("priorityClassName", WANT_STRING),
	FIELD("schedulerName", WANT_STRING),
	FIELD("runtimeClassName", WANT_STRING),
	FIELD("serviceAccountName", WANT_STRING),
	FIELD("restartPolicy", WANT_STRING),
	FIELD("hostNetwork", WANT_BOOL),
	FIELD("hostIPC", WANT_BOOL),
	FIELD("hostPID", WANT_BOOL),
	FIELD("terminationGracePeriodSeconds", WANT_INT),
	FIELD("activeDeadlineSeconds", WANT_INT),
	FIELD("priority", WANT_INT),
	{0},
};

static const struct field metadata_fields[] = {
	FIELD("name", WANT_STRING),
	FIELD("namespace", WANT_STRING),
	FIELD("labels", WANT_STRING_MAP),
	FIELD("annotations", WANT_STRING_MAP),
	{0},
};

/* Numbers of pods, in the object's spec or a group of its pods. */
static const struct field count_fields[] = {
	FIELD("replicas", WANT_COUNT),
	FIELD("minReplicas", WANT_COUNT),
	FIELD("maxReplicas", WANT_COUNT),
	FIELD("numOfHosts", WANT_COUNT),
	DOTTED("template.spec.parallelism", WANT_COUNT),
	DOTTED("template.spec.completions", WANT_COUNT),
	{0},
};

/* Only of native kinds: elsewhere `parallelism` may be a map. */
static const struct field spec_fields[] = {
	FIELD("template", WANT_MAP),
	DOTTED("template.spec", WANT_MAP),
	DOTTED("selector.matchLabels", WANT_STRING_MAP),
	FIELD("parallelism", WANT_COUNT),
	FIELD("completions", WANT_COUNT),
	FIELD("backoffLimit", WANT_COUNT),
	FIELD("activeDeadlineSeconds", WANT_COUNT),
	FIELD("ttlSecondsAfterFinished", WANT_COUNT),
	DOTTED("jobTemplate.spec.parallelism", WANT_COUNT),
	DOTTED("jobTemplate.spec.completions", WANT_COUNT),
	DOTTED("jobTemplate.spec.backoffLimit", WANT_COUNT),
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
