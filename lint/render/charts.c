/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the charts to build. A chart is built with its own values. A chart in
 * the folder charts/ of another one is built as a part of that chart, and a
 * library chart is not built. Dependencies must exist, because nothing is
 * downloaded. Source: helm.sh/docs/topics/charts.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "base/text.h"
#include "render.h"

static bool is_met(const struct kustomize *k, const char *folder, size_t len)
{
	for (size_t i = 0; i < k->nmet; i++)
		if (chart_name(k->met[i].name) &&
		    !strncmp(k->met[i].folder, folder, len) &&
		    !k->met[i].folder[len])
			return true;
	return false;
}

/* True for a folder x/charts/y if x is a chart. */
static bool is_part(const struct kustomize *k, const char *folder)
{
	static const char charts[] = "/charts/";

	for (const char *at = folder; (at = strstr(at, charts)); at++)
		if (is_met(k, folder, (size_t)(at - folder)))
			return true;
	return false;
}

/* True if there is a folder with that name, or an archive NAME-VERSION.tgz. */
static bool has_chart(const char *charts, const char *name)
{
	size_t len = strlen(name);
	const struct dirent *entry;
	bool found = false;
	DIR *folder = opendir(charts);

	while (folder && !found && (entry = readdir(folder)))
		found = !strncmp(entry->d_name, name, len) &&
			(!entry->d_name[len] || entry->d_name[len] == '-');
	if (folder)
		closedir(folder);
	return found;
}

static void check_dependencies(struct render *r, struct render_root *root,
			       const struct node *chart)
{
	const char *charts = arena_printf(&r->arena, "%s/charts", root->chart);

	FOR_EACH_CHILD(node_get(chart, "dependencies"), item) {
		const char *name = node_str(node_get(item, "name"));

		if (name && !root->refused && !has_chart(charts, name))
			root->refused = arena_printf(
				&r->arena,
				"its dependency `%.100s` is not in charts/",
				name);
	}
}

void render_use_chart(struct render *r, struct render_root *root,
		      const char *folder)
{
	const char *file = arena_printf(&r->arena, "%s/Chart.yaml", folder);
	const char *values = arena_printf(&r->arena, "%s/values.yaml", folder);
	const struct render_text *text = render_text_of(r, file);
	struct render_text *own;
	const struct node *chart = text && text->n ? text->items[0].root : NULL;

	root->chart = folder;
	list_add(&r->arena, &root->sources, file);
	if (!node_str(node_get(chart, "name")))
		root->refused = "Chart.yaml names no chart";
	check_dependencies(r, root, chart);
	own = render_text_of(r, values);
	if (!own || !own->n)
		return;
	list_add(&r->arena, &root->sources, values);
	*VEC_PUSH(&r->arena, root->values, root->nvalues, root->values_size) =
		(struct render_values){own, &own->items[0], own->items[0].root,
				       false};
}

static void add_chart(struct render *r, const struct renderable *met)
{
	const char *file =
		arena_printf(&r->arena, "%s/%s", met->folder, met->name);
	const struct render_text *text = render_text_of(r, file);
	struct render_root *root;

	if (!text || !text->n ||
	    node_eq(node_get(text->items[0].root, "type"), "library"))
		return;
	root = render_add(r, met->folder, file);
	render_use_chart(r, root, root->folder);
}

static bool is_installed(const struct render *r, size_t releases,
			 const char *folder)
{
	for (size_t i = 0; i < releases; i++)
		if (text_eq(r->roots[i].chart, folder))
			return true;
	return false;
}

void render_find_charts(struct render *r, const struct kustomize *k)
{
	size_t before = r->nroots;
	for (size_t i = 0; i < k->nmet; i++)
		if (chart_name(k->met[i].name) &&
		    !is_part(k, k->met[i].folder) &&
		    !is_installed(r, before, k->met[i].folder))
			add_chart(r, &k->met[i]);
}
