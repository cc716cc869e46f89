/* SPDX-License-Identifier: Apache-2.0 */
/* Reads texts once and keeps them, because every overlay of a base needs the
 * base's texts. */
#include "render.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "base/text.h"

void render_release(struct render *r)
{
	for (size_t i = 0; i < r->nroots; i++)
		buf_release(&r->roots[i].text);
	free(r->roots);
	free(r->texts);
	arena_release(&r->arena);
	memset(r, 0, sizeof(*r));
}

static void add_items(struct render *r, struct render_text *text,
		      const struct doc *doc)
{
	const struct node *items = node_get(doc->root, "items");

	if (doc->root && node_is_seq(items) &&
	    text_ends(node_str(node_get(doc->root, "kind")), "List")) {
		FOR_EACH_CHILD(items, item)
			*VEC_PUSH(&r->arena, text->items, text->n, text->size) =
				(struct render_item){item, doc->number};
	} else if (doc->root) {
		*VEC_PUSH(&r->arena, text->items, text->n, text->size) =
			(struct render_item){doc->root, doc->number};
	}
}

struct render_text *render_text_make(struct render *r, const char *path,
				     const char *data, size_t len)
{
	struct render_text *text = ARENA_NEW(&r->arena, struct render_text);
	struct loader loader;
	struct doc doc;

	text->path = arena_strdup(&r->arena, path);
	text->bytes = len;
	source_init(&text->source, &r->arena, text->path, data, len);
	loader_init(&loader, &text->source, &load_limits_default, &r->arena);
	/* The renderer reports the errors of this text. */
	while (loader_next(&loader, &doc) > 0)
		add_items(r, text, &doc);
	*ARRAY_PUSH(r->texts, r->ntexts, r->texts_size) = text;
	return text;
}

static struct render_text *find_text(const struct render *r, const char *path)
{
	for (size_t i = r->ntexts; i-- > 0;)
		if (!strcmp(r->texts[i]->path, path))
			return r->texts[i];
	return NULL;
}

struct render_text *render_text_of(struct render *r, const char *path)
{
	static const struct file_how how = {.limit = FILE_MANIFEST_MAX};
	struct render_text *text = find_text(r, path);
	struct buf bytes;

	if (text)
		return text;
	buf_init(&bytes);
	if (!file_read(AT_FDCWD, path, &how, &bytes))
		text = render_text_make(
			r, path,
			arena_strndup(&r->arena, bytes.data, bytes.len),
			bytes.len);
	buf_release(&bytes);
	return text;
}

struct render_text *render_text_within(struct render *r,
				       struct render_text *host,
				       const struct render_item *item,
				       const struct node *node)
{
	const char *path =
		arena_printf(&r->arena, "%s#%u", host->path, node->start);
	struct render_text *text = find_text(r, path);

	if (text)
		return text;
	text = render_text_make(r, path, node->str, node->len);
	text->host = host;
	text->host_item = item;
	text->host_node = node;
	return text;
}

const char *render_path(struct render *r, const char *folder, const char *path)
{
	struct buf out;
	const char *text;

	buf_init(&out);
	path_absolute(folder, path, &out);
	text = arena_strdup(&r->arena, out.data);
	buf_release(&out);
	return text;
}
