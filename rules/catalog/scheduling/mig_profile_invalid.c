/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports MIG profiles that no GPU offers, or that the selected GPU lacks. The
 * device plugin calls a slice `nvidia.com/mig-<profile>`, with `+` replaced by
 * `.`, and advertises only complete GPU instances (no `1c.3g.20gb`). A profile
 * of the usual form (`3g.40gb`) that is not in the table may belong to a newer
 * GPU, so it is a warning. Names that a DeviceClass defines are skipped.
 *
 * Source: k8s-device-plugin internal/rm; rules/kube/data/mig_profiles.tsv.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/node_devices.h"

/* Number of unknown profiles of a pod that are compared with all known ones; a
 * pod may request tens of thousands. */
enum { COMPARED = 16 };

/* Returns the profile in a resource's name, without the suffix `.shared` of
 * time slicing; NULL if it is not a slice. */
static const char *mig_profile_of(struct arena *arena, const char *resource)
{
	static const char shared[] = ".shared";

	if (!text_starts(resource, MIG_PREFIX))
		return NULL;
	resource += strlen(MIG_PREFIX);
	if (!text_ends(resource, shared))
		return resource;
	return arena_strndup(arena, resource,
			     strlen(resource) - strlen(shared));
}

/* True if this product (NULL: any product) offers the profile. */
static bool has_profile(const char *product, const char *profile)
{
	size_t n;
	const struct mig_profile *rows = mig_profiles(&n);

	for (size_t i = 0; i < n; i++)
		if (text_eq(rows[i].profile, profile) &&
		    (!product || text_eq(rows[i].product, product)))
			return true;
	return false;
}

/* Returns the profile that a misspelled one probably means, or NULL. */
static const char *nearest_profile(const char *profile)
{
	const char *best = NULL;
	unsigned least = 3;
	size_t n;
	const struct mig_profile *rows = mig_profiles(&n);

	for (size_t i = 0; i < n; i++) {
		const char *one = rows[i].profile;
		unsigned d =
			one ? text_distance(profile, one, least - 1) : least;

		if (d >= least)
			continue;
		least = d;
		best = one;
	}
	return best;
}

/* True for a profile of the usual form, such as 3g.40gb or 1g.24gb.gfx. */
static bool looks_right(const char *profile)
{
	char *end;
	unsigned long slices = strtoul(profile, &end, 10);

	if (end == profile || slices < 1 || slices > 7 ||
	    strncmp(end, "g.", 2) || end[2] < '1' || end[2] > '9')
		return false;
	strtoul(end + 2, &end, 10);
	return text_starts(end, "gb") && (!end[2] || end[2] == '.');
}

/* A pod's slices, and the number of its unknown profiles. */
struct slices {
	struct mig_choices choices;
	unsigned unknown;
};

static void report_unknown(struct rule_run *run, const struct container *c,
			   const struct node *value, const char *profile,
			   struct slices *slices)
{
	const char *near = NULL;
	struct finding *f;

	if (rule_names_device(run, value->key))
		return;
	f = report_container(
		run, c, value,
		"container `%s` requests the MIG profile `%s`, which no known GPU has",
		container_title(c), profile);
	finding_at_key(run, f, value);
	finding_cause(run, f, value->key);
	if (looks_right(profile))
		finding_severity(f, SEVERITY_WARNING);
	if (slices->unknown++ < COMPARED)
		near = nearest_profile(profile);
	if (near)
		finding_help(run, f, "did you mean `" MIG_PREFIX "%s`?", near);
}

static void check_product(struct rule_run *run, const struct container *c,
			  const struct node *value, const char *profile,
			  const struct mig_choices *choices)
{
	for (size_t i = 0; i < choices->n; i++) {
		const struct mig_choice *one = &choices->items[i];
		struct finding *f;

		if (has_profile(one->product, profile))
			continue;
		if (rule_names_device(run, value->key))
			return;
		f = report_container(run, c, value,
				     "`%s` selects %s, which has no MIG "
				     "profile `%s`",
				     one->key, one->product, profile);
		finding_at_key(run, f, value);
		finding_label(run, f, one->value, "the GPU");
		return;
	}
}

static void check_entry(struct rule_run *run, const struct container *c,
			const struct resource_entry *entry,
			struct slices *slices)
{
	const struct node *value = entry->node;
	const char *profile = mig_profile_of(rule_arena(run), value->key);

	/* A complete name comes from the policy, or a large site uses it. */
	if (!profile || !entry->accelerator ||
	    text_eq(entry->accelerator->name, value->key) ||
	    entry->state == QUANTITY_ABSENT ||
	    (entry->state == QUANTITY_OK && entry->quantity.nano <= 0))
		return;
	if (has_profile(NULL, profile))
		check_product(run, c, value, profile, &slices->choices);
	else
		report_unknown(run, c, value, profile, slices);
}

/* Compares the selected GPU with GKE's label of the node pool, which names the
 * profile of its slices. */
static void check_partition(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = node_get(
		pod->node_selector, "cloud.google.com/gke-gpu-partition-size");
	struct mig_choices choices;

	if (!node_str(at) || pod_uses_gpu(pod) != TRI_YES)
		return;
	choices = mig_choices_of(pod);
	for (size_t i = 0; i < choices.n; i++) {
		const struct mig_choice *one = &choices.items[i];
		struct finding *f;

		if (has_profile(one->product, at->str))
			continue;
		f = report_pod(run, pod, at,
			       "`%s` selects %s, which has no MIG profile `%s`",
			       one->key, one->product, at->str);
		finding_label(run, f, one->value, "the GPU");
		return;
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	struct slices slices;
	bool known = false;

	check_partition(run, pod);
	FOR_EACH_CONTAINER(pod, c) {
		FOR_EACH_ASKED(c, entry) {
			if (!text_starts(entry->node->key, MIG_PREFIX))
				continue;
			if (!known)
				slices =
					(struct slices){mig_choices_of(pod), 0};
			known = true;
			check_entry(run, c, entry, &slices);
		}
	}
}

const struct rule rule_mig_profile_invalid = {
	.name = "mig-profile-invalid",
	.category = "scheduling",
	.severity = SEVERITY_ERROR,
	.scope = GPU_PODS,
	.summary =
		"a MIG profile that no known GPU has, or that the selected GPU lacks",
	.why = "The API server accepts any name, but if no node offers the profile, the pod stays Pending forever.",
	.remedy =
		"Request a profile that the GPU has (`nvidia-smi mig -lgip` on a node lists them). If your cluster really advertises this profile, list it under `accelerators` in the policy.",
	.evidence =
		"https://github.com/NVIDIA/k8s-device-plugin (resource names of MIG strategy mixed); https://docs.nvidia.com/datacenter/tesla/mig-user-guide/; gpu-operator's MIG manager configuration",
	.check_pod = check,
};
