/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the claims in a file, and the objects that pods are made from, before
 * its objects, because the number of devices of a pod's claim is in another
 * object, which may follow the pod. At admission there is only one object.
 * Files that set rules read again are read in the same way, so that their
 * objects are the same.
 */
#include "run_internal.h"

#include "base/text.h"
#include "doc/load.h"
#include "kube/runtime.h"

/*
 * Reads runtimes to which objects refer. Runtimes in the file are read before
 * its objects, because they may follow them; others are read when an object
 * refers to one, and stay in memory as long as its document.
 */

/* Reads the runtimes in the file. Unlike for claims, the trees stay in memory,
 * because pods are built from them. */
static void read_file(struct run *run, struct arena *arena)
{
	struct run_state *state = run->state;
	struct source *source = state->file.source;
	struct loader loader;
	struct doc doc;

	if (!runtimes_may_be_used_in(source->text, source->len))
		return;
	state->runtimes = ARENA_NEW(arena, struct runtime_table);
	loader_init(&loader, source, &load_limits_default, arena);
	while (loader_next(&loader, &doc) > 0) {
		if (!doc.root)
			continue;
		placeholder_mark(&doc);
		runtimes_add(state->runtimes, arena, &doc, state->file.index);
	}
}

/* Reads the runtimes to which the file's objects refer. */
static void run_runtimes_begin(struct run *run, struct arena *arena,
			       struct arena *objects)
{
	run->state->runtimes = NULL;
	run->state->found_runtimes = NULL;
	run->state->found_arena = objects;
	if (run->options.file_values)
		read_file(run, arena);
}

static void run_runtimes_end(struct run *run)
{
	run->state->runtimes = NULL;
	run->state->found_runtimes = NULL;
}

/* Finds a runtime in other input files. Copies it with its own line table,
 * because another thread may use the original. */
static bool find_in_set(struct run *run, const struct object *object,
			const char *kind, const struct node *ref,
			struct runtime *copy)
{
	const struct run_options *options = &run->options;
	const struct runtime *one =
		options->find_runtime
			? options->find_runtime(options->set, object, kind,
						ref->str)
			: NULL;
	struct arena *arena = run->state->found_arena;

	if (!one || one->file == run->state->file.index)
		return false;
	*copy = *one;
	copy->source = ARENA_NEW(arena, struct source);
	*copy->source = *one->source;
	copy->source->arena = arena;
	return true;
}

/* Returns the tree of a runtime in the cluster, which may have been read for
 * another reference. */
static const struct node *cluster_root(struct run_state *state,
				       const struct object_id *id)
{
	for (const struct runtime *one = state->found_runtimes; one;
	     one = one->next)
		if (one->file == NO_FILE && text_eq(one->name, id->name) &&
		    text_eq(one->kind, id->kind) &&
		    text_eq(one->namespace, id->namespace) &&
		    text_eq(one->api_version, id->api_version))
			return one->root;
	return cluster_object(state->cluster, id, state->found_arena);
}

static bool find_in_cluster(struct run *run, const struct object *object,
			    const char *kind, const struct node *ref,
			    struct runtime *copy)
{
	struct run_state *state = run->state;
	struct object_id id = {object->api_version, kind, "", ref->str};

	if (!state->cluster)
		return false;
	if (!text_starts(kind, "Cluster"))
		id.namespace = object->namespace
				       ? object->namespace
				       : state->file.default_namespace;
	if (!id.namespace)
		return false;
	*copy = (struct runtime){
		.api_version = object->api_version,
		.kind = kind,
		.name = ref->str,
		.namespace = id.namespace,
		.root = cluster_root(state, &id),
		.file = NO_FILE,
	};
	return copy->root != NULL;
}

/* True if the budget allows reading one more runtime. At admission, each item
 * of a List has a separate budget within that of the review. */
static bool may_read(struct run *run)
{
	struct load_budget *budget = &run->state->budget;

	if (!run->options.admission)
		return true;
	return !run_outgrows_budget(run) && !budget->over &&
	       load_budget_left(budget).memory;
}

static const struct runtime *find_elsewhere(struct run *run,
					    const struct object *object,
					    const char *kind,
					    const struct node *ref)
{
	struct run_state *state = run->state;
	struct runtime copy, *one;

	for (one = state->found_runtimes; one; one = one->next)
		if (one->ref == ref && text_eq(one->kind, kind))
			return one;
	if (!may_read(run))
		return NULL;
	if (!find_in_set(run, object, kind, ref, &copy) &&
	    !find_in_cluster(run, object, kind, ref, &copy))
		return NULL;
	one = ARENA_NEW(state->found_arena, struct runtime);
	*one = copy;
	one->ref = ref;
	one->next = state->found_runtimes;
	state->found_runtimes = one;
	return one;
}

/* See struct runtime_finder; context is the run. */
static const struct runtime *run_find_runtime(void *context,
					      const struct object *object,
					      const char *kind,
					      const struct node *ref)
{
	struct run *run = context;
	const struct runtime *one =
		run->state->runtimes
			? runtimes_named(run->state->runtimes, ref->str)
			: NULL;

	while (one && !runtime_is(one, object, kind, ref->str))
		one = one->next;
	return one ? one : find_elsewhere(run, object, kind, ref);
}

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
