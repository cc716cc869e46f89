/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves findings of rendered texts to their places in the source files. There,
 * the comments of the source apply, and a finding gets the fix of the same
 * finding in the source alone. Findings of several roots at the same place are
 * merged.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "base/text.h"
#include "lint.h"

/* --- places in source files ----------------------------------------------- */

static struct render_root *root_of(struct rendered *rendered, uint32_t file)
{
	struct render *r = &rendered->render;

	for (size_t i = 0; i < r->nroots; i++)
		if (!r->roots[i].refused && r->roots[i].index == file)
			return &r->roots[i];
	return NULL;
}

/* Sets the bytes of the place to those of the node that was found. */
static void span_of(const struct render_place *at, struct place *place)
{
	const struct node *node = at->inner ? at->inner : at->node;

	if (at->key && node->key) {
		place->start = node->key_start;
		place->end = node->key_end;
	} else {
		node_anchor(node, &place->start, &place->end);
	}
	if (!at->inner)
		return;
	place->start =
		source_text_offset(&at->text->source, at->node, place->start);
	place->end =
		source_text_offset(&at->text->source, at->node, place->end);
}

/* Sets lines and columns from the bytes. */
static void set_lines(struct source *source, struct place *place)
{
	struct position from = source_position(source, place->start);
	struct position to = source_position(source, place->end);

	place->line = from.line;
	place->column = from.column;
	place->end_line = to.line;
	place->end_column = to.column;
}

static void set_place(struct rendered *rendered, const struct render_place *at,
		      struct place *place)
{
	place->start = place->end = 0;
	place->document = at->item ? at->item->document : 1;
	place->pointer = "";
	if (at->node) {
		span_of(at, place);
		place->pointer = node_pointer_text(&rendered->arena, at->node);
	}
	set_lines(&at->text->source, place);
}

/* Returns the place for the root as a whole. It is the name of the object that
 * installs the chart, or else `name` of the chart or `resources` of the
 * kustomization. If that is missing, it is the first field. */
static struct render_place whole_root(struct rendered *rendered,
				      const struct render_root *root)
{
	struct render_text *text =
		render_text_of(&rendered->render, root->file);
	struct render_place at = {.text = text, .key = true};

	if (root->item) {
		at.text = root->installer;
		at.item = root->item;
		at.key = false;
		at.node = node_path(at.item->root, "metadata.name");
	} else if (text && text->n) {
		at.item = &text->items[0];
		at.node = node_get(at.item->root,
				   root->chart ? "name" : "resources");
		if (!at.node)
			at.node = node_first(at.item->root);
	}
	return at;
}

/* Returns the root from which a text was built, or NULL. */
static const struct render_root *root_of_text(const struct render *r,
					      const struct render_text *text)
{
	for (size_t i = 0; i < r->nroots; i++)
		if (text && r->roots[i].rendered == text)
			return &r->roots[i];
	return NULL;
}

/* Sets the place to the position that was found. Returns false if its file is
 * gone or is not in the list. */
static bool put_place(struct rendered *rendered, const struct render_place *at,
		      struct place *place)
{
	const struct render_root *root =
		root_of_text(&rendered->render, at->text);
	struct lint_file *f;
	long file;

	if (root) { /* the value is in an object of another built text */
		place->file = root->index;
		set_place(rendered, at, place);
		rendered_move(rendered, place);
		return true;
	}
	file = at->text ? rendered_file(rendered, at->text->path) : -1;
	if (file < 0)
		return false;
	place->file = (uint32_t)file;
	f = &rendered->in.files->items[file];
	f->size = (uint32_t)at->text->bytes;
	/* A file with settings counts as skipped until it has a finding. */
	if (f->flags & FILE_NOT_KUBERNETES)
		f->flags = (f->flags & ~(uint32_t)FILE_NOT_KUBERNETES) |
			   FILE_SUPERSEDED;
	set_place(rendered, at, place);
	return true;
}

void rendered_move(struct rendered *rendered, struct place *place)
{
	struct render_root *root = root_of(rendered, place->file);
	struct render_place at;

	if (!root)
		return;
	at = render_place_of(&rendered->render, root, place);
	if (put_place(rendered, &at, place))
		return;
	at = whole_root(rendered, root);
	if (put_place(rendered, &at, place))
		return;
	/* The file's text is freed already; only its name remains. */
	*place = (struct place){
		.file = (uint32_t)rendered_file(rendered, root->file),
		.line = 1,
		.column = 1,
		.pointer = ""};
}

/* Finds the place of a comment by its text in the template, because it is not
 * part of the tree. */
static bool move_comment(struct rendered *rendered,
			 const struct render_root *root, struct place *place)
{
	const struct render_object *object =
		render_object_at(root, place->start);
	struct render_text *text =
		object && object->origin
			? render_text_of(&rendered->render, object->origin)
			: NULL;
	size_t len = place->end - place->start;
	struct render_place at = {.text = text, .key = true};
	const char *found;

	if (*place->pointer || place->end > root->text.len || !len || !text ||
	    root->text.data[place->start] != '#')
		return false;
	found = memmem(text->source.text, text->source.len,
		       root->text.data + place->start, len);
	if (!found || !put_place(rendered, &at, place))
		return false;
	place->start = (uint32_t)(found - text->source.text);
	place->end = place->start + (uint32_t)len;
	set_lines(&text->source, place);
	return true;
}

static void add_related(struct rendered *rendered, struct finding *finding,
			const struct render_root *root)
{
	unsigned n = finding->nrelated;
	struct related *all =
		ARENA_ARRAY(&rendered->arena, struct related, n + 1);
	struct render_place at = whole_root(rendered, root);

	if (n)
		memcpy(all, finding->related, n * sizeof(*all));
	all[n].place = (struct place){.file = NO_FILE, .pointer = ""};
	all[n].message = root->item    ? "built by this object"
			 : root->chart ? "built from this chart"
				       : "built by this kustomization";
	put_place(rendered, &at, &all[n].place);
	finding->related = all;
	finding->nrelated = n + (all[n].place.file != NO_FILE);
}

static void map_finding(struct rendered *rendered, struct finding *finding)
{
	const struct render_root *root = root_of(rendered, finding->place.file);

	*ARRAY_PUSH(rendered->findings, rendered->n, rendered->size) =
		(struct rendered_finding){*finding, finding->place.file,
					  finding->repair != NULL};
	finding = &rendered->findings[rendered->n - 1].finding;
	for (unsigned i = 0; i < finding->nrelated; i++)
		rendered_move(rendered, &finding->related[i].place);
	if (!move_comment(rendered, root, &finding->place))
		rendered_move(rendered, &finding->place);
	finding->repair = NULL; /* the fix would change the built text */
	add_related(rendered, finding, root);
}

static void map_root(struct rendered *rendered, const struct render_root *root)
{
	struct collected *found =
		&rendered->job->collection->files[root->index];
	struct masked masked;
	struct source source;

	if (!found->n)
		return;
	source_init(&source, &rendered->arena, root->file, root->text.data,
		    root->text.len);
	masked_make(&masked, &rendered->arena, &source);
	masked_findings(&masked, found->items, found->n);
	for (size_t i = 0; i < found->n; i++)
		map_finding(rendered, &found->items[i]);
}

/* --- comments in source files --------------------------------------------- */

static void read_comments(struct suppressions *suppressions,
			  struct source *source)
{
	struct arena arena = ARENA_INIT;
	struct loader loader;
	struct doc doc;

	loader_init(&loader, source, &load_limits_default, &arena);
	/* The renderer reports syntax errors of this file. */
	while (loader_next(&loader, &doc) > 0)
		suppressions_exclude(suppressions, &doc);
	arena_release(&arena);
}

/* Returns the policy for the text that is built from the root; path is scratch
 * memory. */
static const struct policy *policy_of(struct rendered *rendered, uint32_t root,
				      struct buf *path)
{
	struct policy_path_rule rule;

	return job_policy(rendered->job, root, path, &rule);
}

static void suppress_one(struct rendered *rendered, struct finding *finding,
			 struct suppressions *suppressions,
			 const struct policy *policy, struct run_counts *counts)
{
	int index = rule_set_find(policy_rules(policy), finding->rule->name);

	if (index < 0 || finding->suppressed)
		return;
	suppressions_apply(suppressions, NULL, &policy_base(policy)[index],
			   finding);
	if (finding->suppressed) {
		counts->suppressed++;
		finding_uncount(counts, finding);
	} else if (finding->ignore_refused) {
		finding->help = arena_printf(
			&rendered->arena, "%s%s%s", finding->ignore_refused,
			*finding_remedy(finding) ? ". " : "",
			finding_remedy(finding));
	}
}

/* Applies the comments and annotations of a source file to the findings [from,
 * to), which are all in it. */
static void suppress_in_source(struct rendered *rendered, size_t from,
			       size_t to, struct run_counts *counts)
{
	struct rendered_finding *all = rendered->findings;
	struct suppressions *suppressions;
	struct render_text *text;
	struct buf path;

	buf_init(&path);
	files_absolute(rendered->in.files, all[from].finding.place.file,
		       rendered->in.cwd, &path);
	text = render_text_of(&rendered->render, path.data);
	if (!text ||
	    !text_find(text->source.text, text->source.len, "gpugate")) {
		buf_release(&path);
		return;
	}
	suppressions = suppressions_scan(
		&rendered->arena, &text->source, rendered->job->run.today,
		policy_floor(policy_of(rendered, all[from].root, &path)));
	read_comments(suppressions, &text->source);
	for (size_t i = from; i < to; i++)
		suppress_one(rendered, &all[i].finding, suppressions,
			     policy_of(rendered, all[i].root, &path), counts);
	buf_release(&path);
}

/* --- merging -------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct rendered_finding *x = a, *y = b;
	int order = finding_cmp(&x->finding, &y->finding);

	return order ? order : (x->root > y->root) - (x->root < y->root);
}

static bool is_same(const struct finding *a, const struct finding *b)
{
	return a->place.file == b->place.file && a->rule == b->rule &&
	       a->place.start == b->place.start &&
	       a->place.document == b->place.document &&
	       a->severity == b->severity && a->suppressed == b->suppressed &&
	       !strcmp(a->place.pointer, b->place.pointer) &&
	       !strcmp(a->message, b->message);
}

/* Merges equal findings of overlays that have a common base. */
static void merge_equal(struct rendered *rendered, struct run_counts *counts)
{
	size_t kept = 0;

	for (size_t i = 0; i < rendered->n; i++) {
		struct rendered_finding *next = &rendered->findings[i];
		struct rendered_finding *last =
			kept ? &rendered->findings[kept - 1] : NULL;

		if (!last || !is_same(&last->finding, &next->finding)) {
			rendered->findings[kept++] = *next;
			continue;
		}
		*ARRAY_PUSH(rendered->others, rendered->nothers,
			    rendered->others_size) = *next;
		add_related(rendered, &last->finding,
			    root_of(rendered, next->root));
		if (next->finding.suppressed)
			counts->suppressed--;
		else
			finding_uncount(counts, &next->finding);
	}
	rendered->n = kept;
}

static void suppress_all(struct rendered *rendered, struct run_counts *counts)
{
	size_t from = 0;

	if (rendered->job->run.no_ignore)
		return;
	for (size_t i = 1; i <= rendered->n; i++) {
		if (i < rendered->n &&
		    rendered->findings[i].finding.place.file ==
			    rendered->findings[from].finding.place.file)
			continue;
		suppress_in_source(rendered, from, i, counts);
		from = i;
	}
}

/* --- fixes ---------------------------------------------------------------- */

/* Copies the fix of the same finding in the source alone. */
static void take_repair(struct rendered_finding *of, const struct finding *own,
			size_t n, struct run_counts *counts)
{
	struct finding *finding = &of->finding;

	for (size_t i = 0; i < n && !finding->repair; i++)
		if (own[i].rule == finding->rule && !own[i].suppressed &&
		    own[i].place.start == finding->place.start &&
		    own[i].place.document == finding->place.document)
			finding->repair = own[i].repair;
	if (finding->repair && !*finding->repair->refused)
		fix_count(counts, finding->repair->safe, finding->repair->kept,
			  1);
	else
		counts->fixable_rendered += of->repaired;
}

static void take_repairs(struct rendered *rendered, struct run_counts *counts)
{
	const struct collected *files = rendered->job->collection->files;

	for (size_t i = 0; i < rendered->n; i++) {
		const struct finding *finding = &rendered->findings[i].finding;
		const struct collected *own = &files[finding->place.file];

		if (!finding->suppressed)
			take_repair(&rendered->findings[i], own->items, own->n,
				    counts);
	}
}

void rendered_map(struct rendered *rendered, struct job *job,
		  struct run_counts *counts)
{
	rendered->job = job;
	for (size_t i = 0; i < rendered->render.nroots; i++)
		if (!rendered->render.roots[i].refused)
			map_root(rendered, &rendered->render.roots[i]);
	if (rendered->n)
		qsort(rendered->findings, rendered->n,
		      sizeof(*rendered->findings), compare);
	suppress_all(rendered, counts);
	merge_equal(rendered, counts);
	take_repairs(rendered, counts);
}

static struct rendered_finding *of_file(struct rendered_finding *items,
					size_t nitems, uint32_t file, size_t *n)
{
	size_t low = 0, high = nitems;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[middle].finding.place.file < file)
			low = middle + 1;
		else
			high = middle;
	}
	*n = 0;
	while (low + *n < nitems && items[low + *n].finding.place.file == file)
		++*n;
	return *n ? &items[low] : NULL;
}

struct rendered_finding *rendered_of(const struct rendered *rendered,
				     uint32_t file, size_t *n)
{
	return of_file(rendered->findings, rendered->n, file, n);
}

struct rendered_finding *rendered_others(const struct rendered *rendered,
					 uint32_t file, size_t *n)
{
	return of_file(rendered->others, rendered->nothers, file, n);
}
