/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds built roots to the files of a run, with their texts in memory; their
 * manifests and patches are then not checked separately. Set, policy and
 * namespace of a built text are those of the root's folder.
 */
#include "lint.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "base/text.h"
#include "lint/files/subprocess.h"
#include "lint/term/log.h"

/* --- paths ---------------------------------------------------------------- */

/* Sets out to the path in the form in which the user would write it: absolute
 * if the path that the user named is absolute. */
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

static uint32_t add_folder(struct walk_input *in, const char *absolute,
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

static void add_file(struct walk_input *in, const char *absolute,
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

long rendered_file(const struct rendered *rendered, const char *absolute)
{
	const struct walk_input *in = &rendered->in;
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

/* --- building ------------------------------------------------------------- */

/* Drops the roots that a policy excludes. */
static void leave_out(struct walk_input *in)
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

/* True for manifests, patches and templates. Kustomizations and charts are
 * checked as separate files. */
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

/* Marks templates as rendered even if they produced no output. */
static void cover_templates(struct rendered *rendered)
{
	struct files *files = rendered->in.files;
	struct buf path;

	buf_init(&path);
	for (size_t i = 0; i < files->n; i++) {
		files_absolute(files, i, rendered->in.cwd, &path);
		if (is_template(&rendered->render, path.data))
			files->items[i].flags |= FILE_SUPERSEDED;
	}
	buf_release(&path);
}

static void cover_sources(struct rendered *rendered)
{
	for (size_t i = 0; i < rendered->render.nroots; i++) {
		const struct render_root *root = &rendered->render.roots[i];

		if (!root->refused && rendered_file(rendered, root->file) < 0)
			add_file(&rendered->in, root->file, FILE_SUPERSEDED);
		for (size_t s = 0; s < root->sources.n && !root->refused; s++)
			if (rendered_file(rendered, root->sources.items[s]) < 0)
				add_file(&rendered->in, root->sources.items[s],
					 FILE_SUPERSEDED);
	}
	files_sort(rendered->in.files);
	for (size_t i = 0; i < rendered->render.nroots; i++) {
		const struct render_root *root = &rendered->render.roots[i];

		for (size_t s = 0; s < root->sources.n && !root->refused; s++) {
			const char *path = root->sources.items[s];
			long file = rendered_file(rendered, path);

			if (file >= 0 && is_covered(root, path))
				rendered->in.files->items[file].flags |=
					FILE_SUPERSEDED;
		}
	}
}

static void add_text(struct rendered *rendered, struct render_root *root)
{
	struct walk_input *in = &rendered->in;
	unsigned flags = FILE_RENDERED;
	struct buf path;

	if (root->apart)
		flags |= FILE_OWN_SET;
	if (kustomize_patches(in->kustomize, root->folder))
		flags |= FILE_PATCHED;
	root->index = (uint32_t)in->files->n;
	buf_init(&path);
	path_join(root->folder, strrchr(root->file, '/') + 1, &path);
	add_file(in, path.data, flags);
	buf_release(&path);
	in->files->nrendered++;
	stdin_cache_put(rendered->stdin_cache, root->index, root->text.data,
			root->text.len);
}

/* Returns a command with which the user can build the root, to see the output
 * or the error. */
static const char *command_of(struct rendered *rendered,
			      const struct render_root *root, const char *tool)
{
	struct buf folder, out;
	const char *text;

	buf_init(&folder);
	buf_init(&out);
	show_path(rendered->in.options, rendered->in.cwd,
		  root->chart ? root->chart : root->folder, &folder);
	buf_adds(&out, tool);
	if (root->release)
		buf_addf(&out, " %s", root->release);
	buf_addf(&out, " %s", folder.len ? folder.data : ".");
	if (root->item)
		buf_adds(&out, " --values FILE");
	text = arena_strdup(&rendered->arena, out.data);
	buf_release(&folder);
	buf_release(&out);
	return text;
}

static void report(struct rendered *rendered, const struct render_root *root)
{
	const struct render_tool *tool = root->chart
						 ? &rendered->render.helm
						 : &rendered->render.kustomize;
	const char *verb = root->chart ? "helm template" : "kustomize build";
	struct buf shown;

	buf_init(&shown);
	show_path(rendered->in.options, rendered->in.cwd, root->file, &shown);
	*ARRAY_PUSH(rendered->reports, rendered->nreports,
		    rendered->reports_size) = (struct report_rendered){
		.source = arena_strdup(&rendered->arena, shown.data),
		.one = root->chart ? "chart" : "kustomization",
		.many = root->chart ? "charts" : "kustomizations",
		.tool = text_or_empty(tool->name),
		.version = text_or_empty(tool->version),
		.reason = root->refused,
		.command = command_of(rendered, root,
				      tool->name ? tool->name : verb),
	};
	if (root->refused && rendered->required) {
		log_line("%s: not rendered: %s", shown.data, root->refused);
		rendered->failed = true;
	}
	buf_release(&shown);
}

/*
 * Finds charts that objects of this file install. A file that a built
 * kustomization lists is skipped, because the built text has these objects with
 * their final values. If the kustomization is not built, the charts are found
 * but not built either.
 */
static void find_releases_in(struct render *r, const char *path)
{
	size_t n = r->nroots;
	bool listed = false;

	for (size_t i = 0; i < n; i++)
		for (size_t s = 0; s < r->roots[i].sources.n; s++)
			if (!strcmp(r->roots[i].sources.items[s], path)) {
				if (!r->roots[i].refused)
					return;
				listed = true;
			}
	render_find_releases(r, path);
	for (size_t i = n; i < r->nroots && listed; i++)
		r->roots[i].refused =
			"a kustomization that is not built lists it";
}

/* Searches files with objects that install charts, if there is any chart. */
static void find_releases(struct rendered *rendered)
{
	static const struct file_how how = {.limit = FILE_MANIFEST_MAX};
	const struct walk_input *in = &rendered->in;
	struct buf path, text;
	bool charts = false;

	for (size_t i = 0; i < in->kustomize->nmet; i++)
		charts |= chart_name(in->kustomize->met[i].name) != NULL;
	buf_init(&path);
	buf_init(&text);
	for (size_t i = 0; i < in->files->n && charts; i++) {
		buf_reset(&text);
		files_absolute(in->files, i, in->cwd, &path);
		if (!(in->files->items[i].flags & FILE_REGULAR) ||
		    file_read(AT_FDCWD, path.data, &how, &text) ||
		    (!text_find(text.data, text.len, "HelmRelease") &&
		     !text_find(text.data, text.len, "argoproj.io/")))
			continue;
		find_releases_in(&rendered->render, path.data);
	}
	buf_release(&path);
	buf_release(&text);
}

static size_t count_installers(const struct render_text *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->n; i++) {
		const struct node *kind = node_get(text->items[i].root, "kind");

		n += node_eq(kind, "HelmRelease") ||
		     node_eq(kind, "Application");
	}
	return n;
}

/* Marks the file of the text if every chart that its HelmReleases and
 * Applications install was built. */
static void note_installer(struct rendered *rendered,
			   const struct render_text *text)
{
	const struct render *r = &rendered->render;
	size_t built = 0;
	long file = -1;

	for (size_t i = 0; i < r->nroots; i++) {
		const struct render_root *root = &r->roots[i];

		built += root->installer == text && !root->refused;
		if (root->rendered == text)
			file = root->index;
	}
	if (file < 0)
		file = rendered_file(rendered, text->path);
	if (file >= 0 && built == count_installers(text))
		rendered->in.files->items[file].flags |= FILE_INSTALLS;
}

static bool is_asked(const struct options *options)
{
	if (text_eq(options->render, "require"))
		return true;
	return !text_eq(options->render, "never") && !options->partial &&
	       !options->since;
}

/* True if files are fixed in a run before the one that renders them. A baseline
 * must be written in the same run. */
static bool is_repairing(const struct options *o)
{
	return o->fix && !o->diff && !o->write_baseline && !o->prune_baseline;
}

static void render(struct rendered *rendered)
{
	struct render *r = &rendered->render;
	const struct walk_input *in = &rendered->in;

	render_find(r, in->kustomize);
	program_guard_begin();
	render_find_tools(r);
	render_build(r, in->thread_pool);
	render_find_built_releases(r);
	find_releases(rendered);
	render_find_charts(r, in->kustomize);
	render_find_tools(r);
	render_build(r, in->thread_pool);
	program_guard_end();
}

void rendered_make(struct rendered *rendered, const struct walk_input *in,
		   struct stdin_cache *stdin_cache)
{
	struct render *r = &rendered->render;

	rendered->in = *in;
	rendered->stdin_cache = stdin_cache;
	if (!rendered->wanted || !is_asked(in->options) || !in->kustomize->nmet)
		return;
	rendered->required = text_eq(in->options->render, "require");
	r->cwd = in->cwd;
	r->network = in->options->render_network;
	leave_out(&rendered->in);
	rendered->deferred = is_repairing(in->options);
	if (rendered->deferred)
		return;
	render(rendered);
	if (!r->nroots)
		return;
	cover_sources(rendered);
	if (r->helm.path)
		cover_templates(rendered);
	for (size_t i = 0; i < r->nroots; i++) {
		if (!r->roots[i].refused)
			add_text(rendered, &r->roots[i]);
		report(rendered, &r->roots[i]);
	}
	for (size_t i = 0; i < r->nroots; i++)
		if (r->roots[i].installer)
			note_installer(rendered, r->roots[i].installer);
}

void rendered_release(struct rendered *rendered)
{
	render_release(&rendered->render);
	arena_release(&rendered->arena);
	free(rendered->findings);
	free(rendered->others);
	free(rendered->reports);
}
