/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds charts in the walked folders that a HelmRelease (Flux) or an
 * Application (Argo CD) installs. They are built with the values of that object
 * in addition to their own. A chart's path is relative to the repository, found
 * by searching the folders above. Sources: fluxcd/helm-controller api/v2,
 * fluxcd/source-controller (valuesFiles replace values.yaml), argo-cd
 * docs/user-guide/helm.md (precedence of values).
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "base/text.h"
#include "render.h"

struct release {
	struct render *r;
	struct render_text *text;
	const struct render_item *item;
	struct render_root *root;
	const char *folder, *file; /* position of the object */
	const char *repository;	   /* folder to which paths are relative */
};

static const char *text_at(const struct node *node, const char *dotted)
{
	return node_str(node_path(node, dotted));
}

/* Returns the nearest folder, from this one up to the root of its repository,
 * that contains a chart at the path; or NULL. */
static const char *repository_of(struct render *r, const char *from,
				 const char *path)
{
	char *folder = arena_printf(&r->arena, "%s/", from);
	size_t least = repository_length(folder);
	char *slash;

	while (*path == '/')
		path++;
	while ((slash = strrchr(folder, '/')) && slash > folder &&
	       (size_t)(slash - folder) >= least) {
		*slash = '\0';
		if (!access(arena_printf(&r->arena, "%s/Chart.yaml",
					 render_path(r, folder, path)),
			    F_OK))
			return folder;
	}
	return NULL;
}

static void skip_release(struct release *l, const char *why)
{
	if (!l->root->refused)
		l->root->refused = why;
}

/* --- values --------------------------------------------------------------- */

/* Adds values to the root. Called for the highest precedence first. */
static void add_values(struct release *l, struct render_values values)
{
	*VEC_PUSH(&l->r->arena, l->root->values, l->root->nvalues,
		  l->root->values_size) = values;
}

static void add_first(struct release *l, struct render_text *text)
{
	if (text->n)
		add_values(l, (struct render_values){
				      .text = text,
				      .item = &text->items[0],
				      .root = text->items[0].root,
				      .given = true,
			      });
}

static void add_inline(struct release *l, const struct node *node)
{
	struct render_text *text = l->text;

	if (node_is_map(node) && node->first)
		add_values(l, (struct render_values){
				      .text = text,
				      .item = l->item,
				      .root = node,
				      .given = true,
			      });
	if (!node_str(node) || !node->len)
		return;
	text = render_text_within(l->r, text, l->item, node);
	add_first(l, text);
}

static void add_file(struct release *l, const char *path)
{
	struct render_text *text = render_text_of(l->r, path);

	if (!text) {
		skip_release(l, "one of its value files is missing");
		return;
	}
	list_add(&l->r->arena, &l->root->sources, path);
	add_first(l, text);
}

/* Adds files of values. Paths are relative to folder; the last file has the
 * highest precedence. */
static void add_files(struct release *l, const struct node *list,
		      const char *folder)
{
	for (size_t i = node_count(list); i-- > 0;) {
		const char *path = node_str(node_at(list, i));

		if (!path || *path == '$' || strstr(path, "://"))
			skip_release(
				l,
				"one of its value files is from another source");
		else if (*path == '/')
			add_file(l, render_path(l->r, l->repository, path + 1));
		else
			add_file(l, render_path(l->r, folder, path));
	}
}

/* --- HelmReleases and Applications ---------------------------------------- */

static void begin(struct release *l, const char *chart, const char *name,
		  const char *namespace)
{
	struct render *r = l->r;

	while (*chart == '/')
		chart++;
	l->root = ARRAY_PUSH(r->roots, r->nroots, r->roots_size);
	*l->root = (struct render_root){
		.folder = l->folder,
		.file = l->file,
		.installer = l->text,
		.item = l->item,
		.chart = render_path(r, l->repository, chart),
		.release = name,
		.namespace = namespace,
	};
	buf_init(&l->root->text);
}

static void read_helm_release(struct release *l)
{
	const struct node *root = l->item->root;
	const struct node *spec = node_get(root, "spec");
	const char *chart = text_at(spec, "chart.spec.chart");
	const char *target = text_at(spec, "targetNamespace");
	const char *name = text_at(root, "metadata.name");
	const struct node *files = node_path(spec, "chart.spec.valuesFiles");

	if (!text_eq(text_at(spec, "chart.spec.sourceRef.kind"),
		     "GitRepository") ||
	    !chart || !name)
		return;
	l->repository = repository_of(l->r, l->folder, chart);
	if (!l->repository)
		return;
	if (text_at(spec, "releaseName"))
		name = text_at(spec, "releaseName");
	else if (target)
		name = arena_printf(&l->r->arena, "%s-%s", target, name);
	begin(l, chart, name,
	      target ? target : text_at(root, "metadata.namespace"));
	if (node_count(node_get(spec, "valuesFrom")))
		skip_release(l, "its valuesFrom is not among the files");
	if (node_count(node_get(spec, "postRenderers")))
		skip_release(l, "it has postRenderers");
	if (node_count(files) &&
	    !text_ends(node_str(node_at(files, 0)), "/values.yaml"))
		skip_release(
			l, "its valuesFiles leave out the chart's values.yaml");
	add_inline(l, node_get(spec, "values"));
	add_files(l, files, l->repository);
	render_use_chart(l->r, l->root, l->root->chart);
}

/* Adds `--set a=b` or --set-string, with commas escaped. */
static void add_parameters(struct release *l, const struct node *list)
{
	struct arena *arena = &l->r->arena;

	FOR_EACH_CHILD(list, item) {
		const char *name = text_at(item, "name");
		const struct node *value = node_get(item, "value");
		struct buf text;

		if (!name || !value || !value->str)
			continue;
		buf_init(&text);
		buf_addf(&text, "%s=", name);
		for (const char *c = value->str; *c; c++) {
			if (*c == ',')
				buf_addc(&text, '\\');
			buf_addc(&text, *c);
		}
		list_add(arena, &l->root->sets,
			 node_is_true(node_get(item, "forceString"))
				 ? "--set-string"
				 : "--set");
		list_add(arena, &l->root->sets, arena_strdup(arena, text.data));
		buf_release(&text);
	}
}

static void read_source(struct release *l, const struct node *source)
{
	const struct node *root = l->item->root;
	const struct node *helm = node_get(source, "helm");
	const char *path = text_at(source, "path");
	const char *name = text_at(helm, "releaseName");

	if (!path || node_get(source, "chart"))
		return;
	l->repository = repository_of(l->r, l->folder, path);
	if (!l->repository)
		return;
	begin(l, path, name ? name : text_at(root, "metadata.name"),
	      text_at(root, "spec.destination.namespace"));
	if (node_count(node_get(helm, "fileParameters")))
		skip_release(l, "it has fileParameters");
	add_parameters(l, node_get(helm, "parameters"));
	if (node_count(node_get(helm, "valuesObject")))
		add_inline(l, node_get(helm, "valuesObject"));
	else
		add_inline(l, node_get(helm, "values"));
	add_files(l, node_get(helm, "valueFiles"), l->root->chart);
	render_use_chart(l->r, l->root, l->root->chart);
}

static void read_application(struct release *l)
{
	const struct node *spec = node_get(l->item->root, "spec");

	if (node_get(spec, "source"))
		read_source(l, node_get(spec, "source"));
	FOR_EACH_CHILD(node_get(spec, "sources"), source)
		read_source(l, source);
}

static void read_object(struct release *l)
{
	const struct node *root = l->item->root;
	const char *group = node_str(node_get(root, "apiVersion"));

	if (node_eq(node_get(root, "kind"), "HelmRelease") &&
	    text_starts(group, "helm.toolkit.fluxcd.io/"))
		read_helm_release(l);
	else if (node_eq(node_get(root, "kind"), "Application") &&
		 text_starts(group, "argoproj.io/"))
		read_application(l);
}

void render_find_releases(struct render *r, const char *path)
{
	struct release l = {.r = r, .text = render_text_of(r, path)};

	if (!l.text)
		return;
	l.file = l.text->path;
	l.folder = arena_strndup(&r->arena, path,
				 (size_t)(strrchr(path, '/') - path));
	for (size_t i = 0; i < l.text->n; i++) {
		l.item = &l.text->items[i];
		read_object(&l);
	}
}

void render_find_built_releases(struct render *r)
{
	size_t n = r->nroots;

	for (size_t i = 0; i < n; i++) {
		struct release l = {.r = r, .folder = r->roots[i].folder};

		if (r->roots[i].refused || r->roots[i].chart)
			continue;
		l.text = render_built(r, &r->roots[i]);
		for (size_t k = 0; k < l.text->n; k++) {
			const struct render_object *object;

			l.item = &l.text->items[k];
			object = render_object_at(&r->roots[i],
						  l.item->root->start);
			l.file = object && object->origin ? object->origin
							  : r->roots[i].file;
			read_object(&l);
		}
	}
}
