/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds roots: kustomizations that no other one in the walked folders lists,
 * and that are not components. All references are checked before anything is
 * built: one that is not a path on this machine is a remote base, which
 * kustomize would download. Fields after the kustomization reference
 * (kubectl.docs.kubernetes.io) and types.Kustomization.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "render.h"

enum { LEVELS = 32 };

static const struct node *read_kustomization(struct render *r, const char *path)
{
	const struct render_text *text = render_text_of(r, path);

	return text && text->n ? text->items[0].root : NULL;
}

/* True for kustomize's kind, and false for Flux's kind of the same name. */
static bool is_kustomization(const struct node *root)
{
	const char *group = node_str(node_get(root, "apiVersion"));

	return node_is_map(root) &&
	       (!group || text_starts(group, "kustomize.config.k8s.io/"));
}

/* --- contents of a kustomization ------------------------------------------ */

struct closure {
	struct render *r;
	struct render_root *root;
	unsigned level;
};

static void skip_root(struct closure *c, const char *fmt, const char *what)
{
	struct arena *arena = &c->r->arena;
	struct buf text;

	if (c->root->refused)
		return;
	buf_init(&text);
	buf_addf(&text, "%s `%.200s`", fmt, what);
	c->root->refused = arena_strdup(arena, text.data);
	buf_release(&text);
}

static bool is_url(const char *text)
{
	return strstr(text, "://") || text_starts(text, "git@") ||
	       text_starts(text, "git::");
}

/* True if `at`, the absolute form of the path, is beyond the border, whether
 * the file exists or not. */
static bool leaves(const struct render *r, const char *path, const char *at)
{
	return r->border && !is_url(path) && !text_eq(r->border, at) &&
	       !path_is_below(r->border, at);
}

static void visit_folder(struct closure *c, const char *folder);

/* Follows a path in a list. resource is set for the lists resources and
 * bases. */
static void follow(struct closure *c, const char *folder, const char *path,
		   bool resource)
{
	const char *at;
	struct stat st;

	if (!path || !*path || strchr(path, '\n'))
		return;
	at = render_path(c->r, folder, path);
	if (leaves(c->r, path, at)) {
		skip_root(c,
			  "it would read a file outside its repository:", path);
		return;
	}
	if (is_url(path) || stat(at, &st)) {
		if (!c->r->network)
			skip_root(
				c,
				is_url(path) || strstr(path, "?ref=") ||
						text_starts(path, "github.com")
					? "remote base"
					: "there is no",
				path);
		return;
	}
	if (resource)
		list_add(&c->r->arena, &c->root->resources, at);
	if (S_ISDIR(st.st_mode))
		visit_folder(c, at);
	else
		list_add(&c->r->arena, &c->root->sources, at);
}

/* Follows the paths of patches; an entry may also contain the text of a
 * patch. */
static void follow_patches(struct closure *c, const struct node *list,
			   const char *folder)
{
	FOR_EACH_CHILD(list, item) {
		follow(c, folder, node_str(item), false);
		follow(c, folder, node_str(node_get(item, "path")), false);
	}
}

/* Rejects URLs in other fields that may name a file, which kustomize would
 * download. */
static void look_for_urls(struct closure *c, const struct node *node)
{
	if (node_str(node) && is_url(node->str) && !c->r->network)
		skip_root(c, "remote file", node->str);
	FOR_EACH_CHILD(node, child)
		if (!text_eq(child->key, "literals"))
			look_for_urls(c, child);
}

static void visit_kustomization(struct closure *c, const struct node *root,
				const char *folder)
{
	static const char *const patches[] = {"patches", "patchesJson6902",
					      "patchesStrategicMerge"};
	static const char *const others[] = {"crds",
					     "configurations",
					     "generators",
					     "transformers",
					     "validators",
					     "openapi",
					     "configMapGenerator",
					     "secretGenerator",
					     "replacements"};

	FOR_EACH_CHILD(node_get(root, "resources"), item)
		follow(c, folder, node_str(item), true);
	FOR_EACH_CHILD(node_get(root, "bases"), item)
		follow(c, folder, node_str(item), true);
	FOR_EACH_CHILD(node_get(root, "components"), item)
		follow(c, folder, node_str(item), false);
	for (size_t i = 0; i < ARRAY_SIZE(patches); i++)
		follow_patches(c, node_get(root, patches[i]), folder);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		look_for_urls(c, node_get(root, others[i]));
	if (node_get(root, "helmCharts") ||
	    node_get(root, "helmChartInflationGenerator"))
		skip_root(c, "kustomize builds no charts without",
			  "--enable-helm");
}

static const char *kustomization_in(struct render *r, const char *folder)
{
	static const char *const names[] = {
		"kustomization.yaml", "kustomization.yml", "Kustomization"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *path = render_path(r, folder, names[i]);

		if (!access(path, F_OK))
			return path;
	}
	return NULL;
}

static bool visited(const struct render_root *root, const char *path)
{
	for (size_t i = 0; i < root->sources.n; i++)
		if (!strcmp(root->sources.items[i], path))
			return true;
	return false;
}

static void visit_folder(struct closure *c, const char *folder)
{
	const char *path = kustomization_in(c->r, folder);
	const struct node *root;

	if (!path) {
		skip_root(c, "there is no kustomization in", folder);
		return;
	}
	if (visited(c->root, path) || c->level == LEVELS)
		return;
	root = read_kustomization(c->r, path);
	list_add(&c->r->arena, &c->root->sources, path);
	c->level++;
	if (is_kustomization(root))
		visit_kustomization(c, root, folder);
	c->level--;
}

/* --- selection of roots --------------------------------------------------- */

static int by_folder(const void *a, const void *b)
{
	const struct renderable *x = a, *y = b;

	return strcmp(x->folder, y->folder);
}

static void add_referred(struct render *r, const struct renderable *met,
			 struct list *referred)
{
	static const char *const lists[] = {"resources", "bases", "components"};
	const struct node *root =
		read_kustomization(r, render_path(r, met->folder, met->name));

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		FOR_EACH_CHILD(node_get(root, lists[i]), item)
			if (node_str(item))
				list_add(
					&r->arena, referred,
					render_path(r, met->folder, item->str));
}

struct render_root *render_add(struct render *r, const char *folder,
			       const char *file)
{
	struct render_root *root =
		ARRAY_PUSH(r->roots, r->nroots, r->roots_size);

	*root = (struct render_root){.folder = arena_strdup(&r->arena, folder),
				     .file = file};
	buf_init(&root->text);
	return root;
}

struct render_root *render_add_kustomization(struct render *r,
					     const char *folder)
{
	struct closure c = {
		.r = r,
		.root = render_add(r, folder, kustomization_in(r, folder)),
	};

	visit_folder(&c, c.root->folder);
	return c.root;
}

static void add_root(struct render *r, const struct renderable *met,
		     const struct list *referred)
{
	const char *path = render_path(r, met->folder, met->name);
	const struct node *root = read_kustomization(r, path);

	if (!is_kustomization(root) ||
	    node_eq(node_get(root, "kind"), "Component") ||
	    texts_have(referred->items, referred->n, met->folder))
		return;
	render_add_kustomization(r, met->folder);
}

/* True if both roots build the same resource, as two clusters or two variants
 * of one do. */
static bool shares(const struct render_root *a, const struct render_root *b)
{
	for (size_t i = 0; i < a->resources.n; i++)
		if (texts_have(b->resources.items, b->resources.n,
			       a->resources.items[i]))
			return true;
	return false;
}

static void find_shared(struct render *r)
{
	for (size_t i = 0; i < r->nroots; i++)
		texts_sort(r->roots[i].resources.items,
			   r->roots[i].resources.n);
	for (size_t i = 0; i < r->nroots; i++)
		for (size_t j = 0; j < i; j++)
			if (shares(&r->roots[i], &r->roots[j]))
				r->roots[i].apart = r->roots[j].apart = true;
}

void render_find(struct render *r, struct kustomize *k)
{
	struct list referred = {0};

	if (k->nmet)
		qsort(k->met, k->nmet, sizeof(*k->met), by_folder);
	for (size_t i = 0; i < k->nmet; i++)
		if (kustomize_name(k->met[i].name))
			add_referred(r, &k->met[i], &referred);
	texts_sort(referred.items, referred.n);
	for (size_t i = 0; i < k->nmet; i++)
		if (kustomize_name(k->met[i].name))
			add_root(r, &k->met[i], &referred);
	find_shared(r);
}
