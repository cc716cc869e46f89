/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports training that may run on spot nodes without a sign of durable
 * checkpoints. Possible ways to store them, such as variables from other
 * objects, claims in other files and host paths, count as signs. A warning if
 * the command names the folder, because the script may store them otherwise.
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/affinity.h"

static bool outlives_pod(const struct node *volume)
{
	static const char *const short_lived[] = {
		"emptyDir",  "configMap", "secret", "downwardAPI",
		"projected", "ephemeral", "image",  NULL};

	for (const char *const *key = short_lived; *key; key++)
		if (node_get(volume, *key))
			return false;
	return true;
}

/* True if the container may write to a volume that outlives its pod, or may get
 * the address of an object store from another object. */
static bool has_storage(const struct pod *pod, const struct container *c)
{
	FOR_EACH_CHILD(node_get(c->node, "volumeMounts"), mount) {
		const char *name = node_str(node_get(mount, "name"));
		const struct node *volume = name ? pod_volume(pod, name) : NULL;

		if (node_is_true(node_get(mount, "readOnly")) ||
		    node_is_true(node_path(volume,
					   "persistentVolumeClaim.readOnly")))
			continue;
		if (!volume || outlives_pod(volume))
			return true;
	}
	return !node_is_unset(node_get(c->node, "envFrom"));
}

static bool mounts(const struct container *c, const char *volume)
{
	FOR_EACH_CHILD(node_get(c->node, "volumeMounts"), mount)
		if (node_eq(node_get(mount, "name"), volume))
			return true;
	return false;
}

/* True if the container may save checkpoints, because it may use GPUs, or
 * shares a volume with a container that may. */
static bool sees_training(const struct container *c)
{
	if (container_uses_gpu(c) != TRI_NO)
		return true;
	FOR_EACH_CONTAINER(c->pod, other) {
		if (other->role == CONTAINER_INIT ||
		    container_uses_gpu(other) == TRI_NO)
			continue;
		FOR_EACH_CHILD(node_get(other->node, "volumeMounts"), mount) {
			const char *name = node_str(node_get(mount, "name"));

			if (!name || mounts(c, name))
				return true;
		}
	}
	return false;
}

/* True for a text that may contain the address of an object store (`s3://...`,
 * `--out=gs://...`), or for the option --push_to_hub of transformers. */
static bool is_store(const char *text)
{
	return strstr(text, "://") || strstr(text, "push_to_hub");
}

static bool names_store(const struct container *c)
{
	static const char *const lists[] = {"command", "args", NULL};

	for (const char *const *list = lists; *list; list++)
		FOR_EACH_CHILD(node_get(c->node, *list), item)
			if (node_str(item) && is_store(node_str(item)))
				return true;
	for (size_t i = 0; i < c->nenv; i++)
		if (!node_str(c->env[i].value) ||
		    is_store(node_str(c->env[i].value)))
			return true;
	return false;
}

/* Returns the word of the command with the folder for checkpoints, or NULL. */
static const struct arg *checkpoint_folder(const struct pod *pod)
{
	static const char *const flags[] = {"checkpoint-dir", "ckpt-dir",
					    "save-dir", "output-dir", NULL};

	FOR_EACH_CONTAINER(pod, c) {
		const struct argv argv = container_argv(c);
		const struct arg *arg;

		for (const char *const *flag = flags; *flag; flag++)
			if (container_uses_gpu(c) != TRI_NO &&
			    argv_flag(&argv, *flag, &arg))
				return arg;
	}
	return NULL;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *spot = pod_spot(pod);
	const struct arg *folder;
	struct finding *f;

	if (!spot || !pod_is_training(pod))
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (c->role != CONTAINER_INIT && sees_training(c) &&
		    (has_storage(pod, c) || names_store(c)))
			return;
	f = report_pod(
		run, pod, spot,
		"training may run on spot nodes, but writes to no volume that outlives its pods and names no object store");
	folder = checkpoint_folder(pod);
	if (folder)
		finding_label(run, f, folder->node, "the checkpoints");
	else
		finding_severity(f, SEVERITY_INFO);
}

const struct rule rule_spot_without_checkpoint = {
	.name = "spot-without-checkpoint",
	.category = "spot",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"training that may run on spot nodes has no durable place for checkpoints",
	.why = "A spot node is reclaimed together with its disk: without durable checkpoints, the run starts from the beginning each time.",
	.remedy =
		"Write checkpoints to a volume that outlives the pod, or to object storage.",
	.evidence =
		"https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms; https://karpenter.sh/docs/concepts/disruption/#interruption",
	.check_pod = check,
};
