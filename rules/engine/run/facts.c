/* SPDX-License-Identifier: Apache-2.0 */
/* Each fact is one cheap test; rules look closer. */
#include "engine/facts.h"

#include "base/text.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/scheduling/spot.h"

/* -- objects --------------------------------------------------------------- */

/* A project has several API groups: batch.volcano.sh, flow.volcano.sh. */
static unsigned facts_of_group(const char *group)
{
	static const struct {
		const char *domain;
		enum fact fact;
	} projects[] = {
		{"kubeflow.org", FACT_KUBEFLOW}, {"ray.io", FACT_RAY},
		{"kserve.io", FACT_KSERVE},	 {"volcano.sh", FACT_VOLCANO},
		{"jobset.x-k8s.io", FACT_JOB},
	};

	for (size_t i = 0; *group && i < sizeof(projects) / sizeof(*projects);
	     i++)
		if (text_ends(group, projects[i].domain))
			return projects[i].fact;
	return 0;
}

unsigned object_facts(const struct object *object)
{
	unsigned facts = facts_of_group(object->group);

	if (!object->npods)
		facts |= FACT_PODLESS;
	if (object->class != KIND_POD)
		facts |= FACT_NOT_POD;
	if (object->gang.n >= 2)
		facts |= FACT_GANG;
	FOR_EACH_POD(object, pod)
		if (pod_uses_gpu(pod) == TRI_YES)
			facts |= FACT_GPU;
	return facts;
}

/* -- pods ------------------------------------------------------------------ */

static unsigned if_set(const struct node *node, enum fact fact)
{
	return node ? fact : 0;
}

static unsigned facts_of_spec(const struct pod *pod)
{
	unsigned facts = 0;

	facts |= if_set(pod_field(pod, "resourceClaims"), FACT_CLAIMS);
	facts |= if_set(pod_field(pod, "hostIPC"), FACT_HOST);
	facts |= if_set(pod_field(pod, "hostNetwork"), FACT_HOST);
	facts |= if_set(pod_field(pod, "hostPID"), FACT_HOST);
	facts |= if_set(pod_field(pod, "nodeSelector"), FACT_PLACED);
	facts |= if_set(pod_field(pod, "affinity"), FACT_PLACED);
	facts |= if_set(pod_field(pod, "nodeName"), FACT_PLACED);
	facts |= if_set(pod_field(pod, "securityContext"), FACT_SECURITY);
	facts |= if_set(pod->annotations, FACT_ANNOTATED);
	facts |= if_set(pod_spot(pod), FACT_SPOT);
	return facts;
}

static unsigned facts_of_volumes(const struct pod *pod)
{
	unsigned facts = 0;

	FOR_EACH_CHILD(pod_field(pod, "volumes"), volume) {
		const struct node *from = node_get(volume, "emptyDir");

		facts |= if_set(node_get(volume, "hostPath"), FACT_HOST_VOLUME);
		facts |= if_set(from, FACT_EMPTY_DIR);
		if (text_starts(node_str(node_get(from, "medium")), "Huge"))
			facts |= FACT_HUGEPAGES;
	}
	return facts;
}

/* Both maps: each entry of limits and of requests. */
static unsigned facts_of_resources(const struct container *c)
{
	bool extended = c->extended || c->accelerator;
	unsigned facts = extended ? FACT_EXTENDED : 0;

	for (size_t i = 0; i < c->nlimits + c->nrequests; i++) {
		const char *name = c->entries[i].node->key;

		if (name[0] == 'h' && name[1] == 'u')
			facts |= FACT_HUGEPAGES;
		if (c->extended && !c->entries[i].accelerator &&
		    strchr(name, '/'))
			facts |= FACT_OTHER;
	}
	return facts;
}

/* Operators take variables as maps as well. */
static unsigned facts_of_variables(const struct container *c)
{
	static const char *const names[] = {
		"NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
		"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};
	unsigned facts = c->nenv ? FACT_ENV : 0;

	if (c->pod->flat || c->pod->made)
		return FACT_ENV | FACT_VISIBLE;
	for (size_t i = 0; c->nenv && i < sizeof(names) / sizeof(*names); i++)
		facts |= if_set(container_env(c, names[i]), FACT_VISIBLE);
	return facts | if_set(node_get(c->node, "envFrom"), FACT_VISIBLE);
}

static unsigned facts_of_container(const struct container *c)
{
	const struct node *map = c->node;
	unsigned facts = facts_of_variables(c) | facts_of_resources(c);

	facts |= if_set(node_get(map, "command"), FACT_ARGV);
	facts |= if_set(node_get(map, "args"), FACT_ARGV);
	facts |= if_set(node_get(map, "securityContext"), FACT_SECURITY);
	facts |= if_set(node_get(map, "livenessProbe"), FACT_PROBES);
	facts |= if_set(node_get(map, "readinessProbe"), FACT_PROBES);
	facts |= if_set(node_get(map, "startupProbe"), FACT_PROBES);
	facts |= c->gpus.n > 0 ? FACT_DEVICES : FACT_NO_DEVICE;
	if (c->role != CONTAINER_MAIN)
		facts |= FACT_INIT;
	return facts;
}

unsigned pod_facts(const struct pod *pod, unsigned of_object)
{
	unsigned facts = of_object & ~(unsigned)FACT_GPU;
	enum tri gpu = pod_uses_gpu(pod);

	facts |= gpu == TRI_YES ? FACT_GPU : gpu == TRI_NO ? FACT_NO_GPU : 0;
	if (!pod->flat)
		facts |= FACT_PODSPEC;
	if (pod->steady.n >= 2)
		facts |= FACT_SEVERAL;
	if (pod->ncontainers >= 2)
		facts |= FACT_TWO_CONTAINERS;
	if (object_is_job(pod->object) || pod_job_spec(pod))
		facts |= FACT_JOB;
	facts |= facts_of_spec(pod) | facts_of_volumes(pod);
	FOR_EACH_CONTAINER_OF_ALL(pod, c)
		facts |= facts_of_container(c);
	return facts;
}
