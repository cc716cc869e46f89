/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kueue pkg/controller/jobframework/tas_validation.go: it asks if they are
 * there, whatever they say, and reads the slices' size. On by default since
 * 0.14. Read at commit ff69552e (2026-08).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "engine/rule.h"

static const char *const keys[] = {
	"kueue.x-k8s.io/podset-required-topology",
	"kueue.x-k8s.io/podset-preferred-topology",
	"kueue.x-k8s.io/podset-unconstrained-topology",
};

#define KUEUE "kueue.x-k8s.io/podset-"

/* A known annotation of the pods, or NULL. */
static const struct node *known(const struct pod *pod, const char *key)
{
	const struct node *at = node_get(pod->annotations, key);

	return node_is_unset(at) || node_is_unknown(at) ? NULL : at;
}

static bool is_set(const struct pod *pod, const char *key)
{
	return !node_is_unset(node_get(pod->annotations, key));
}

static void check_twice(struct rule_run *run, const struct pod *pod)
{
	const struct node *first = NULL;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct node *at = known(pod, keys[i]);

		if (!at)
			continue;
		if (first) {
			report_pod(run, pod, at,
				   "Kueue rejects pods with both `%s` and `%s`",
				   at->key, first->key);
			return;
		}
		first = at;
	}
}

/* strconv.ParseBool */
static void check_unconstrained(struct rule_run *run, const struct pod *pod)
{
	static const char *const words[] = {
		"1", "t", "T",	   "true",  "TRUE",  "True", "0",
		"f", "F", "false", "FALSE", "False", NULL};
	const struct node *at = known(pod, KUEUE "unconstrained-topology");

	if (node_str(at) && !text_any(node_str(at), words, text_eq))
		report_pod(run, pod, at,
			   "Kueue rejects `%s: %s`: the value is not a boolean",
			   at->key, at->str);
}

static void check_size(struct rule_run *run, const struct pod *pod,
		       const struct node *size)
{
	char *end;
	long n;

	if (!node_str(size))
		return;
	n = strtol(size->str, &end, 10);
	if (*end || !*size->str || n < 1)
		report_pod(
			run, pod, size,
			"Kueue rejects `%s: %s`: the size of a slice must be 1 or more",
			size->key, size->str);
	else if (!pod->steady.unknown && n > pod->steady.n &&
		 object_is(pod->object, "batch", "Job"))
		report_pod(
			run, pod, size,
			"Kueue rejects slices of %ld pods: the pod set has %" PRId64,
			n, pod->steady.n);
}

static void check_slices(struct rule_run *run, const struct pod *pod)
{
	static const char required[] = KUEUE "slice-required-topology";
	static const char size[] = KUEUE "slice-size";
	const struct node *at = known(pod, required);
	const struct node *n = known(pod, size);

	if (at && !is_set(pod, size))
		report_pod(run, pod, at, "Kueue rejects `%s` without `%s`",
			   required, size);
	if (n && !is_set(pod, required))
		report_pod(run, pod, n, "Kueue rejects `%s` without `%s`", size,
			   required);
	check_size(run, pod, n);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (!pod->object->kueue || !pod->steady.n)
		return;
	check_twice(run, pod);
	check_unconstrained(run, pod);
	check_slices(run, pod);
}

const struct rule rule_kueue_topology_twice = {
	.name = "kueue-topology-twice",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.since = "1.0",
	.summary = "pods whose topology request Kueue rejects",
	.why = "Kueue's webhook rejects the object: the annotations exclude or require each other.",
	.remedy =
		"Keep one topology annotation, and set the slice's topology and size together.",
	.evidence =
		"https://github.com/kubernetes-sigs/kueue/blob/main/pkg/controller/jobframework/tas_validation.go",
	.check_pod = check,
};
