/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources that DeviceClasses name: of the snapshot, of the file, and of the
 * other input files. Pods that request one of an accelerator's class are GPU
 * workloads for all rules. The classes are read when a resource is in no table.
 */
#include "base/text.h"
#include "base/vec.h"
#include "run_internal.h"

static void add_name(void *context, const struct device_name *name)
{
	struct run *run = context;
	struct run_names *names = &run->state->names;

	*VEC_PUSH(&run->file_arena, names->items, names->n, names->size) =
		*name;
}

/* At admission the file is the object itself. */
static void read_names(struct run *run)
{
	const struct source *source = run->state->file.source;

	run->state->names.read = true;
	if (source && !run->options.admission)
		device_names_of_text(&run->file_arena, source->text,
				     source->len, add_name, run);
}

static bool find_name(struct run *run, const char *resource,
		      struct device_name *name)
{
	struct run_state *state = run->state;
	const struct run_options *options = &run->options;
	struct run_names *names = &state->names;

	if (device_name_in_cluster(state->cluster, resource, &state->doc_arena,
				   name))
		return true;
	if (!names->read)
		read_names(run);
	for (size_t i = 0; i < names->n; i++)
		if (text_eq(names->items[i].resource, resource)) {
			*name = names->items[i];
			return true;
		}
	return options->find_device_name &&
	       options->find_device_name(options->set, resource, name);
}

/* The class may be one of partitions: a unit is not a whole device. */
const struct accelerator *run_named_accelerator(void *context,
						const char *resource)
{
	struct run *run = context;
	struct device_name name;
	struct accelerator *row;

	if (!find_name(run, resource, &name) || !name.vendor)
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
	struct device_name name;

	return find_name(rr->run, resource, &name);
}
