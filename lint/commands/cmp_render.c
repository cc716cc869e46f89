/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renders the application's folder like Argo CD's own sources: kustomize for a
 * kustomization, Helm for a chart, else the files *.yaml, *.yml and *.json. No
 * program of the repository is run, and no file outside of it is read, although
 * kustomize itself would read a base there.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "base/text.h"
#include "cmp.h"
#include "doc/load.h"
#include "lint/files/kustomize.h"
#include "lint/files/subprocess.h"
#include "lint/term/log.h"
#include "lint/text/names.h"

enum { BASES_DEEP = 32, ARGUMENTS = 16 };

/* --- paths ---------------------------------------------------------------- */

static bool is_inside(const struct cmp *cmp, const char *path)
{
	size_t len = strlen(cmp->root);

	return !strncmp(path, cmp->root, len) &&
	       (!path[len] || path[len] == '/');
}

/* Outside, the message does not reveal which files exist. */
const char *cmp_inside(struct cmp *cmp, const char *path)
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

static const char *kustomization(const char *folder)
{
	DIR *dir = opendir(folder);
	const char *name = NULL;
	struct dirent *entry;

	while (dir && !name && (entry = readdir(dir)))
		name = kustomize_name(entry->d_name);
	if (dir)
		closedir(dir);
	return name;
}

static int manifest_entry(const struct dirent *entry)
{
	return is_manifest(entry->d_name) ||
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

static bool has_manifests(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = is_manifest(entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}

enum cmp_kind cmp_discover(const struct cmp *cmp)
{
	const char *render = cmp->render;

	if (render)
		return text_eq(render, "plain")	 ? CMP_PLAIN
		       : text_eq(render, "helm") ? CMP_HELM
						 : CMP_KUSTOMIZE;
	if (kustomization(cmp->folder))
		return CMP_KUSTOMIZE;
	/* The folder is the current one. */
	if (!access("Chart.yaml", F_OK))
		return CMP_HELM;
	return cmp->recurse || has_manifests(cmp->folder) ? CMP_PLAIN
							  : CMP_NOTHING;
}

/* --- files as they are ---------------------------------------------------- */

/* True for text that Argo CD does not treat as a manifest, by its form or its
 * mark, and for settings of gpugate, which do not belong in the cluster. */
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
	const char *real = cmp_inside(cmp, path);
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
		else if (is_manifest(entries[i]->d_name))
			rc |= add_file(cmp, f, path.data);
		free(entries[i]);
	}
	free(entries);
	buf_release(&path);
	return rc;
}

/* --- other programs ------------------------------------------------------- */

/*
 * Adds the program's output as one more text. Returns -1 if the program is
 * missing.
 */
static int add_output(struct filter *f, const char *const *argv)
{
	struct filter_text *text = filter_add(f, "<rendered>");
	struct err err = {0};
	struct buf errors;
	int rc;

	buf_init(&errors);
	rc = program_run(argv, NULL, &text->text, &errors, &err);
	if (rc < 0 && err.code == ENOENT) {
		buf_release(&text->text);
		f->ntexts--;
	} else if (rc < 0) {
		log_line("%s", err.text);
		rc = 2;
	} else if (rc) {
		log_line("%s failed: %s", argv[0], errors.data);
		rc = 2;
	}
	buf_release(&errors);
	return rc;
}

static int check_bases(struct cmp *cmp, const char *folder, unsigned depth);

/* Checks a folder or a file of the repository, or an address. */
static int check_base(struct cmp *cmp, const char *folder, const char *name,
		      unsigned depth)
{
	struct buf path;
	int rc = 0;

	if (strstr(name, "://"))
		return 0;
	buf_init(&path);
	path_absolute(folder, name, &path);
	if (!is_inside(cmp, path.data) || !access(path.data, F_OK)) {
		const char *real = cmp_inside(cmp, path.data);

		rc = real ? check_bases(cmp, real, depth + 1) : 2;
	}
	buf_release(&path);
	return rc;
}

static int check_document(struct cmp *cmp, const char *folder,
			  const struct node *root, unsigned depth)
{
	static const char *const lists[] = {"resources", "bases", "components"};
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		FOR_EACH_CHILD(node_get(root, lists[i]), item)
			if (!rc && node_str(item))
				rc = check_base(cmp, folder, node_str(item),
						depth);
	return rc;
}

static int check_bases(struct cmp *cmp, const char *folder, unsigned depth)
{
	static const struct file_how how = {.limit = FILE_MANIFEST_MAX};
	const char *name = kustomization(folder);
	struct source source;
	struct loader loader;
	struct buf path, text;
	struct doc doc;
	int rc = 0;

	if (!name || depth > BASES_DEEP)
		return 0;
	buf_init(&path);
	buf_init(&text);
	path_join(folder, name, &path);
	if (!file_read(AT_FDCWD, path.data, &how, &text)) {
		source_init(&source, &cmp->arena, path.data, text.data,
			    text.len);
		loader_init(&loader, &source, &load_limits_default,
			    &cmp->arena);
		while (!rc && loader_next(&loader, &doc) > 0)
			rc = check_document(cmp, folder, doc.root, depth);
	}
	buf_release(&path);
	buf_release(&text);
	return rc;
}

static int add_kustomization(struct cmp *cmp, struct filter *f)
{
	const char *const alone[] = {"kustomize", "build", ".", NULL};
	const char *const in_kubectl[] = {"kubectl", "kustomize", ".", NULL};
	int rc = check_bases(cmp, cmp->folder, 0);

	if (rc)
		return rc;
	rc = add_output(f, alone);
	if (rc < 0)
		rc = add_output(f, in_kubectl);
	if (rc < 0)
		log_line("neither kustomize nor kubectl is on PATH");
	return rc < 0 ? 2 : rc;
}

static void add_pair(struct cmp *cmp, struct list *argv, const char *option,
		     const char *value)
{
	if (!value || !*value)
		return;
	list_add(&cmp->arena, argv, option);
	list_add(&cmp->arena, argv, value);
}

/* Calls helm as Argo CD does, with hooks and definitions. */
static int add_chart(struct cmp *cmp, struct filter *f)
{
	struct list argv = {0};
	const char *name =
		cmp->release ? cmp->release : getenv("ARGOCD_APP_NAME");
	int rc;

	list_add(&cmp->arena, &argv, "helm");
	list_add(&cmp->arena, &argv, "template");
	list_add(&cmp->arena, &argv, ".");
	add_pair(cmp, &argv, "--name-template",
		 name && *name ? name : "release-name");
	add_pair(cmp, &argv, "--namespace", f->options->namespace);
	add_pair(cmp, &argv, "--kube-version", getenv("KUBE_VERSION"));
	add_pair(cmp, &argv, "--api-versions", getenv("KUBE_API_VERSIONS"));
	for (size_t i = 0; i < cmp->values.n; i++)
		add_pair(cmp, &argv, "--values", cmp->values.items[i]);
	for (size_t i = 0; i < cmp->assignments.n; i++)
		add_pair(cmp, &argv, "--set", cmp->assignments.items[i]);
	list_add(&cmp->arena, &argv, "--include-crds");
	rc = add_output(f, argv.items);
	if (rc < 0)
		log_line("helm is not on PATH");
	return rc < 0 ? 2 : rc;
}

int cmp_render(struct cmp *cmp, struct filter *f)
{
	switch (cmp_discover(cmp)) {
	case CMP_KUSTOMIZE:
		return add_kustomization(cmp, f);
	case CMP_HELM:
		return add_chart(cmp, f);
	default:
		return add_folder(cmp, f, cmp->folder);
	}
}
