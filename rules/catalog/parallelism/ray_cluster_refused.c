/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ValidateRayClusterSpec of KubeRay, by the first version whose source has the
 * check: autoscaler v2 1.5; bounds and authOptions 1.6 (v1.7.0 has all).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators/ray.h"

static void check_bounds(struct rule_run *run, const struct pod *pod)
{
	const struct node *min = node_get(pod->group, "minReplicas");
	const struct node *max = node_get(pod->group, "maxReplicas");
	int64_t least, most;
	struct finding *f;

	if (!node_int(min, &least) || !node_int(max, &most) || least <= most)
		return;
	f = report_pod(run, pod, min,
		       "KubeRay 1.6 and later reject `minReplicas: %" PRId64
		       "` above `maxReplicas: %" PRId64 "`",
		       least, most);
	finding_label(run, f, max, "the most");
}

/* The variable of the head's first container, where the cluster does not
 * scale. */
static void check_autoscaler(struct rule_run *run, const struct pod *pod,
			     const struct node *cluster)
{
	static const char name[] = "RAY_enable_autoscaler_v2";
	const struct node *scales =
		node_get(cluster, "enableInTreeAutoscaling");
	const struct node *entry = NULL;
	const struct node *value;

	FOR_EACH_CONTAINER(pod, c)
		if (c->role == CONTAINER_MAIN) {
			entry = container_env(c, name);
			break;
		}
	value = node_get(entry, "value");
	if (strcmp(pod->role, "Head") || node_is_true(scales) ||
	    node_is_unknown(scales) ||
	    !(node_eq(value, "1") || node_eq(value, "true")))
		return;
	report_pod(run, pod, value,
		   "KubeRay 1.5 and later reject `%s` without "
		   "`enableInTreeAutoscaling: true`",
		   name);
}

static void check_token(struct rule_run *run, const struct pod *pod,
			const struct node *cluster)
{
	const struct node *mode = node_path(cluster, "authOptions.mode");
	const struct node *version = node_get(cluster, "rayVersion");
	const char *text = node_str(version);
	char *end;
	long major, minor;

	if (strcmp(pod->role, "Head") || !node_eq(mode, "token") ||
	    node_is_unknown(version))
		return;
	if (text) {
		major = strtol(text + (*text == 'v'), &end, 10);
		minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
		if (major > 2 || (major == 2 && minor >= 52))
			return;
	}
	report_pod(run, pod, text ? version : mode,
		   "KubeRay 1.6 and later reject `authOptions.mode: token` "
		   "without a rayVersion of 2.52.0 or later");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *cluster = pod_ray_cluster(pod);

	if (!text_eq(pod->object->group, "ray.io") ||
	    !strcmp(pod->role, "submitter") || !object_gpu_pod(pod->object))
		return;
	check_bounds(run, pod);
	check_autoscaler(run, pod, cluster);
	check_token(run, pod, cluster);
}

const struct rule rule_ray_cluster_refused = {
	.name = "ray-cluster-refused",
	.category = "parallelism",
	.severity = SEVERITY_ERROR,
	.since = "1.0",
	.summary =
		"a Ray cluster whose bounds, token or autoscaler KubeRay rejects",
	.why = "The object is accepted but nothing starts; KubeRay reports the reason only in an event.",
	.remedy = "Change or remove the field named in the message.",
	.evidence =
		"https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/utils/validation.go",
	.check_pod = check,
};
