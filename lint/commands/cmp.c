/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate cmp`: a config management plugin for Argo CD, which the plugin
 * server runs in the application's folder. Argo CD applies the printed
 * manifests and prunes everything else, so all of them are printed, or none. No
 * program of the repository is run, and no file outside of it is read, although
 * kustomize itself would read a base there.
 */
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "base/text.h"
#include "lint/files/kustomize.h"
#include "lint/render/render.h"
#include "lint/run/filter.h"
#include "lint/term/log.h"

enum cmp_kind { CMP_NOTHING, CMP_KUSTOMIZE, CMP_HELM, CMP_PLAIN };

/* Sources: docs/operator-manual/config-management-plugins.md and
 * docs/user-guide/build-environment.md of Argo CD. */
struct cmp {
	struct arena arena;
	const char *folder; /* application's folder, absolute, without links */
	const char *root;   /* repository's folder, absolute, without links */
	/* Parameters of the Application. */
	const char *render;	 /* NULL: decided by the files in the folder */
	const char *release;	 /* release (NULL: the application's name) */
	struct list values;	 /* files, absolute */
	struct list assignments; /* key=value, as for `helm --set` */
	bool recurse;		 /* also read plain manifests in subfolders */
	bool discovers; /* only print how the folder would be rendered */
};

/* --- paths ---------------------------------------------------------------- */

static bool is_inside(const struct cmp *cmp, const char *path)
{
	size_t len = strlen(cmp->root);

	return !strncmp(path, cmp->root, len) &&
	       (!path[len] || path[len] == '/');
}

/* Returns the path without links, in the arena; NULL after a message if it is
 * missing or outside the repository. Outside, the message does not reveal
 * which files exist. */
static const char *find_inside(struct cmp *cmp, const char *path)
{
	bool inside = is_inside(cmp, path);
	char *real = inside ? realpath(path, NULL) : NULL;
	const char *kept = NULL;

	if (inside && !real)
		log_line("%s: no such file", path + strlen(cmp->root) + 1);
	else if (!inside || !is_inside(cmp, real))
		log_line("%s: outside of the repository", path);
	else
		kept = arena_strdup(&cmp->arena, real);
	free(real);
	return kept;
}

/* --- parameters ----------------------------------------------------------- */

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Returns the repository's root, from the application's path in it or, if that
 * is unknown, from git. Without git, returns the application's folder. */
static const char *find_root(struct cmp *cmp)
{
	const char *path = variable("ARGOCD_APP_SOURCE_PATH");
	size_t len = repository_length(cmp->folder), all = strlen(cmp->folder);
	struct buf clean;

	buf_init(&clean);
	path_clean(path ? path : "", &clean);
	if (path && !clean.len)
		len = all;
	else if (path && all > clean.len &&
		 cmp->folder[all - clean.len - 1] == '/' &&
		 !strcmp(cmp->folder + all - clean.len, clean.data))
		len = all - clean.len - 1;
	buf_release(&clean);
	return len ? arena_strndup(&cmp->arena, cmp->folder, len) : cmp->folder;
}

/* Adds a file of values. Its path is relative to the application, or with a
 * leading / to the repository, as in Argo CD's Helm sources. */
static int add_values(struct cmp *cmp, const char *name)
{
	struct buf path;
	const char *real;

	if (strstr(name, "://")) {
		log_line("values-files: `%s` is not a file of the repository",
			 name);
		return 2;
	}
	buf_init(&path);
	path_absolute(*name == '/' ? cmp->root : cmp->folder,
		      name + strspn(name, "/"), &path);
	real = find_inside(cmp, path.data);
	buf_release(&path);
	if (!real)
		return 2;
	list_add(&cmp->arena, &cmp->values, real);
	return 0;
}

static int take_values(struct cmp *cmp, const json_t *value)
{
	int rc = 0;

	cmp->values = (struct list){0};
	for (size_t i = 0; i < json_array_size(value) && !rc; i++) {
		const char *name = json_string_value(json_array_get(value, i));

		rc = name ? add_values(cmp, name) : 2;
	}
	return rc;
}

/* Reads arguments of `helm --set`. Escapes commas outside of a list {a,b}. */
static int take_assignments(struct cmp *cmp, const json_t *value)
{
	const char *key;
	json_t *item;

	json_object_foreach((json_t *)(uintptr_t)value, key, item)
	{
		const char *text = json_string_value(item);
		struct buf out;

		if (!text)
			return 2;
		buf_init(&out);
		buf_addf(&out, "%s=", key);
		for (const char *c = text; *c; c++) {
			if (*c == ',' && *text != '{')
				buf_addc(&out, '\\');
			buf_addc(&out, *c);
		}
		list_add(&cmp->arena, &cmp->assignments,
			 arena_strdup(&cmp->arena, out.data));
		buf_release(&out);
	}
	return 0;
}

static int take_release(struct cmp *cmp, const json_t *value)
{
	cmp->release = arena_strdup(&cmp->arena, json_string_value(value));
	return 0;
}

static int take_render(struct cmp *cmp, const json_t *value)
{
	const char *text = json_string_value(value);

	if (!word_among("auto plain kustomize helm", text)) {
		log_line("render: `%s` is none of: auto plain kustomize helm",
			 text);
		return 2;
	}
	cmp->render =
		strcmp(text, "auto") ? arena_strdup(&cmp->arena, text) : NULL;
	return 0;
}

static int take_recurse(struct cmp *cmp, const json_t *value)
{
	int word = word_flag(json_string_value(value));

	if (word < 0)
		log_line("recurse: `%s` is neither true nor false",
			 json_string_value(value));
	cmp->recurse = word > 0;
	return word < 0 ? 2 : 0;
}

static const struct parameter {
	const char *name, *member; /* member contains the value */
	json_type type;
	bool discovers; /* has an effect on --discover */
	int (*take)(struct cmp *cmp, const json_t *value);
} parameters[] = {
	{"render", "string", JSON_STRING, true, take_render},
	{"recurse", "string", JSON_STRING, true, take_recurse},
	{"release-name", "string", JSON_STRING, false, take_release},
	{"values-files", "array", JSON_ARRAY, false, take_values},
	{"helm-parameters", "map", JSON_OBJECT, false, take_assignments},
};
enum { PARAMETERS = ARRAY_SIZE(parameters) };

static int unknown_parameter(const char *name)
{
	const char *names[PARAMETERS], *near;

	for (size_t i = 0; i < PARAMETERS; i++)
		names[i] = parameters[i].name;
	near = text_nearest(name, names, PARAMETERS);
	log_line("unknown parameter `%s`%s%s%s", name,
		 near ? "; did you mean `" : "", near ? near : "",
		 near ? "`?" : "");
	return 2;
}

static int take_parameter(struct cmp *cmp, const json_t *item)
{
	const char *name = json_string_value(json_object_get(item, "name"));

	for (size_t i = 0; name && i < PARAMETERS; i++) {
		const struct parameter *p = &parameters[i];
		const json_t *value = json_object_get(item, p->member);
		int rc;

		if (strcmp(p->name, name) != 0)
			continue;
		if (cmp->discovers && !p->discovers)
			return 0;
		rc = value && json_typeof(value) == p->type
			     ? p->take(cmp, value)
			     : -1;
		if (rc < 0)
			log_line("parameter %s: set its value in `%s`", name,
				 p->member);
		return rc ? 2 : 0;
	}
	return cmp->discovers ? 0 : unknown_parameter(name ? name : "");
}

/*
 * Returns the parameter's value from the variable for it in
 * spec.source.plugin.env: a text, or a list whose items are separated by commas
 * or blanks. Returns NULL if it is not set, or the parameter is a map.
 */
static json_t *variable_value(struct cmp *cmp, const struct parameter *p)
{
	struct list words = {0};
	char name[64];
	const char *text;
	json_t *all;

	word_variable("ARGOCD_ENV_", p->name, name);
	text = variable(name);
	if (!text || p->type == JSON_STRING)
		return text ? json_string(text) : NULL;
	if (p->type != JSON_ARRAY)
		return NULL;
	all = json_array();
	list_split(&cmp->arena, &words, text, ", \t\n");
	for (size_t i = 0; i < words.n; i++)
		json_array_append_new(all, json_string(words.items[i]));
	return all;
}

static int read_variables(struct cmp *cmp)
{
	int rc = 0;

	for (size_t i = 0; i < PARAMETERS && !rc; i++) {
		const struct parameter *p = &parameters[i];
		json_t *value;

		if (cmp->discovers && !p->discovers)
			continue;
		value = variable_value(cmp, p);
		if (value)
			rc = p->take(cmp, value) ? 2 : 0;
		json_decref(value);
	}
	return rc;
}

static int read_parameters(struct cmp *cmp)
{
	const char *text = variable("ARGOCD_APP_PARAMETERS");
	json_t *all;
	int rc = 0;

	if (!text)
		return 0;
	all = json_loads(text, JSON_DECODE_ANY, NULL);
	if (!all || (!json_is_array(all) && !json_is_null(all))) {
		log_line("ARGOCD_APP_PARAMETERS is not a list in JSON");
		rc = 2;
	}
	for (size_t i = 0; i < json_array_size(all) && !rc; i++)
		rc = take_parameter(cmp, json_array_get(all, i));
	json_decref(all);
	return rc;
}

/* --- the kind of the folder ----------------------------------------------- */

static bool has_entry(const char *folder, bool (*is_wanted)(const char *name))
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = is_wanted(entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}

static bool is_kustomization(const char *name)
{
	return kustomize_name(name);
}

static enum cmp_kind discover(const struct cmp *cmp)
{
	const char *render = cmp->render;

	if (render)
		return text_eq(render, "plain")	 ? CMP_PLAIN
		       : text_eq(render, "helm") ? CMP_HELM
						 : CMP_KUSTOMIZE;
	if (has_entry(cmp->folder, is_kustomization))
		return CMP_KUSTOMIZE;
	/* The application's folder is the current one. */
	if (!access("Chart.yaml", F_OK))
		return CMP_HELM;
	return cmp->recurse || has_entry(cmp->folder, path_is_manifest)
		       ? CMP_PLAIN
		       : CMP_NOTHING;
}

/* --- files as they are ---------------------------------------------------- */

static int manifest_entry(const struct dirent *entry)
{
	return path_is_manifest(entry->d_name) ||
	       ((entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) &&
		strcmp(entry->d_name, ".") != 0 &&
		strcmp(entry->d_name, "..") != 0 &&
		strcmp(entry->d_name, ".git") != 0);
}

static bool is_folder(const struct dirent *entry, const char *path)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

/* True for text that Argo CD skips because of its form or its comment
 * +argocd:skip-file-rendering, and for settings of gpugate. */
static bool is_left_out(const struct buf *text)
{
	return !text_find(text->data, text->len, "apiVersion") ||
	       !text_find(text->data, text->len, "kind") ||
	       text_find(text->data, text->len,
			 "+argocd:skip-file-rendering") ||
	       text_starts(text->len ? text->data : "",
			   "apiVersion: gpugate.dev/") ||
	       text_find(text->data, text->len, "\napiVersion: gpugate.dev/");
}

/* JSON becomes part of a YAML stream, in which tabs are not allowed: tabs
 * between JSON values become blanks, and strings contain none. */
static void untab(struct buf *text)
{
	for (size_t i = 0; i < text->len; i++)
		if (text->data[i] == '\t')
			text->data[i] = ' ';
}

static int add_file(struct cmp *cmp, struct filter *f, const char *path)
{
	static const struct file_how how = {.limit = FILE_MANIFEST_MAX};
	const char *real = find_inside(cmp, path);
	struct filter_text *text;
	int error;

	if (!real)
		return 2;
	text = filter_add(f, path + strlen(cmp->folder) + 1);
	error = input_read(&text->text, AT_FDCWD, real, &how);
	if (error) {
		log_line("%s: %s", path, input_strerror(error));
		return 2;
	}
	if (is_left_out(&text->text)) {
		buf_release(&text->text);
		f->ntexts--;
	} else if (text_ends(path, ".json")) {
		untab(&text->text);
	}
	return 0;
}

static int add_folder(struct cmp *cmp, struct filter *f, const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, manifest_entry, alphasort), rc = 0;
	struct buf path;

	if (n < 0) {
		log_line("%s cannot be read", folder);
		return 2;
	}
	buf_init(&path);
	for (int i = 0; i < n; i++) {
		buf_reset(&path);
		path_join(folder, entries[i]->d_name, &path);
		if (is_folder(entries[i], path.data))
			rc |= cmp->recurse ? add_folder(cmp, f, path.data) : 0;
		else if (path_is_manifest(entries[i]->d_name))
			rc |= add_file(cmp, f, path.data);
		free(entries[i]);
	}
	free(entries);
	buf_release(&path);
	return rc;
}

/* --- by other programs ---------------------------------------------------- */

static void add_pair(struct cmp *cmp, struct list *argv, const char *option,
		     const char *value)
{
	if (!value || !*value)
		return;
	list_add(&cmp->arena, argv, option);
	list_add(&cmp->arena, argv, value);
}

/* Adds the chart as Argo CD renders it, with hooks and definitions. */
static struct render_root *add_chart(struct cmp *cmp, const struct filter *f,
				     struct render *r)
{
	struct render_root *root = render_add(r, cmp->folder, "Chart.yaml");

	render_use_chart(r, root, root->folder);
	root->release =
		cmp->release ? cmp->release : variable("ARGOCD_APP_NAME");
	root->namespace = f->options->namespace;
	add_pair(cmp, &root->sets, "--kube-version", variable("KUBE_VERSION"));
	add_pair(cmp, &root->sets, "--api-versions",
		 variable("KUBE_API_VERSIONS"));
	for (size_t i = 0; i < cmp->values.n; i++)
		add_pair(cmp, &root->sets, "--values", cmp->values.items[i]);
	for (size_t i = 0; i < cmp->assignments.n; i++)
		add_pair(cmp, &root->sets, "--set", cmp->assignments.items[i]);
	list_add(&cmp->arena, &root->sets, "--include-crds");
	return root;
}

static int add_built(struct cmp *cmp, struct filter *f, bool chart)
{
	struct render r = {.cwd = cmp->folder,
			   .network = true,
			   .applied = true,
			   .border = cmp->root};
	const struct render_root *root =
		chart ? add_chart(cmp, f, &r)
		      : render_add_kustomization(&r, cmp->folder);
	struct thread_pool alone;
	int rc = 0;

	pool_init(&alone, 1);
	render_find_tools(&r);
	render_build(&r, &alone);
	if (root->refused) {
		log_line("not rendered: %s", root->refused);
		rc = 2;
	} else {
		buf_add(&filter_add(f, "<rendered>")->text, root->text.data,
			root->text.len);
	}
	pool_release(&alone);
	render_release(&r);
	return rc;
}

/* Adds the manifests to apply. Returns 0, or 2 after a message. */
static int add_manifests(struct cmp *cmp, struct filter *f)
{
	enum cmp_kind kind = discover(cmp);

	if (kind == CMP_KUSTOMIZE || kind == CMP_HELM)
		return add_built(cmp, f, kind == CMP_HELM);
	return add_folder(cmp, f, cmp->folder);
}

/* --- the command ---------------------------------------------------------- */

static int print_texts(struct filter *f)
{
	struct buf out;

	buf_init(&out);
	for (size_t i = 0; i < f->ntexts; i++) {
		const struct buf *text = &f->texts[i].text;

		/* Omit a text without objects, as Argo CD does. */
		if (!f->texts[i].objects)
			continue;
		if (out.len)
			buf_adds(&out, "---\n");
		buf_add(&out, text->data, text->len);
		if (text->len && text->data[text->len - 1] != '\n')
			buf_addc(&out, '\n');
	}
	return print_out(&out);
}

/* Lints the texts, and prints them if none fails. Prints none if they have no
 * object, because Argo CD would then prune the whole application. */
static int lint_rendered(struct filter *f)
{
	filter_lint(f);
	if (f->n && f->options->quiet < 2)
		filter_report(f, &report_full, stderr);
	if (filter_failures(f))
		return 1;
	if (f->run.counts.objects)
		return print_texts(f);
	log_line(
		"no manifests: nothing is printed, because Argo CD would prune "
		"the application's objects");
	return 2;
}

static int generate(struct cmp *cmp, struct options *options)
{
	const char *namespace = variable("ARGOCD_APP_NAMESPACE");
	struct filter filter;
	int rc;

	if (!options->namespace && namespace &&
	    text_is_label(namespace, strlen(namespace)))
		options->namespace = namespace;
	rc = filter_open(&filter, options, "manifests");
	if (!rc)
		rc = add_manifests(cmp, &filter);
	if (!rc)
		rc = lint_rendered(&filter);
	filter_release(&filter);
	return rc;
}

static int say_kind(const struct cmp *cmp)
{
	static const char *const names[] = {
		[CMP_KUSTOMIZE] = "kustomize",
		[CMP_HELM] = "helm",
		[CMP_PLAIN] = "plain",
	};
	enum cmp_kind kind = discover(cmp);
	struct buf out;

	if (kind == CMP_NOTHING)
		return 0;
	buf_init(&out);
	buf_addf(&out, "%s\n", names[kind]);
	return print_out(&out);
}

int cmp_command(struct options *options)
{
	struct cmp cmp = {.discovers = options->discover};
	char *folder = realpath(".", NULL);
	int rc = 2;

	if (folder) {
		cmp.folder = folder;
		cmp.root = find_root(&cmp);
		rc = read_variables(&cmp);
		if (!rc)
			rc = read_parameters(&cmp);
	} else {
		log_line("the current folder is gone");
	}
	if (!rc)
		rc = cmp.discovers ? say_kind(&cmp) : generate(&cmp, options);
	arena_release(&cmp.arena);
	free(folder);
	return rc;
}
