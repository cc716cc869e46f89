/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the object of a workload again, for rules over several objects: the
 * index keeps only facts by which objects are found, compared or added up.
 * These rules need few workloads, and files with findings are read again
 * anyway, so this is cheaper than keeping every tree.
 */
#include <string.h>

#include "base/text.h"
#include "doc/load.h"
#include "engine/policy.h"
#include "kube/object.h"
#include "kube/purpose/purpose.h"
#include "run_internal.h"

/* A file that is read again, document by document, because workloads come in
 * the order of files. */
struct reread {
	struct arena arena;  /* memory of the document */
	struct arena tables; /* claims and runtimes of the file */
	uint32_t file;
	struct source *source;
	struct loader loader;
	struct doc doc;		  /* last document that was read */
	struct object_list found; /* its objects */
	size_t from;		  /* index of the object found last */
	struct object *last;	  /* object of the last workload, or NULL */
	size_t at;		  /* index of that workload */
};

static void ignore_issue(void *context, const struct load_issue *issue)
{
	(void)context; /* issues were reported when the file was linted */
	(void)issue;
}

/* Starts to read the file, with its policy. */
static void begin_file(struct run *run, struct reread *reread, uint32_t file,
		       struct source *source)
{
	arena_reset(&reread->tables);
	reread->file = file;
	reread->source = source;
	reread->doc = (struct doc){.number = 0};
	reread->last = NULL;
	reread->at = 0;
	run->state->file.source = source;
	run->state->file.index = file;
	run_claims_begin(run, &reread->tables, &reread->arena);
	loader_init(&reread->loader, source, &load_limits_default,
		    &reread->arena);
	reread->loader.issue = ignore_issue;
}

static bool next_document(struct run *run, struct reread *reread)
{
	const struct node *nested = NULL;

	arena_reset(&reread->arena);
	reread->found = (struct object_list){.n = 0};
	reread->from = 0;
	reread->last = NULL;
	run->state->found_runtimes = NULL;
	if (loader_next(&reread->loader, &reread->doc) <= 0)
		return false;
	if (!reread->doc.root)
		return true;
	if (run->options.file_values)
		placeholder_mark(&reread->doc);
	object_read(&reread->arena, run_kube(run), &reread->doc, &reread->found,
		    &nested);
	return true;
}

/* Reads the document of the workload, unless it was the last one. Returns NULL
 * if the file cannot be read. */
static struct reread *reread_document(struct run *run, const struct workload *w)
{
	struct run_state *state = run->state;
	const struct run_options *options = &run->options;
	const struct policy *policy = state->file.policy;
	struct source *source =
		options->source_of
			? options->source_of(options->context, w->place.file)
			: NULL;
	struct reread *reread = state->reread;

	if (!source)
		return NULL;
	if (!reread)
		reread = state->reread =
			ARENA_NEW(&state->arena, struct reread);
	state->file.policy = state->policy_of(state->policies, w->place.file);
	/* An earlier object was changed when it was found, so it is read
	 * again. */
	if (reread->source != source || reread->file != w->place.file ||
	    reread->at > w->at)
		begin_file(run, reread, w->place.file, source);
	while (reread->doc.number < w->place.document &&
	       next_document(run, reread))
		continue;
	/* The text, and the names in it, are freed at the end of the file. */
	state->names = (struct run_names){.read = true};
	state->file.policy = policy;
	state->file.source = source;
	state->file.index = w->place.file;
	return reread;
}

void run_reread_release(struct run *run)
{
	struct reread *reread = run->state->reread;

	if (!reread)
		return;
	arena_release(&reread->arena);
	arena_release(&reread->tables);
}

static struct object *find_object(struct object *objects, size_t n,
				  const struct workload *w, struct arena *arena)
{
	struct object *found = NULL;

	for (size_t i = 0; i < n && !found; i++) {
		struct object *o = &objects[i];
		struct place place;

		found = find_object(o->embedded, o->nembedded, w, arena);
		if (found || !text_eq(o->kind, w->id.kind) ||
		    strcmp(text_or_empty(o->name), w->id.name))
			continue;
		place = place_of(arena, o, index_name_node(o), w->place.file);
		if (place.document == w->place.document &&
		    place.start == w->place.start)
			found = o;
	}
	return found;
}

/* Searches from the object that was found last, which it usually follows. */
static struct object *find_in_document(struct reread *reread,
				       const struct workload *w)
{
	size_t n = reread->found.n;

	for (size_t i = 0; i < n; i++) {
		size_t next = (reread->from + i) % n;
		struct object *object = find_object(&reread->found.items[next],
						    1, w, &reread->arena);

		if (!object)
			continue;
		reread->from = next;
		return object->npods == w->npods ? object : NULL;
	}
	return NULL;
}

static struct object *reread_object(struct run *run, const struct workload *w)
{
	struct reread *reread = reread_document(run, w);
	struct object *object;

	if (!reread)
		return NULL;
	if (reread->last && reread->at == w->at)
		return reread->last;
	object = find_in_document(reread, w);
	if (!object)
		return NULL;
	object->namespace = *w->id.namespace ? w->id.namespace : NULL;
	object->fragment = w->fragment;
	run_inject(run, &reread->arena, object);
	object->infrastructure = namespace_is_infrastructure(
		run_kube(run), policy_namespace(object));
	reread->last = object;
	reread->at = w->at;
	return object;
}

const struct object *rule_object(struct rule_run *rr, const struct workload *w)
{
	struct run_state *state = rr->run->state;
	const struct cluster *cluster = state->cluster;

	if (w->place.object) /* in a review */
		return rr->object = w->place.object;
	if (w->place.file == NO_FILE)
		return NULL;
	state->cluster = w->cluster;
	rr->object = reread_object(rr->run, w);
	state->cluster = cluster;
	return rr->object;
}

const struct pod *rule_pod(struct rule_run *rr, const struct workload *w,
			   size_t i)
{
	const struct object *object = rule_object(rr, w);

	return object ? &object->pods[i] : NULL;
}

const struct place *rule_place(struct rule_run *rr, const struct node *at)
{
	struct place *place = ARENA_NEW(rule_arena(rr), struct place);

	*place = place_of(rule_arena(rr), rr->object, at,
			  rr->run->state->file.index);
	return place;
}
