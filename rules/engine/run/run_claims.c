/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of devices of a pod's claim is in another object, which may follow
 * the pod: a file that holds claims is read for them first. Admission sees one
 * object only.
 */
#include "run_internal.h"

void run_claims_begin(struct run *run)
{
	struct run_state *state = run->state;
	struct source *source = state->file.source;
	struct loader loader;
	struct doc doc;

	state->claims = (struct claim_table){
		.extra = &policy_kube(state->file.policy)->accelerators};
	if (!run->options.file_values ||
	    !claims_may_be_in(source->text, source->len))
		return;
	loader_init(&loader, source, &load_limits_default, &state->doc_arena);
	while (loader_next(&loader, &doc) > 0) {
		if (doc.root)
			claims_add(&state->claims, &run->file_arena, &doc);
		arena_reset(&state->doc_arena);
	}
	state->kube = *policy_kube(state->file.policy);
	state->kube.claims = &state->claims;
}

const struct kube_config *run_kube(const struct run *run)
{
	const struct run_state *state = run->state;

	return state->claims.n ? &state->kube : policy_kube(state->file.policy);
}
