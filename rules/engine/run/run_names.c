/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names defined by other objects of the snapshot, the file and the other input
 * files. They are read when a rule first needs them, or when a resource is in
 * no table, because a pod that requests a DeviceClass of accelerators is a GPU
 * workload for all rules.
 */
#include "base/array.h"
#include "base/text.h"
#include "kube/scheduling/node_match.h"
#include "run_internal.h"

static void add_name(void *context, const struct defined_name *name)
{
	struct run *run = context;
	struct run_names *names = &run->state->names;

	*VEC_PUSH(&run->file_arena, names->items, names->n, names->size) =
		*name;
}

/* Reads the names that the file defines. At admission, the file is the object
 * alone. */
static void read_names(struct run *run)
{
	struct source *source = run->state->file.source;
	struct loader loader;
	struct doc doc;

	run->state->names.read = true;
	if (!source || run->options.admission ||
	    !defined_names_may_be_in(source->text, source->len))
		return;
	loader_init(&loader, source, &load_limits_default, &run->file_arena);
	while (loader_next(&loader, &doc))
		defined_names_of(&doc, &run->file_arena, add_name, run);
}

static bool find_name(struct run *run, enum defined_kind kind, const char *text,
		      struct defined_name *name)
{
	const struct run_options *options = &run->options;
	struct run_names *names = &run->state->names;

	if (!names->read)
		read_names(run);
	for (size_t i = 0; i < names->n; i++)
		if (defined_name_is(&names->items[i], kind, text)) {
			*name = names->items[i];
			return true;
		}
	return options->find_defined_name &&
	       options->find_defined_name(options->set, kind, text, name);
}

static bool find_resource(struct run *run, const char *resource,
			  struct defined_name *name)
{
	struct run_state *state = run->state;
	const struct defined_name *found = NULL;

	cluster_names_read(&state->cluster_names, state->cluster);
	if (state->cluster)
		found = cluster_name_find(&state->cluster_names, resource);
	if (!found)
		return find_name(run, DEFINED_DEVICE, resource, name);
	*name = *found;
	return true;
}

/* Returns the accelerator for a resource name that a DeviceClass defines. The
 * class may select partitions, so one unit need not be a whole device. */
const struct accelerator *run_named_accelerator(void *context,
						const char *resource)
{
	struct run *run = context;
	struct defined_name name;
	struct accelerator *row;

	if (!find_resource(run, resource, &name) || !name.vendor)
		return NULL;
	row = ARENA_NEW(&run->file_arena, struct accelerator);
	*row = (struct accelerator){
		.name = arena_strdup(&run->file_arena, resource),
		.vendor = name.vendor,
		.class = ACCEL_VIRTUAL,
		.named = true,
	};
	return row;
}

bool rule_names_device(struct rule_run *rr, const char *resource)
{
	struct defined_name name;

	return find_resource(rr->run, resource, &name);
}

bool rule_input_defines(struct rule_run *rr, enum defined_kind kind,
			const char *text)
{
	struct defined_name name;

	return find_name(rr->run, kind, text, &name);
}

bool rule_input_defines_kind(struct rule_run *rr, const struct object *object)
{
	return rule_input_defines(rr, DEFINED_KIND,
				  arena_printf(rule_arena(rr), "%s/%s",
					       text_or_empty(object->group),
					       object->kind));
}

const struct node *rule_runtime_scheduling(struct rule_run *rr,
					   const struct pod *pod, bool *unknown)
{
	const char *class = node_str(pod_field(pod, "runtimeClassName"));
	const struct node *scheduling = pod_runtime_scheduling(
		rule_cluster(rr), pod, rule_arena(rr), unknown);

	if (!scheduling && class)
		*unknown |= rule_input_defines(rr, DEFINED_RUNTIME, class);
	return scheduling;
}
