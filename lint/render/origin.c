/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads kustomize's annotations about the origin of an object and removes them,
 * line by line: kustomize always writes the keys of an object in block style,
 * so that a line that begins with `metadata:` cannot be part of a string, and
 * writes annotations of several lines as literal block scalars. Source:
 * kustomize:api/internal/utils/annotations.go, api/resource/origin.go.
 */
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "base/text.h"
#include "render.h"

#define ORIGIN	     "    config.kubernetes.io/origin: |"
#define TRANSFORMERS "    alpha.config.kubernetes.io/transformations: |"

enum skipped { NOTHING, IN_ORIGIN, IN_TRANSFORMERS };

struct origin_lines {
	struct render *r;
	struct render_root *root;
	const char *folder; /* paths are relative to this folder */
	struct render_object *object;
	bool metadata, annotations;
	/* the line `annotations:` was read, but not written yet */
	bool pending;
	enum skipped skipped;
};

static size_t indent_of(const char *line, size_t len)
{
	size_t n = 0;

	while (n < len && line[n] == ' ')
		n++;
	return n;
}

static bool is_line(const char *line, size_t len, const char *text)
{
	return len >= strlen(text) && !memcmp(line, text, strlen(text)) &&
	       (len == strlen(text) || line[strlen(text)] == '-' ||
		line[strlen(text)] == '+');
}

/* Returns the path as the walk shows it. kustomize resolves symbolic links in
 * the names of files, the walk does not; the names differ only in the part that
 * belongs to the root. */
static const char *as_named(struct render *r, const struct render_root *root,
			    const char *path)
{
	size_t real = strlen(root->real), named = strlen(root->folder);

	while (real && named &&
	       root->real[real - 1] == root->folder[named - 1]) {
		real--;
		named--;
	}
	while (root->real[real] && root->real[real] != '/') {
		real++;
		named++;
	}
	if (strncmp(path, root->real, real) != 0 ||
	    (path[real] && path[real] != '/'))
		return arena_strdup(&r->arena, path);
	return arena_printf(&r->arena, "%.*s%s", (int)named, root->folder,
			    path + real);
}

/* Returns the path in a line `key: PATH`, absolute and as the walk shows it;
 * NULL if the line has another key. */
static const char *value_of(struct origin_lines *l, const char *line,
			    size_t len, const char *key)
{
	const char *at = text_find(line, len, key);
	const char *end = line + len;
	struct buf path, value;

	if (!at)
		return NULL;
	at += strlen(key);
	if (end - at >= 2 && (*at == '"' || *at == '\'')) {
		at++;
		end--;
	}
	buf_init(&path);
	buf_init(&value);
	buf_add(&value, at, (size_t)(end - at));
	path_absolute(l->folder, value.data, &path);
	at = as_named(l->r, l->root, path.data);
	buf_release(&path);
	buf_release(&value);
	return at;
}

/* Adds a file that changed the object, unless the list contains it: kustomize
 * names a file once for each of its changes. */
static void add_layer(struct origin_lines *l, const char *path)
{
	struct render_object *o = l->object;

	if (!path)
		return;
	for (size_t i = 0; i < o->layers.n; i++)
		if (!strcmp(o->layers.items[i], path))
			return;
	list_add(&l->r->arena, &o->layers, path);
}

static void read_line(struct origin_lines *l, const char *line, size_t len)
{
	const char *path;

	if (l->skipped == IN_TRANSFORMERS) {
		add_layer(l, value_of(l, line, len, "configuredIn: "));
		return;
	}
	path = value_of(l, line, len, "configuredIn: ");
	l->object->generated |= path != NULL;
	if (!path)
		path = value_of(l, line, len, "path: ");
	/* The object comes from another repository. */
	if (path || text_find(line, len, "repo: "))
		l->object->origin = path;
}

static void begin_object(struct origin_lines *l, size_t start)
{
	l->object = VEC_PUSH(&l->r->arena, l->root->objects, l->root->nobjects,
			     l->root->objects_size);
	*l->object = (struct render_object){.start = (uint32_t)start};
	l->metadata = l->annotations = l->pending = false;
}

/* Processes a line of the built text. Returns true if the line must be
 * removed. */
static bool take_line(struct origin_lines *l, const char *line, size_t len)
{
	size_t indent = indent_of(line, len);

	if (l->skipped && indent > 4) {
		read_line(l, line, len);
		return true;
	}
	l->skipped = NOTHING;
	if (!indent) {
		l->metadata = is_line(line, len, "metadata:");
		l->annotations = false;
	} else if (indent == 2 && l->metadata) {
		l->annotations = is_line(line, len, "  annotations:");
		l->pending = l->annotations;
		return l->annotations;
	} else if (indent == 4 && l->annotations) {
		if (is_line(line, len, ORIGIN))
			l->skipped = IN_ORIGIN;
		else if (is_line(line, len, TRANSFORMERS))
			l->skipped = IN_TRANSFORMERS;
	}
	return l->skipped != NOTHING;
}

static void reverse(struct list *list)
{
	for (size_t i = 0; i < list->n / 2; i++) {
		const char *path = list->items[i];

		list->items[i] = list->items[list->n - 1 - i];
		list->items[list->n - 1 - i] = path;
	}
}

void render_take_origins(struct render *r, struct render_root *root,
			 const struct buf *built, const char *folder)
{
	struct origin_lines l = {.r = r, .root = root, .folder = folder};
	const char *at = built->data, *end = built->data + built->len;
	struct buf *out = &root->text;

	begin_object(&l, 0);
	while (at < end) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((next ? next : end) - at);

		if (is_line(at, len, "---"))
			begin_object(&l, out->len);
		if (!take_line(&l, at, len)) {
			if (l.pending && indent_of(at, len) > 2)
				buf_adds(out, "  annotations:\n");
			l.pending = false;
			buf_add(out, at, len);
			buf_addc(out, '\n');
		}
		at += len + 1;
	}
	for (size_t i = 0; i < root->nobjects; i++)
		reverse(&root->objects[i].layers);
}

/* --- charts --------------------------------------------------------------- */

/* Returns the path of a template in a line `# Source: NAME/templates/x.yaml`.
 * NAME is the name of the chart, not of its folder, and so are the names after
 * charts/. */
static const char *template_at(struct render *r, const struct render_root *root,
			       const char *line, size_t len)
{
	static const char source[] = "# Source: ";
	const char *path;

	if (len < strlen(source) || memcmp(line, source, strlen(source)) != 0)
		return NULL;
	path = memchr(line + strlen(source), '/', len - strlen(source));
	if (!path)
		return NULL;
	return arena_printf(&r->arena, "%s%.*s", root->chart,
			    (int)(len - (size_t)(path - line)), path);
}

void render_take_templates(struct render *r, struct render_root *root,
			   const struct buf *built)
{
	const char *at = built->data, *end = built->data + built->len;
	struct origin_lines l = {.r = r, .root = root};

	buf_add(&root->text, built->data, built->len);
	begin_object(&l, 0);
	while (at < end) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((next ? next : end) - at);
		const char *path = template_at(r, root, at, len);

		if (len >= 3 && !memcmp(at, "---", 3))
			begin_object(&l, (size_t)(at - built->data));
		if (path && !l.object->origin) {
			l.object->origin = path;
			list_add(&r->arena, &root->sources, path);
		}
		at += len + 1;
	}
	/* Helm does not split a text at a second `---` line. */
	for (size_t i = 1; i < root->nobjects; i++)
		if (!root->objects[i].origin)
			root->objects[i].origin = root->objects[i - 1].origin;
}
