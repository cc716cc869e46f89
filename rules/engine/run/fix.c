/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records fixes: a rule describes its fix as edits of the tree, which are
 * stored with the finding. At the end of a document, the edits of all visible
 * findings are merged into one list, for the file or the admission response.
 * Reports show the fix of each finding rendered alone; such fixes cannot be
 * combined.
 */
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "doc/splice.h"
#include "run_internal.h"

static const struct pod *pod_of(const struct rule_run *rr,
				const struct finding *f)
{
	if (!rr->object || !f->pod_key || f->pod_key > rr->object->npods)
		return NULL;
	return &rr->object->pods[f->pod_key - 1];
}

struct fix *finding_fix(struct rule_run *rr, struct finding *f, bool safe,
			const char *fmt, ...)
{
	struct arena *arena = rule_arena(rr);
	struct fix *fix = ARENA_NEW(arena, struct fix);
	const struct pod *pod = pod_of(rr, f);
	va_list ap;

	fix->run = rr->run;
	fix->pod = pod && pod->made ? pod : NULL;
	fix->patched = pod && pod->patch ? pod : NULL;
	fix->root = rr->object ? rr->object->doc->root : NULL;
	fix->finding = f;
	fix->safe = safe;
	va_start(ap, fmt);
	fix->title = arena_vprintf(arena, fmt, ap);
	va_end(ap);
	f->fix_title = fix->title;
	f->fix_safe = safe;
	edit_list_init(&fix->edits, arena);
	edit_group(&fix->edits);
	/* A manifest inside of a string cannot be fixed, because its bytes
	 * differ from those in the file. */
	if (!rr->object || !rr->object->doc->host)
		f->fix = fix;
	else
		f->fix_title = NULL;
	return fix;
}

static void path_dotted(struct edit_path *path, const char *dotted,
			struct arena *arena)
{
	while (*dotted) {
		size_t len = strcspn(dotted, ".");

		edit_path_key(path, arena_strndup(arena, dotted, len));
		dotted += len;
		dotted += *dotted == '.';
	}
}

static bool is_copy(const struct node *node, const struct node *copy)
{
	return node->start == copy->start && node->end == copy->end &&
	       node->first == copy->first && node->str == copy->str &&
	       node->index == copy->index;
}

/*
 * True if the node is in the document, and was not created by an operator's
 * patch.
 */
static bool is_written(const struct fix *fix, const struct node *node)
{
	bool shown = node_is_view(node);

	if (shown)
		node = node->parent;
	for (; node->parent; node = node->parent, shown = false) {
		const struct node *child = node_first(node->parent);

		while (child && child != node &&
		       !(shown && is_copy(child, node)))
			child = child->next;
		if (!child)
			return false;
	}
	return !fix->root || node == fix->root;
}

/* True if setting the field would replace a value of the other object on which
 * the pod is based. own is the author's node of the first key of dotted. */
static bool is_anothers(const struct pod *pod, const struct node *base,
			const char *dotted, const struct node *own)
{
	size_t len = strcspn(dotted, ".");

	return pod->based && node_is_unset(own) &&
	       !node_is_unset(node_getn(base, dotted, len));
}

/* Sets the path to the author's node from which a field of a generated pod is
 * copied. Returns the part of dotted below that node; NULL if there is no such
 * node. */
static const char *path_made(struct fix *fix, const struct node *base,
			     const char *dotted, struct edit_path *path)
{
	const char *const *keys;
	size_t taken;
	const struct node *at =
		pod_field_place(fix->pod, base, dotted, &keys, &taken);

	if (!at || !is_written(fix, at))
		return NULL;
	edit_path_to(path, &fix->run->state->doc_arena, at);
	for (; *keys; keys++) {
		edit_path_key(path, *keys);
		at = node_get(at, *keys);
	}
	if (!taken)
		at = node_getn(at, dotted, strcspn(dotted, "."));
	if (is_anothers(fix->pod, base, dotted, at))
		return NULL;
	for (; taken; taken--) {
		dotted += strcspn(dotted, ".");
		dotted += *dotted == '.';
	}
	return dotted;
}

/* True if the node is the generated pod, or a generated container. */
static bool is_made(const struct fix *fix, const struct node *base)
{
	const struct pod *pod = fix->pod;

	if (!pod || base == pod->spec)
		return pod != NULL;
	FOR_EACH_CONTAINER(pod, c)
		if (c->node == base)
			return !is_written(fix, base);
	return false;
}

/* -- pods that are made by a patch of a template --------------------------- */

static void drop_fix(struct fix *fix)
{
	fix->finding->fix = NULL;
	fix->finding->fix_title = NULL;
}

/* Returns the map of the patch that is merged into base, the pod's spec or one
 * of its containers. NULL if the patch does not contain it. */
static const struct node *map_of_patch(const struct pod *pod,
				       const struct node *base)
{
	const struct node *spec = node_get(pod->patch, "spec");

	if (base == pod->spec)
		return node_is_map(spec) ? spec : NULL;
	FOR_EACH_CONTAINER(pod, c) {
		if (c->node != base)
			continue;
		FOR_EACH_CHILD(node_get(spec, "containers"), own)
			if (c->name && node_eq(node_get(own, "name"), c->name))
				return own;
	}
	return NULL;
}

/* True if an edit of the patch has the same effect as an edit of the pod. This
 * is not so if the value is a list of the template, because the patch would
 * replace the whole list. */
static bool can_patch(const struct node *base, const struct node *own,
		      const char *dotted)
{
	size_t len = strcspn(dotted, ".");
	const struct node *value = node_getn(base, dotted, len);

	return *dotted && (!node_is_seq(value) ||
			   node_is_seq(node_getn(own, dotted, len)) ||
			   pod_list_merges(value->key));
}

/* Sets the path to a place in the patch, for a field of a pod that is made by
 * patching a template. The template itself must not be edited, because it may
 * make other pods. Returns false if the field cannot be set in the patch. */
static bool path_patched(struct fix *fix, const struct node *base,
			 const char *dotted, struct edit_path *path)
{
	const struct node *own;

	if (!fix->patched || is_written(fix, base))
		return false;
	own = map_of_patch(fix->patched, base);
	if (!own || !is_written(fix, own) || !can_patch(base, own, dotted))
		return false;
	fix->in_patch = true;
	edit_path_to(path, &fix->run->state->doc_arena, own);
	path_dotted(path, dotted, &fix->run->state->doc_arena);
	return true;
}

/* True if base is a container that comes from the template alone, so that other
 * pods may have it. */
static bool is_shared(const struct fix *fix, const struct node *base)
{
	if (!fix->patched)
		return false;
	FOR_EACH_CONTAINER(fix->patched, c)
		if (c->node == base)
			return !map_of_patch(fix->patched, base);
	return false;
}

static void path_of(struct fix *fix, const struct node *base,
		    const char *dotted, struct edit_path *path)
{
	struct arena *arena = &fix->run->state->doc_arena;

	fix->in_template |= is_shared(fix, base);
	if (path_patched(fix, base, dotted, path)) {
		if (fix->in_template)
			drop_fix(fix);
		return;
	}
	if (fix->in_template && fix->in_patch)
		drop_fix(fix);
	if (is_made(fix, base)) {
		dotted = path_made(fix, base, dotted, path);
		if (dotted) {
			path_dotted(path, dotted, arena);
			return;
		}
		dotted = "";
	}
	if (!is_written(fix, base))
		drop_fix(fix);
	if (node_is_view(base))
		base = base->parent;
	edit_path_to(path, arena, base);
	path_dotted(path, dotted, arena);
}

void fix_replaces(struct fix *fix)
{
	fix->replaces = true;
}

/* True if the value differs from the author's. Other keys of a map do not
 * count. */
static bool overwrites(const struct node *value, const struct node *written)
{
	if (node_is_unset(written))
		return false;
	if (!node_is_map(written) || !node_is_map(value))
		return !node_same(written, value);
	FOR_EACH_CHILD(value, item)
		if (overwrites(item, node_get(written, item->key)))
			return true;
	return false;
}

/* Marks a fix as unsafe if it overwrites a value of the author. value is NULL
 * if the fix removes it. */
static void keep_written(struct fix *fix, const struct node *written,
			 const struct node *value)
{
	if (fix->replaces || (value && !overwrites(value, written)))
		return;
	fix->safe = false;
	fix->finding->fix_safe = false;
}

static const struct node *value_at(const struct node *base, const char *dotted)
{
	return *dotted ? node_path(base, dotted) : base;
}

void fix_set(struct fix *fix, const struct node *base, const char *dotted,
	     struct node *value)
{
	struct edit_path path;

	keep_written(fix, value_at(base, dotted), value);
	path_of(fix, base, dotted, &path);
	edit_set(&fix->edits, &path, value);
}

void fix_set_key(struct fix *fix, const struct node *base, const char *dotted,
		 const char *key, struct node *value)
{
	struct edit_path path;

	keep_written(fix, node_get(value_at(base, dotted), key), value);
	path_of(fix, base, dotted, &path);
	edit_path_key(&path, key);
	edit_set(&fix->edits, &path, value);
}

void fix_ensure(struct fix *fix, const struct node *base, const char *dotted,
		struct node *item, const char *keys)
{
	struct edit_path path;

	path_of(fix, base, dotted, &path);
	edit_ensure(&fix->edits, &path, item, keys);
}

void fix_remove(struct fix *fix, const struct node *node)
{
	struct edit_path path;

	keep_written(fix, node, NULL);
	path_of(fix, node, "", &path);
	edit_remove(&fix->edits, &path);
}

/* --- merging ------------------------------------------------------------- */

static void merge(struct edit_list *all, const struct edit_list *one)
{
	edit_group(all);
	for (size_t i = 0; i < one->nedits; i++) {
		const struct edit *edit = &one->edits[i];

		if (edit->kind == EDIT_SET)
			edit_set(all, &edit->path, edit->value);
		else if (edit->kind == EDIT_ENSURE)
			edit_ensure(all, &edit->path, edit->value, edit->keys);
		else
			edit_remove(all, &edit->path);
	}
}

static bool is_repaired(const struct finding *f)
{
	return f->fix && !f->hidden && !f->suppressed;
}

static bool is_kept(const struct run_options *options, const struct finding *f)
{
	return options->keep_infos && f->severity == SEVERITY_INFO &&
	       !f->selected && !(f->action_fixed && f->action == ACTION_PATCH);
}

static bool is_wanted(const struct run_options *options,
		      const struct finding *f)
{
	if (options->wants_repair)
		return options->wants_repair(options->context, f);
	if (is_kept(options, f))
		return false;
	return f->fix_safe || options->unsafe_repairs;
}

static const char *why_not(const struct edit_group *group)
{
	if (group->outcome == EDIT_CONFLICT)
		return "another fix changes the same value";
	if (group->outcome == EDIT_REFUSED)
		return group->reason ? group->reason : "";
	return NULL;
}

/* Reports the outcome of each fix. The groups of the list belong to the
 * findings whose fix was requested, in the same order. */
static void tell_repaired(struct run *run, const struct edit_list *all,
			  size_t from)
{
	struct run_state *state = run->state;
	const struct edit_group *group = all->groups;

	for (size_t i = from; i < state->nfindings; i++) {
		const struct finding *f = state->findings[i];

		if (is_repaired(f) && is_wanted(&run->options, f))
			run->options.repaired(run->options.context, f,
					      why_not(group++));
	}
}

static void merge_all(struct run *run, const struct doc *doc, size_t from)
{
	struct run_state *state = run->state;
	struct edit_list all;
	size_t n = 0;

	edit_list_init(&all, &state->doc_arena);
	for (size_t i = from; i < state->nfindings; i++) {
		struct finding *f = state->findings[i];

		if (!is_repaired(f) || !is_wanted(&run->options, f))
			continue;
		merge(&all, &f->fix->edits);
		n++;
	}
	if (!n)
		return;
	run->options.repair(run->options.context, doc, &all);
	if (run->options.repaired)
		tell_repaired(run, &all, from);
}

/* --- the fix of one finding ----------------------------------------------- */

static const char *patch_text(struct run *run, struct edit_list *list,
			      const struct doc *doc)
{
	struct node *patch =
		edits_patch(list, doc->root, &run->state->doc_arena);
	const char *text;
	struct buf buf;

	if (!node_count(patch))
		return "";
	buf_init(&buf);
	node_json(patch, &buf);
	text = arena_strndup(&run->file_arena, buf.data, buf.len);
	buf_release(&buf);
	return text;
}

static void copy_edits(struct run *run, const struct doc *doc,
		       const struct splice_list *splices,
		       struct fix_result *out)
{
	struct arena *arena = &run->file_arena;
	struct fix_edit *edits =
		ARENA_ARRAY(arena, struct fix_edit, splices->n + 1);

	for (size_t i = 0; i < splices->n; i++) {
		const struct splice *s = &splices->items[i];

		edits[i].start = s->start + doc->source->bom;
		edits[i].end = s->end + doc->source->bom;
		edits[i].text = arena_strndup(arena, s->text, s->len);
	}
	out->edits = edits;
	out->nedits = (unsigned)splices->n;
}

static struct fix_result *render(struct run *run, const struct doc *doc,
				 struct fix *fix)
{
	struct arena *arena = &run->file_arena;
	struct fix_result *out = ARENA_NEW(arena, struct fix_result);
	struct splice_list splices = {0};
	const struct edit_group *group = &fix->edits.groups[0];

	out->safe = fix->safe;
	out->title = arena_strdup(arena, fix->title);
	out->refused = "";
	/* The patch is made before the splices may be rejected, because it does
	 * not depend on the bytes of the file. */
	out->patch = patch_text(run, &fix->edits, doc);
	edits_splice(&fix->edits, doc, &run->state->doc_arena, &splices);
	if (group->outcome == EDIT_REFUSED)
		out->refused =
			arena_strdup(arena, group->reason ? group->reason : "");
	copy_edits(run, doc, &splices, out);
	return out;
}

void fix_count(struct run_counts *counts, bool safe, bool kept, int n)
{
	if (kept)
		counts->fixable_infos += (uint64_t)n;
	else if (safe)
		counts->fixable += (uint64_t)n;
	else
		counts->fixable_unsafe += (uint64_t)n;
}

void fix_uncount(struct run_counts *counts, const struct finding *f)
{
	if (f->fix_counted)
		fix_count(counts, f->fix_safe, f->fix_kept, -1);
}

/* Marks findings that repeat one about a runtime, and drops their fixes. */
static void leave_to_runtime(struct run *run, size_t from)
{
	struct run_state *state = run->state;

	for (size_t i = from; i < state->nfindings; i++) {
		struct finding *f = state->findings[i];

		if (!finding_is_made(f) ||
		    !run->options.is_repeated(run->options.repeated_context, f))
			continue;
		f->repeated = true;
		f->fix = NULL;
	}
}

void run_repairs(struct run *run, const struct doc *doc, size_t from)
{
	struct run_state *state = run->state;
	bool kept;

	if (run->options.is_repeated)
		leave_to_runtime(run, from);
	for (size_t i = from; i < state->nfindings; i++)
		run_apply_baseline(run, state->findings[i]);
	if (run->options.repair)
		merge_all(run, doc, from);
	for (size_t i = from; i < state->nfindings; i++) {
		struct finding *f = state->findings[i];

		if (!is_repaired(f))
			continue;
		if (run->options.render_repairs)
			f->repair = render(run, doc, f->fix);
		/* A fix that the user must make by hand is not counted for
		 * --fix. */
		if (f->repair && *f->repair->refused)
			continue;
		kept = is_kept(&run->options, f);
		if (f->repair)
			f->repair->kept = kept;
		fix_count(&run->counts, f->fix->safe, kept, 1);
		f->fix_counted = true;
		f->fix_kept = kept;
	}
	for (size_t i = from; i < state->nfindings; i++)
		state->findings[i]->fix = NULL;
}
