/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of Container, VolumeMount and Volume in core/v1; other kinds have
 * schemas of their own.
 */
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

struct field {
	const char *name;
	uint32_t len;
};

#define FIELD(name)                                                            \
	{                                                                      \
		name, sizeof(name) - 1                                         \
	}

/* Of Kubernetes 1.36, each list with the most frequent first, as the API server
 * sends them. */
static const struct field container_fields[] = {
	FIELD("name"),
	FIELD("image"),
	FIELD("command"),
	FIELD("args"),
	FIELD("env"),
	FIELD("resources"),
	FIELD("imagePullPolicy"),
	FIELD("volumeMounts"),
	FIELD("terminationMessagePath"),
	FIELD("terminationMessagePolicy"),
	FIELD("ports"),
	FIELD("securityContext"),
	FIELD("readinessProbe"),
	FIELD("livenessProbe"),
	FIELD("workingDir"),
	FIELD("envFrom"),
	FIELD("resizePolicy"),
	FIELD("restartPolicy"),
	FIELD("restartPolicyRules"),
	FIELD("volumeDevices"),
	FIELD("startupProbe"),
	FIELD("lifecycle"),
	FIELD("stdin"),
	FIELD("stdinOnce"),
	FIELD("tty"),
	{NULL, 0}};
static const struct field volume_fields[] = {FIELD("name"),
					     FIELD("emptyDir"),
					     FIELD("persistentVolumeClaim"),
					     FIELD("configMap"),
					     FIELD("hostPath"),
					     FIELD("secret"),
					     FIELD("projected"),
					     FIELD("gcePersistentDisk"),
					     FIELD("awsElasticBlockStore"),
					     FIELD("gitRepo"),
					     FIELD("nfs"),
					     FIELD("iscsi"),
					     FIELD("glusterfs"),
					     FIELD("rbd"),
					     FIELD("flexVolume"),
					     FIELD("cinder"),
					     FIELD("cephfs"),
					     FIELD("flocker"),
					     FIELD("downwardAPI"),
					     FIELD("fc"),
					     FIELD("azureFile"),
					     FIELD("vsphereVolume"),
					     FIELD("quobyte"),
					     FIELD("azureDisk"),
					     FIELD("photonPersistentDisk"),
					     FIELD("portworxVolume"),
					     FIELD("scaleIO"),
					     FIELD("storageos"),
					     FIELD("csi"),
					     FIELD("ephemeral"),
					     FIELD("image"),
					     {NULL, 0}};
static const struct field mount_fields[] = {FIELD("name"),
					    FIELD("mountPath"),
					    FIELD("readOnly"),
					    FIELD("subPath"),
					    FIELD("recursiveReadOnly"),
					    FIELD("mountPropagation"),
					    FIELD("subPathExpr"),
					    {NULL, 0}};

static bool is_known(const struct field *fields, const struct node *value)
{
	for (; fields->name; fields++)
		if (fields->len == value->key_len &&
		    *fields->name == *value->key &&
		    text_same_bytes(fields->name, value->key, fields->len))
			return true;
	return !value->key_len || strpbrk(value->key, "${}<>");
}

static void judge(struct rule_run *run, const struct pod *pod,
		  const struct node *map, const struct field *fields,
		  const char *what)
{
	if (!node_is_map(map))
		return;
	FOR_EACH_CHILD(map, value)
		if (!is_known(fields, value) && !node_is_unknown(value))
			finding_at_key(run,
				       report_pod(run, pod, value,
						  "a %s has no field `%s`",
						  what, value->key),
				       value);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->flat || !object_pods_are_native(pod->object) ||
	    pod->object->fragment || pod_uses_gpu(pod) != TRI_YES)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		judge(run, pod, c->node, container_fields, "container");
		FOR_EACH_CHILD(node_get(c->node, "volumeMounts"), mount)
			judge(run, pod, mount, mount_fields, "volumeMount");
	}
	FOR_EACH_CHILD(pod_field(pod, "volumes"), volume)
		judge(run, pod, volume, volume_fields, "volume");
}

const struct rule rule_field_unknown = {
	.name = "field-unknown",
	.category = "input",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.wants = FACT_GPU | FACT_PODSPEC,
	.since = "1.0",
	.summary = "a field that containers or volumes do not have",
	.why = "The API server refuses the object, or silently drops the field, which then has no effect.",
	.remedy = "Move it to where it belongs, or spell it as the API does.",
	.evidence =
		"https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/; https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation",
	.check_pod = check,
};
