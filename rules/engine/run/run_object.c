/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the complete object of a workload again, for rules over several objects
 * that need data that the index does not store. Such rules need few workloads,
 * and files with findings are read again anyway, so this is cheaper than
 * keeping every tree.
 */
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "doc/load.h"
#include "doc/placeholder.h"
#include "engine/policy.h"
#include "kube/injected.h"
#include "run_internal.h"

/* Objects of one file, which stay in memory until another file is needed. */
struct reread {
	struct arena arena;
	uint32_t file;
	struct source *source;
	struct object *objects; /* of all documents */
	size_t n, size;
};

static void ignore_issue(void *context, const struct load_issue *issue)
{
	(void)context; /* issues were reported when the file was linted */
	(void)issue;
}

static bool read_document(struct run *run, struct reread *reread,
			  struct loader *loader)
{
	struct doc *doc = ARENA_NEW(&reread->arena, struct doc);
	const struct node *nested = NULL;
	struct object_list list = {0};

	if (loader_next(loader, doc) <= 0)
		return false;
	if (!doc->root)
		return true;
	if (run->options.file_values)
		placeholder_mark(doc);
	object_read(&reread->arena, run_kube(run), doc, &list, &nested);
	for (size_t i = 0; i < list.n; i++)
		*VEC_PUSH(&reread->arena, reread->objects, reread->n,
			  reread->size) = list.items[i];
	return true;
}

/* Returns the objects of the file, which is read unless it was the last one. */
static struct reread *reread_file(struct run *run, uint32_t file)
{
	struct run_state *state = run->state;
	const struct run_options *options = &run->options;
	struct reread *reread = state->reread;
	struct source *source =
		options->source_of ? options->source_of(options->context, file)
				   : NULL;
	struct loader loader;

	if (reread && reread->source == source && reread->file == file)
		return reread;
	if (!reread)
		reread = state->reread =
			ARENA_NEW(&state->arena, struct reread);
	arena_reset(&reread->arena);
	*reread = (struct reread){
		.arena = reread->arena, .file = file, .source = source};
	if (!source)
		return reread;
	loader_init(&loader, source, &load_limits_default, &reread->arena);
	loader.issue = ignore_issue;
	while (read_document(run, reread, &loader))
		continue;
	return reread;
}

void run_reread_release(struct run *run)
{
	if (run->state->reread)
		arena_release(&run->state->reread->arena);
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

const struct object *rule_object(struct rule_run *rr, const struct workload *w)
{
	struct run *run = rr->run;
	struct reread *reread;
	struct object *object;

	if (w->place.object) /* in a review */
		return rr->object = w->place.object;
	if (w->place.file == NO_FILE)
		return NULL;
	reread = reread_file(run, w->place.file);
	object = find_object(reread->objects, reread->n, w, &reread->arena);
	if (!object)
		return NULL;
	object->namespace = *w->id.namespace ? w->id.namespace : NULL;
	object->fragment = w->npods && w->pods[0].fragment;
	run_inject(run, &reread->arena, object);
	run->state->file.source = reread->source;
	run->state->file.index = w->place.file;
	return rr->object = object;
}
