/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions of operators. A version that is later than the definitions from
 * which the tables of types were made may have more fields and words, and may
 * require fewer fields.
 */
#include "run_internal.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "kube/runtime.h"

struct version version_read(const char *text)
{
	int numbers[3];

	text_version(text, numbers, 3);
	return (struct version){numbers[0] < 0 ? 0 : numbers[0],
				numbers[1] < 0 ? 0 : numbers[1], numbers[2]};
}

enum tri version_is_at_least(struct version a, struct version b)
{
	if (a.major != b.major)
		return a.major > b.major ? TRI_YES : TRI_NO;
	if (a.minor != b.minor)
		return a.minor > b.minor ? TRI_YES : TRI_NO;
	if (b.patch <= 0)
		return TRI_YES;
	if (a.patch < 0)
		return TRI_UNKNOWN;
	return a.patch >= b.patch ? TRI_YES : TRI_NO;
}

bool version_is_later_minor(struct version a, struct version b)
{
	return a.major != b.major ? a.major > b.major : a.minor > b.minor;
}

bool version_was_read(const char *versions, struct version v)
{
	for (const char *at = versions; at; at = strchr(at, ',')) {
		struct version first, last;
		const char *to;

		at += strspn(at, ", ");
		first = last = version_read(at);
		to = at + strcspn(at, ",t");
		if (*to == 't')
			last = version_read(to + strlen("to "));
		if (!version_is_later_minor(first, v) &&
		    !version_is_later_minor(v, last))
			return true;
	}
	return false;
}

const char *operator_version(struct rule_run *run, enum operator_name name)
{
	const char *text =
		cluster_operator(rule_cluster(run), name, rule_arena(run));

	return text ? text : rule_platform(run)->operators[name];
}

/* The last release of each operator in kube/data/custom_types.tsv. The first
 * row of the group, and of the kind if there is one, counts. */
static const struct typed_operator {
	const char *group, *kind;
	enum operator_name operator;
	const char *name, *version;
} typed[] = {
	{"batch.volcano.sh", NULL, OPERATOR_VOLCANO, "Volcano", "1.15"},
	{"flow.volcano.sh", NULL, OPERATOR_VOLCANO, "Volcano", "1.15"},
	{"jobset.x-k8s.io", NULL, OPERATOR_JOBSET, "JobSet", "0.12"},
	{"kubeflow.org", "MPIJob", OPERATOR_MPI, "mpi-operator", "0.8"},
	{"kubeflow.org", "Notebook", OPERATOR_NONE, NULL, NULL},
	{"kubeflow.org", NULL, OPERATOR_TRAINER, "Trainer", "2.3"},
	{"kueue.x-k8s.io", NULL, OPERATOR_KUEUE, "Kueue", "0.19"},
	{"leaderworkerset.x-k8s.io", NULL, OPERATOR_LWS, "LWS", "0.10"},
	{"ray.io", NULL, OPERATOR_KUBERAY, "KubeRay", "1.7"},
	{"scheduling.run.ai", NULL, OPERATOR_KAI, "KAI", "0.20"},
	{"scheduling.volcano.sh", NULL, OPERATOR_VOLCANO, "Volcano", "1.15"},
	{"serving.kserve.io", NULL, OPERATOR_KSERVE, "KServe", "0.20"},
	{"sparkoperator.k8s.io", NULL, OPERATOR_SPARK, "Spark operator", "2.5"},
	{"trainer.kubeflow.org", NULL, OPERATOR_TRAINER, "Trainer", "2.3"},
};

/* Returns NULL if no policy or snapshot can give the version of the operator.
 */
static const struct typed_operator *find_operator(const struct object *object)
{
	for (size_t i = 0; i < ARRAY_SIZE(typed); i++)
		if (text_eq(object->group, typed[i].group) &&
		    (!typed[i].kind || text_eq(object->kind, typed[i].kind)))
			return typed[i].version ? &typed[i] : NULL;
	return NULL;
}

bool rule_operator_is_newer(struct rule_run *run, const struct object *object)
{
	const struct typed_operator *one = find_operator(object);
	const char *version = one ? operator_version(run, one->operator) : NULL;

	return version && version_is_later_minor(version_read(version),
						 version_read(one->version));
}

enum tri rule_operator_is_at_least(struct rule_run *run,
				   const struct object *object,
				   const char *since, const char **name)
{
	const struct typed_operator *one = find_operator(object);
	const char *version = one ? operator_version(run, one->operator) : NULL;

	*name = one ? one->name : NULL;
	return version ? version_is_at_least(version_read(version),
					     version_read(since))
		       : TRI_UNKNOWN;
}
