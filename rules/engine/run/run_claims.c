/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the claims in a file before its objects, because the number of devices
 * of a pod's claim is in another object, which may follow the pod. At admission
 * there is only one object. Files that set rules read again are read in the
 * same way, so that their objects are the same.
 */
#include "run_internal.h"

const struct kube_config *run_kube(struct run *run)
{
	struct run_state *state = run->state;

	if (state->kube_of == state->file.policy)
		return &state->kube;
	state->kube_of = state->file.policy;
	state->kube = *policy_kube(state->kube_of);
	state->kube.accelerators.named = run_named_accelerator;
	state->kube.accelerators.context = run;
	state->kube.claims =
		state->claims.n || state->claims.find ? &state->claims : NULL;
	state->kube.runtimes = (struct runtime_finder){run_find_runtime, run};
	return &state->kube;
}

static const struct claim *find_claim(void *context, const char *namespace,
				      const char *name, bool template)
{
	const struct run *run = context;

	return run->options.find_claim(run->options.set, run->state->file.index,
				       namespace, name, template);
}

static void read_claims(struct run *run, struct arena *arena)
{
	struct run_state *state = run->state;
	struct source *source = state->file.source;
	struct arena docs = ARENA_INIT;
	struct loader loader;
	struct doc doc;

	if (!claims_may_be_in(source->text, source->len))
		return;
	state->claims.extra = &run_kube(run)->accelerators;
	loader_init(&loader, source, &load_limits_default, &docs);
	while (loader_next(&loader, &doc) > 0) {
		if (doc.root)
			claims_add(&state->claims, arena, &doc);
		arena_reset(&docs);
	}
	arena_release(&docs);
}

void run_claims_begin(struct run *run, struct arena *arena,
		      struct arena *objects)
{
	struct run_state *state = run->state;

	state->names = (struct run_names){0};
	state->claims = (struct claim_table){0};
	run_runtimes_begin(run, arena, objects);
	state->kube_of = NULL;
	if (!run->options.file_values)
		return;
	if (run->options.find_claim) {
		state->claims.find = find_claim;
		state->claims.context = run;
	}
	read_claims(run, arena);
	state->kube_of = NULL; /* makes run_kube() build it again */
}

void run_claims_end(struct run *run)
{
	struct run_state *state = run->state;

	state->names = (struct run_names){.read = true};
	state->claims = (struct claim_table){0};
	run_runtimes_end(run);
	state->kube_of = NULL;
}
