/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A root that could be built is one more file of the run, with the text in
 * memory; the manifests and patches that it is made of are not judged by
 * themselves any more. Which set it is of, its policy and its namespace are
 * those of its folder.
 */
#include "rendered.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "base/text.h"
#include "lint/term/log.h"

/* --- paths ---------------------------------------------------------------- */

/* As the user would write it: absolute where what was named is. */
static void show_path(const struct options *options, const char *cwd,
		      const char *absolute, struct buf *out)
{
	buf_reset(out);
	for (size_t i = 0; i < options->paths.n; i++) {
		const char *named = options->paths.items[i];
		struct buf clean;
		bool below;

		if (*named != '/')
			continue;
		buf_init(&clean);
		path_absolute(cwd, named, &clean);
		below = !strcmp(clean.data, absolute) ||
			path_is_below(clean.data, absolute);
		buf_release(&clean);
		if (below) {
			buf_adds(out, absolute);
			return;
		}
	}
	path_from(cwd, absolute, out);
}

static size_t folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
}

static uint32_t add_folder(struct rendered_input *in, const char *absolute,
			   const char *shown)
{
	struct buf folder;
	uint32_t policy;

	buf_init(&folder);
	buf_add(&folder, absolute, folder_length(absolute));
	policy = policies_find(in->policies, folder.data);
	buf_release(&folder);
	return files_add_folder(in->files, shown, folder_length(shown), policy);
}

static void add_file(struct rendered_input *in, const char *absolute,
		     unsigned flags)
{
	const char *slash;
	struct buf shown;

	buf_init(&shown);
	show_path(in->options, in->cwd, absolute, &shown);
	slash = strrchr(shown.data, '/');
	files_add(in->files, add_folder(in, absolute, shown.data),
		  slash ? slash + 1 : shown.data, flags);
	buf_release(&shown);
}

static long find_file(const struct rendered *rendered, const char *absolute)
{
	const struct rendered_input *in = &rendered->in;
	struct buf shown;
	long file;

	buf_init(&shown);
	show_path(in->options, in->cwd, absolute, &shown);
	file = files_find(in->files, shown.data);
	if (file < 0)
		file = files_find(in->files, absolute);
	buf_release(&shown);
	return file;
}

/* --- making them ---------------------------------------------------------- */

/* What a policy excludes is not built. */
static void leave_out(struct rendered_input *in)
{
	struct kustomize *k = in->kustomize;
	size_t kept = 0;
	struct buf path;

	buf_init(&path);
	for (size_t i = 0; i < k->nmet; i++) {
		uint32_t policy = policies_find(in->policies, k->met[i].folder);

		buf_reset(&path);
		path_join(k->met[i].folder, k->met[i].name, &path);
		if (!policies_exclude(in->policies, policy, path.data))
			k->met[kept++] = k->met[i];
	}
	k->nmet = kept;
	buf_release(&path);
}

/* Manifests, patches and templates; kustomizations and charts stay what they
 * are. */
static bool is_covered(const struct render_root *root, const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	if (root->chart)
		return path_is_below(root->chart, path) &&
		       strstr(path + strlen(root->chart), "/templates/");
	return !kustomize_name(name);
}

static bool is_template(const struct render *r, const char *path)
{
	for (size_t i = 0; i < r->nroots; i++)
		if (r->roots[i].chart && !r->roots[i].refused &&
		    is_covered(&r->roots[i], path))
			return true;
	return false;
}

/* Those that were built to nothing are templates all the same. */
static void cover_templates(struct rendered *rendered)
{
	struct files *files = rendered->in.files;
	struct buf path, absolute;

	buf_init(&path);
	buf_init(&absolute);
	for (size_t i = 0; i < files->n; i++) {
		buf_reset(&path);
		buf_reset(&absolute);
		files_path(files, i, &path);
		path_absolute(rendered->in.cwd, path.data, &absolute);
		if (is_template(&rendered->render, absolute.data))
			files->items[i].flags |= FILE_COVERED;
	}
	buf_release(&path);
	buf_release(&absolute);
}
static void cover_sources(struct rendered *rendered)
{
	for (size_t i = 0; i < rendered->render.nroots; i++) {
		const struct render_root *root = &rendered->render.roots[i];

		for (size_t s = 0; s < root->nsources && !root->refused; s++)
			if (find_file(rendered, root->sources[s]) < 0)
				add_file(&rendered->in, root->sources[s],
					 FILE_COVERED);
	}
	files_sort(rendered->in.files);
	for (size_t i = 0; i < rendered->render.nroots; i++) {
		const struct render_root *root = &rendered->render.roots[i];

		for (size_t s = 0; s < root->nsources && !root->refused; s++) {
			const char *path = root->sources[s];
			long file = find_file(rendered, path);

			if (file >= 0 && is_covered(root, path))
				rendered->in.files->items[file].flags |=
					FILE_COVERED;
		}
	}
}

static void add_text(struct rendered_input *in, struct render_root *root)
{
	unsigned flags = FILE_RENDERED;

	if (root->apart)
		flags |= FILE_APART;
	if (kustomize_patches(in->kustomize, root->folder))
		flags |= FILE_PATCHED;
	root->index = (uint32_t)in->files->n;
	add_file(in, root->file, flags);
	in->files->nrendered++;
	stdin_cache_put(in->stdin_cache, root->index, root->text.data,
			root->text.len);
}

static void report(struct rendered *rendered, const struct render_root *root)
{
	const struct render_tool *tool = root->chart
						 ? &rendered->render.helm
						 : &rendered->render.kustomize;
	const char *verb = root->chart ? "helm template" : "kustomize build";
	struct buf shown, folder;

	buf_init(&shown);
	buf_init(&folder);
	show_path(rendered->in.options, rendered->in.cwd, root->file, &shown);
	show_path(rendered->in.options, rendered->in.cwd, root->folder,
		  &folder);
	*ARRAY_PUSH(rendered->reports, rendered->nreports,
		    rendered->reports_size) = (struct report_rendered){
		.source = arena_strdup(&rendered->arena, shown.data),
		.one = root->chart ? "chart" : "kustomization",
		.many = root->chart ? "charts" : "kustomizations",
		.tool = text_or_empty(tool->name),
		.version = text_or_empty(tool->version),
		.reason = root->refused,
		.command = arena_printf(&rendered->arena, "%s %s",
					tool->name ? tool->name : verb,
					folder.len ? folder.data : "."),
	};
	if (root->refused && rendered->required) {
		log_line("%s: not rendered: %s", shown.data, root->refused);
		rendered->failed = true;
	}
	buf_release(&shown);
	buf_release(&folder);
}

/* Files that name one of the kinds, where there is a chart at all. */
static void find_releases(struct rendered *rendered)
{
	static const struct file_how how = {.limit = FILE_MANIFEST_MAX};
	const struct rendered_input *in = &rendered->in;
	struct buf path, text;
	bool charts = false;

	for (size_t i = 0; i < in->kustomize->nmet; i++)
		charts |= chart_name(in->kustomize->met[i].name) != NULL;
	buf_init(&path);
	buf_init(&text);
	for (size_t i = 0; i < in->files->n && charts; i++) {
		buf_reset(&path);
		buf_reset(&text);
		files_path(in->files, i, &path);
		if (!(in->files->items[i].flags & FILE_REGULAR) ||
		    file_read(AT_FDCWD, path.data, &how, &text) ||
		    (!text_find(text.data, text.len, "HelmRelease") &&
		     !text_find(text.data, text.len, "argoproj.io/")))
			continue;
		buf_reset(&text);
		path_absolute(in->cwd, path.data, &text);
		render_find_releases(&rendered->render, text.data);
	}
	buf_release(&path);
	buf_release(&text);
}

static bool is_asked(const struct options *options)
{
	if (text_eq(options->render, "require"))
		return true;
	return !text_eq(options->render, "never") && !options->partial &&
	       !options->since;
}

void rendered_make(struct rendered *rendered, const struct rendered_input *in)
{
	struct render *r = &rendered->render;

	rendered->in = *in;
	if (!rendered->wanted || !is_asked(in->options) || !in->kustomize->nmet)
		return;
	rendered->required = text_eq(in->options->render, "require");
	r->cwd = in->cwd;
	r->network = in->options->render_network;
	leave_out(&rendered->in);
	render_find(r, in->kustomize);
	find_releases(rendered);
	render_find_charts(r, in->kustomize);
	if (!r->nroots)
		return;
	render_find_tools(r);
	render_build(r, in->thread_pool);
	cover_sources(rendered);
	if (r->helm.path)
		cover_templates(rendered);
	for (size_t i = 0; i < r->nroots; i++) {
		if (!r->roots[i].refused)
			add_text(&rendered->in, &r->roots[i]);
		report(rendered, &r->roots[i]);
	}
}

void rendered_release(struct rendered *rendered)
{
	render_release(&rendered->render);
	arena_release(&rendered->arena);
	free(rendered->findings);
	free(rendered->reports);
}

/* --- back to the sources -------------------------------------------------- */

static struct render_root *root_of(struct rendered *rendered, uint32_t file)
{
	struct render *r = &rendered->render;

	for (size_t i = 0; i < r->nroots; i++)
		if (!r->roots[i].refused && r->roots[i].index == file)
			return &r->roots[i];
	return NULL;
}

/* Bytes of the text that is shown. */
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

static void set_place(struct rendered *rendered, const struct render_place *at,
		      struct place *place)
{
	struct source *source = &at->text->source;
	struct position from, to;

	place->start = place->end = 0;
	place->document = at->item ? at->item->document : 1;
	place->pointer = "";
	if (at->node) {
		span_of(at, place);
		place->pointer = node_pointer_text(&rendered->arena, at->node);
	}
	from = source_position(source, place->start);
	to = source_position(source, place->end);
	place->line = from.line;
	place->column = from.column;
	place->end_line = to.line;
	place->end_column = to.column;
}

/* The kustomization, at its first field. */
static struct render_place whole_root(struct rendered *rendered,
				      const struct render_root *root)
{
	struct render_text *text =
		render_text_of(&rendered->render, root->file);
	struct render_place at = {.text = text, .key = true};

	if (root->item) {
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

/* NULL text: the file is gone. */
static void put_place(struct rendered *rendered, const struct render_place *at,
		      struct place *place)
{
	long file = at->text ? find_file(rendered, at->text->path) : -1;
	struct lint_file *f;

	if (file < 0)
		return;
	place->file = (uint32_t)file;
	f = &rendered->in.files->items[file];
	f->size = (uint32_t)at->text->bytes;
	/* Settings, until something is found in them. */
	if (f->flags & FILE_FOREIGN)
		f->flags = (f->flags & ~(uint32_t)FILE_FOREIGN) | FILE_COVERED;
	set_place(rendered, at, place);
}

void rendered_move(struct rendered *rendered, struct place *place)
{
	struct render_root *root = root_of(rendered, place->file);
	struct render_place at;

	if (!root)
		return;
	at = render_place_of(&rendered->render, root, place);
	if (!at.text)
		at = whole_root(rendered, root);
	put_place(rendered, &at, place);
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
		(struct rendered_finding){*finding, finding->place.file};
	finding = &rendered->findings[rendered->n - 1].finding;
	for (unsigned i = 0; i < finding->nrelated; i++)
		rendered_move(rendered, &finding->related[i].place);
	rendered_move(rendered, &finding->place);
	finding->repair = NULL; /* of the built text */
	add_related(rendered, finding, root);
}

static int map_root(struct rendered *rendered, const struct render_root *root)
{
	struct job *job = rendered->job;
	const struct spill_record *record = &job->records[root->index];
	struct finding *findings = NULL, *of_set = NULL;
	struct covered covered;
	struct source source;
	size_t n = 0, nset = 0;
	int error = 0;

	if (record->length)
		error = spill_read(&job->workers->items[record->spill].spill,
				   record, &rendered->arena, &findings, &n);
	if (!error)
		error = set_findings_of(rendered->set, root->index,
					&rendered->arena, &of_set, &nset);
	if (!n && !nset)
		return error;
	source_init(&source, &rendered->arena, root->file, root->text.data,
		    root->text.len);
	covered_make(&covered, &rendered->arena, &source);
	covered_findings(&covered, findings, n);
	covered_findings(&covered, of_set, nset);
	for (size_t i = 0; i < n; i++)
		map_finding(rendered, &findings[i]);
	for (size_t i = 0; i < nset; i++)
		map_finding(rendered, &of_set[i]);
	return error;
}

/* --- comments of the sources ---------------------------------------------- */

static void ignore_issue(void *context, const struct load_issue *issue)
{
	(void)context; /* what builds the file says so */
	(void)issue;
}

static void read_comments(struct suppressions *suppressions,
			  struct source *source)
{
	struct arena arena = ARENA_INIT;
	struct loader loader;
	struct doc doc;

	loader_init(&loader, source, &load_limits_default, &arena);
	loader.issue = ignore_issue;
	while (loader_next(&loader, &doc) > 0)
		suppressions_exclude(suppressions, &doc);
	arena_release(&arena);
}

static void count_suppressed(struct run_counts *counts,
			     const struct finding *finding, int by)
{
	uint64_t *count = finding->severity == SEVERITY_ERROR ? &counts->errors
			  : finding->severity == SEVERITY_WARNING
				  ? &counts->warnings
				  : &counts->infos;

	*count -= (uint64_t)by;
}

/* Findings of one file, from..to. */
static void excuse(struct rendered *rendered, size_t from, size_t to,
		   struct run_counts *counts)
{
	struct arena *arena = &rendered->arena;
	struct suppressions *suppressions;
	struct render_text *text;
	struct buf path, absolute;

	buf_init(&path);
	buf_init(&absolute);
	files_path(rendered->in.files,
		   rendered->findings[from].finding.place.file, &path);
	path_absolute(rendered->in.cwd, path.data, &absolute);
	text = render_text_of(&rendered->render, absolute.data);
	buf_release(&path);
	if (!text ||
	    !text_find(text->source.text, text->source.len, "gpugate")) {
		buf_release(&absolute);
		return;
	}
	suppressions = suppressions_scan(arena, &text->source,
					 rendered->job->run.today);
	read_comments(suppressions, &text->source);
	for (size_t i = from; i < to; i++) {
		struct finding *finding = &rendered->findings[i].finding;
		struct policy_path_rule rule;
		const struct policy *policy =
			job_policy(rendered->job, rendered->findings[i].root,
				   &absolute, &rule);
		int index = rule_set_find(policy_rules(policy),
					  finding->rule->name);

		if (index < 0 || finding->suppressed)
			continue;
		suppressions_apply(suppressions, NULL,
				   &policy_base(policy)[index], finding);
		if (!finding->suppressed)
			continue;
		counts->suppressed++;
		count_suppressed(counts, finding, 1);
	}
	buf_release(&absolute);
}

/* --- one line, one finding ------------------------------------------------ */

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

/* Overlays find the same in their base: it is one finding, of all of them. */
static void unite(struct rendered *rendered, struct run_counts *counts)
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
		add_related(rendered, &last->finding,
			    root_of(rendered, next->root));
		if (next->finding.suppressed)
			counts->suppressed--;
		else
			count_suppressed(counts, &next->finding, 1);
	}
	rendered->n = kept;
}

static void excuse_all(struct rendered *rendered, struct run_counts *counts)
{
	size_t from = 0;

	if (rendered->job->run.no_ignore)
		return;
	for (size_t i = 1; i <= rendered->n; i++) {
		if (i < rendered->n &&
		    rendered->findings[i].finding.place.file ==
			    rendered->findings[from].finding.place.file)
			continue;
		excuse(rendered, from, i, counts);
		from = i;
	}
}

int rendered_map(struct rendered *rendered, struct job *job,
		 struct set_findings *set, struct run_counts *counts)
{
	struct files *files = job->files;
	int error = 0;

	rendered->job = job;
	rendered->set = set;
	for (size_t i = 0; i < rendered->render.nroots && !error; i++)
		if (!rendered->render.roots[i].refused)
			error = map_root(rendered, &rendered->render.roots[i]);
	for (size_t i = 0; i < files->n; i++)
		if (files->items[i].flags & FILE_COVERED)
			files->items[i].flags |= FILE_LINTED;
	if (rendered->n)
		qsort(rendered->findings, rendered->n,
		      sizeof(*rendered->findings), compare);
	excuse_all(rendered, counts);
	unite(rendered, counts);
	return error;
}

struct rendered_finding *rendered_of(const struct rendered *rendered,
				     uint32_t file, size_t *n)
{
	size_t low = 0, high = rendered->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rendered->findings[middle].finding.place.file < file)
			low = middle + 1;
		else
			high = middle;
	}
	*n = 0;
	while (low + *n < rendered->n &&
	       rendered->findings[low + *n].finding.place.file == file)
		++*n;
	return *n ? &rendered->findings[low] : NULL;
}
