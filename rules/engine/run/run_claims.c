/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of devices of a pod's claim is in another object, which may follow
 * the pod, and so is the template of a job that names a runtime: a file that
 * holds such objects is read for them first. Admission sees one object only.
 */
#include "doc/placeholder.h"
#include "kube/runtime.h"
#include "run_internal.h"

static void read_claims(struct run *run)
{
	struct run_state *state = run->state;
	struct source *source = state->file.source;
	struct loader loader;
	struct doc doc;

	if (!claims_may_be_in(source->text, source->len))
		return;
	loader_init(&loader, source, &load_limits_default, &state->doc_arena);
	while (loader_next(&loader, &doc) > 0) {
		if (doc.root)
			claims_add(&state->claims, &run->file_arena, &doc);
		arena_reset(&state->doc_arena);
	}
}

/* Their trees stay, unlike those of claims: pods are made of them. */
static void read_runtimes(struct run *run)
{
	struct run_state *state = run->state;
	struct source *source = state->file.source;
	struct loader loader;
	struct doc doc;

	if (!runtimes_may_be_in(source->text, source->len))
		return;
	loader_init(&loader, source, &load_limits_default, &run->file_arena);
	while (loader_next(&loader, &doc) > 0) {
		if (!doc.root)
			continue;
		placeholder_mark(&doc);
		state->runtimes =
			runtimes_add(state->runtimes, &run->file_arena, &doc);
	}
}

void run_claims_begin(struct run *run)
{
	struct run_state *state = run->state;

	state->claims = (struct claim_table){
		.extra = &policy_kube(state->file.policy)->accelerators};
	state->runtimes = NULL;
	if (!run->options.file_values)
		return;
	read_claims(run);
	read_runtimes(run);
	state->kube = *policy_kube(state->file.policy);
	state->kube.claims = &state->claims;
	state->kube.runtimes = state->runtimes;
}

const struct kube_config *run_kube(const struct run *run)
{
	const struct run_state *state = run->state;

	return state->claims.n || state->runtimes
		       ? &state->kube
		       : policy_kube(state->file.policy);
}
