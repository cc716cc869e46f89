/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that rules call to report a finding at a node or a place, and to
 * add labels and help. Positions, pointers and names are copied into findings
 * at once, because the document is freed before the report is written.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/text.h"
#include "kube/object.h"
#include "kube/runtime.h"
#include "run_internal.h"

/* True if the object is denied whatever its findings say: they may be too many
 * to be written. */
static bool is_moot(struct run *run)
{
	return run->options.admission &&
	       (run->state->budget.over || run_outgrows_budget(run));
}

/* Returns a new finding of the file. If the object is denied anyway, returns a
 * scratch finding that is not kept, so that tens of thousands take no
 * memory. */
static struct finding *finding_alloc(struct run *run)
{
	struct run_state *state = run->state;
	struct finding *f = &state->moot;

	if (is_moot(run)) {
		memset(f, 0, sizeof(*f));
		return f;
	}
	f = ARENA_NEW(&run->file_arena, struct finding);
	*VEC_PUSH(&run->file_arena, state->findings, state->nfindings,
		  state->findings_size) = f;
	return f;
}

struct finding *finding_new(struct run *run, const struct rule *rule,
			    const struct setting *setting)
{
	struct run_state *state = run->state;
	struct finding *f = finding_alloc(run);

	f->rule = rule;
	f->severity = setting->severity;
	f->severity_fixed = setting->severity_set;
	f->strict = setting->strict;
	f->controller_pods = setting->controller_pods;
	f->selected = setting->selected;
	f->pods.n = 1;
	f->action = setting->action;
	f->action_fixed = setting->action_set;
	f->mode = state->mode;
	if (run->options.absences)
		f->absences = run->options.absences->touched;
	f->id = (struct object_id){"", "", "", ""};
	f->pod = f->container = f->message = f->help = f->cause = "";
	f->check = NULL;
	f->wants = f->policy = f->binding = "";
	f->suppression_reason = f->place.pointer = "";
	f->place.file = state->file.index;
	f->value_file = f->spec.base_file = NO_FILE;
	return f;
}

static void place_bytes(struct source *source, struct place *place,
			uint32_t start, uint32_t end)
{
	struct position from = source_position(source, start);
	struct position to = source_position(source, end);

	place->start = start;
	place->end = end;
	place->line = from.line;
	place->column = from.column;
	place->end_line = to.line;
	place->end_column = to.column;
}

void finding_put(struct run *run, struct finding *f, uint32_t start,
		 uint32_t end)
{
	place_bytes(run->state->file.source, &f->place, start, end);
}

/* Returns the node to report in the file: for YAML in a string, the string. */
static const struct node *in_file(const struct doc **doc, const struct node *at)
{
	while ((*doc)->host) {
		at = (*doc)->host_node;
		*doc = (*doc)->host;
	}
	return at;
}

static void place_node(struct run *run, struct place *place,
		       const struct doc *doc, const struct node *at)
{
	uint32_t start = 0, end = 0;

	at = in_file(&doc, at);
	node_anchor(at, &start, &end);
	place_bytes(doc->source, place, start, end);
	place->file = run->state->file.index;
	place->document = doc->number;
	place->pointer = node_pointer_text(&run->file_arena, at);
}

static struct long_value *long_value(struct run_state *state,
				     const struct node *at)
{
	return &state->long_values[(uintptr_t)at / sizeof(*at) % LONG_VALUES];
}

static uint64_t hash_text(struct run_state *state, const struct node *at)
{
	struct long_value *known = long_value(state, at);

	if (at->len < LONG_VALUE)
		return text_keyed_hash(text_or_empty(at->str), at->len);
	if (known->node != at)
		*known = (struct long_value){at,
					     text_keyed_hash(at->str, at->len)};
	return known->hash;
}

static uint64_t hash_parts(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t parts[] = {a, b, c};

	return text_keyed_hash(parts, sizeof(parts));
}

static bool has_children(const struct node *at)
{
	return node_is_map(at) || node_is_seq(at);
}

/* Adds the value to the hash of others, and its bytes to *bytes. */
static uint64_t hash_value(struct run_state *state, const struct node *at,
			   uint64_t before, size_t *bytes)
{
	uint64_t hash = hash_parts(before, at->type, at->len);

	*bytes += sizeof(*at) + at->key_len;
	if (!has_children(at)) {
		*bytes += at->len;
		return hash_parts(hash, hash_text(state, at), 0);
	}
	FOR_EACH_CHILD(at, child) {
		if (child->key)
			hash = hash_parts(
				hash,
				text_keyed_hash(child->key, child->key_len), 0);
		hash = hash_value(state, child, hash, bytes);
	}
	return hash;
}

/* Returns the hash of a value. Stores the hash of a large tree, because many
 * findings may read it. */
static uint64_t hash_tree(struct run_state *state, const struct node *at)
{
	struct long_value *known = long_value(state, at);
	size_t bytes = 0;
	uint64_t hash;

	if (known->node == at && has_children(at))
		return known->hash;
	hash = hash_value(state, at, 0, &bytes);
	if (bytes >= LONG_VALUE && has_children(at))
		*known = (struct long_value){at, hash};
	return hash;
}

void finding_reads(struct rule_run *rr, struct finding *f,
		   const struct node *at)
{
	if (rr->run->options.admission && at && !rr->run->state->budget.over)
		f->value =
			hash_parts(f->value, hash_tree(rr->run->state, at), 0);
}

/* True if a finding here may be about a missing value: it then points at a
 * parent or at the object's name. */
static bool stands_for_another(const struct node *at)
{
	return node_first(at) || text_eq(at->key, "name") ||
	       text_eq(at->key, "generateName");
}

void finding_missing(struct finding *f, const struct object *object,
		     const struct node *base, const char *dotted)
{
	f->former_path = f->place.named_path;
	f->place.named_path = text_hash(dotted, strlen(dotted),
					node_named_path(base, object->root));
}

static void reads_place(struct rule_run *rr, struct finding *f,
			const struct node *at)
{
	if (rr->rule->flags & RULE_TAKES || !stands_for_another(at))
		finding_reads(rr, f, at);
}

static bool is_elsewhere(const struct runtime *one)
{
	return one && one->ref;
}

/* Sets the place to one in the file of the runtime. */
static void place_elsewhere(struct rule_run *rr, struct place *place,
			    const struct runtime *runtime,
			    const struct node *at)
{
	const struct doc doc = {.root = runtime->root,
				.source = runtime->source,
				.number = runtime->document};

	place_node(rr->run, place, &doc, at);
	place->file = runtime->file;
}

/* For a value of a runtime, reports the place in the runtime and names the
 * object that uses it; if the runtime is in another file, reports the object's
 * reference. */
static void name_runtime(struct rule_run *rr, struct finding *f,
			 const struct object *object, const struct node *at)
{
	const struct runtime *from = object_runtime_around(object, at);
	const struct node *name = node_path(object->root, "metadata.name");

	if (!from || from->root == object->root)
		return;
	f->origin = from;
	f->value_file = from->file;
	if (!is_elsewhere(from)) {
		f->place.document = from->document;
		finding_label(rr, f, name, "its pods are made from %s `%s`",
			      from->kind, from->name);
		return;
	}
	place_node(rr->run, &f->place, object->doc, from->ref);
	if (from->source)
		finding_label(rr, f, at, "the value of %s `%s`", from->kind,
			      from->name);
}

static struct finding *at_node(struct rule_run *rr, const struct object *object,
			       const struct node *at)
{
	struct finding *f = finding_new(rr->run, rr->rule, rr->setting);
	const struct runtime *from;

	if (!at)
		at = object->root;
	if (is_moot(rr->run))
		return f;
	from = object_runtime_around(object, at);
	f->injected = node_is_injected(at);
	f->value_start = at->start;
	place_node(rr->run, &f->place, object->doc, at);
	f->id = finding_id(&rr->run->file_arena, object);
	f->place.named_path = node_named_path(
		at, from && from->root ? from->root : object->root);
	reads_place(rr, f, at);
	name_runtime(rr, f, object, at);
	return f;
}

__attribute__((format(printf, 3, 0))) static void
put_message(struct rule_run *rr, struct finding *f, const char *fmt, va_list ap)
{
	struct arena *arena = &rr->run->file_arena;

	if (is_moot(rr->run))
		return;
	f->message = arena_vprintf(arena, fmt, ap);
	if (f->origin)
		f->message = arena_printf(
			arena, "%s (from %s `%s`%s)", f->message,
			f->origin->kind, f->origin->name,
			f->origin->file == NO_FILE ? " of the cluster" : "");
}

/* Copies a text into the memory of findings. NULL becomes "". */
static const char *finding_text(struct rule_run *rr, const char *text)
{
	if (!text || is_moot(rr->run))
		return "";
	return arena_strdup(&rr->run->file_arena, text);
}

static void put_pod(struct rule_run *rr, struct finding *f,
		    const struct pod *pod)
{
	f->spec = spec_place_of(pod);
	f->has_spec = true;
	f->pod = finding_text(rr, pod->role);
	f->pod_key = (uint32_t)(pod - pod->object->pods) + 1;
	f->pods = amount_mul(pod->peak, object_copies(pod->object));
}

struct finding *report_container(struct rule_run *rr, const struct container *c,
				 const struct node *at, const char *fmt, ...)
{
	const struct node *name = node_get(c->node, "name");
	struct finding *f;
	va_list ap;

	if (!at)
		at = name ? name : c->node;
	f = at_node(rr, c->pod->object, at);
	put_pod(rr, f, c->pod);
	f->about_whole = at == name || at == c->node || at == c->pod->spec;
	f->container = finding_text(rr, c->name);
	f->container_key = (uint32_t)(c - c->pod->containers) + 1;
	va_start(ap, fmt);
	put_message(rr, f, fmt, ap);
	va_end(ap);
	return f;
}

struct finding *report_pod(struct rule_run *rr, const struct pod *pod,
			   const struct node *at, const char *fmt, ...)
{
	struct finding *f = at_node(rr, pod->object, at ? at : pod->spec);
	va_list ap;

	put_pod(rr, f, pod);
	f->about_whole = !at || at == pod->spec;
	va_start(ap, fmt);
	put_message(rr, f, fmt, ap);
	va_end(ap);
	return f;
}

struct finding *report_object(struct rule_run *rr, const struct object *object,
			      const struct node *at, const char *fmt, ...)
{
	const struct node *metadata = node_get(object->root, "metadata");
	struct finding *f;
	va_list ap;

	if (!at)
		at = node_get(metadata, "name");
	if (!at)
		at = node_get(metadata, "generateName");
	f = at_node(rr, object, at);
	va_start(ap, fmt);
	put_message(rr, f, fmt, ap);
	va_end(ap);
	return f;
}

/* Copies a place, because facts are freed before the findings that use them. */
static struct place place_copy(struct arena *arena, const struct place *place)
{
	struct place copy = *place;

	if (copy.node)
		place_settle(arena, &copy);
	else
		copy.pointer =
			arena_strdup(arena, text_or_empty(place->pointer));
	return copy;
}

struct finding *report_place(struct rule_run *rr, const struct object_id *id,
			     const struct place *place, const char *fmt, ...)
{
	struct arena *arena = &rr->run->file_arena;
	struct finding *f = finding_new(rr->run, rr->rule, rr->setting);
	va_list ap;

	f->place = place_copy(arena, place);
	f->id = object_id_copy(arena, *id);
	/* An object of the cluster is in none of the files, so that it cannot
	 * be fixed there. */
	f->hidden = place->file == NO_FILE;
	va_start(ap, fmt);
	put_message(rr, f, fmt, ap);
	va_end(ap);
	return f;
}

void finding_of_pod(struct finding *f, struct spec_place pod)
{
	f->spec = pod;
	f->has_spec = f->about_whole = true;
}

void finding_of_class(struct finding *f, const struct pod *pod,
		      const struct node *class)
{
	const struct runtime *from = object_runtime_around(pod->object, class);

	f->spec = spec_place_of(pod);
	f->has_spec = true;
	f->value_start = class->start;
	f->value_file = from ? from->file : NO_FILE;
}

const char *rule_title(struct rule_run *run, const char *kind, const char *name)
{
	if (!name || !*name)
		return arena_printf(rule_arena(run), "this %s", kind);
	return arena_printf(rule_arena(run), "%s `%s`", kind, name);
}

const char *rule_count(struct rule_run *run, int64_t n, const char *noun)
{
	size_t len = strlen(noun);
	const char *plural = len && noun[len - 1] == 's' ? "es" : "s";

	return arena_printf(rule_arena(run), "%" PRId64 " %s%s", n, noun,
			    n == 1 ? "" : plural);
}

const char *rule_number(struct rule_run *run, int64_t n)
{
	return arena_printf(rule_arena(run), "%" PRId64, n);
}

void finding_severity(struct finding *f, enum severity severity)
{
	if (f->severity_fixed || (f->strict && severity == SEVERITY_WARNING))
		return;
	if (f->rule->flags & RULE_PREVIEW && severity > SEVERITY_WARNING)
		severity = SEVERITY_WARNING;
	f->severity = severity;
	if (!f->action_fixed)
		f->action = rule_action(f->rule, severity);
}

void finding_unseen(struct finding *f)
{
	if (!f->strict)
		finding_severity(f, SEVERITY_INFO);
}

void finding_guess(struct rule_run *rr, struct finding *f)
{
	if (f->severity < SEVERITY_ERROR ||
	    !text_starts(rr->setting->from, "preset "))
		return;
	f->severity = SEVERITY_WARNING;
	f->action = rule_action(f->rule, f->severity);
}

void finding_help(struct rule_run *rr, struct finding *f, const char *fmt, ...)
{
	va_list ap;

	if (is_moot(rr->run))
		return;
	va_start(ap, fmt);
	f->help = arena_vprintf(&rr->run->file_arena, fmt, ap);
	va_end(ap);
}

void finding_at_key(struct rule_run *rr, struct finding *f,
		    const struct node *entry)
{
	if (entry->key_end > entry->key_start && !rr->object->doc->host &&
	    !is_elsewhere(object_runtime_around(rr->object, entry)))
		place_bytes(rr->object->doc->source, &f->place,
			    entry->key_start, entry->key_end);
}

static struct related *add_related(struct rule_run *rr, struct finding *f)
{
	struct arena *arena = &rr->run->file_arena;
	struct related *grown =
		ARENA_ARRAY(arena, struct related, f->nrelated + 1);

	if (f->nrelated)
		memcpy(grown, f->related, f->nrelated * sizeof(*grown));
	f->related = grown;
	return &f->related[f->nrelated++];
}

void finding_label(struct rule_run *rr, struct finding *f,
		   const struct node *at, const char *fmt, ...)
{
	const struct runtime *from =
		rr->object ? object_runtime_around(rr->object, at) : NULL;
	struct related *related;
	va_list ap;

	if (!at || !rr->object || is_moot(rr->run))
		return;
	reads_place(rr, f, at);
	if (is_elsewhere(from) && !from->source)
		return;
	related = add_related(rr, f);
	if (is_elsewhere(from))
		place_elsewhere(rr, &related->place, from, at);
	else
		place_node(rr->run, &related->place, rr->object->doc, at);
	va_start(ap, fmt);
	related->message = arena_vprintf(&rr->run->file_arena, fmt, ap);
	va_end(ap);
}

void finding_label_place(struct rule_run *rr, struct finding *f,
			 const struct place *place, const char *fmt, ...)
{
	struct related *related;
	va_list ap;

	if (place->file == NO_FILE || is_moot(rr->run))
		return;
	related = add_related(rr, f);
	related->place = place_copy(&rr->run->file_arena, place);
	va_start(ap, fmt);
	related->message = arena_vprintf(&rr->run->file_arena, fmt, ap);
	va_end(ap);
}

void finding_cause(struct rule_run *rr, struct finding *f, const char *cause)
{
	f->cause = finding_text(rr, cause);
}

void rule_not_run(struct rule_run *rr, const char *reason)
{
	run_not_run_add(rr->run, rr->rule, reason, 1);
}

/* --- other data ----------------------------------------------------------- */

struct arena *rule_arena(struct rule_run *rr)
{
	return &rr->run->state->doc_arena;
}

const struct object_index *rule_index(struct rule_run *rr)
{
	return &rr->run->index;
}

bool rule_set_is_partial(struct rule_run *rr)
{
	return rr->run->options.partial;
}

const struct accelerator_extra *rule_accelerators(struct rule_run *rr)
{
	return &run_kube(rr->run)->accelerators;
}
