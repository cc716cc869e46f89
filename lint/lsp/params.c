/* SPDX-License-Identifier: Apache-2.0 */
/* Reads parameters of messages. Parameters of a wrong type count as absent. */
#include "params.h"

#include <limits.h>
#include <string.h>

json_t *lsp_member(const json_t *json, const char *dotted)
{
	struct buf key;

	buf_init(&key);
	while (json && *dotted) {
		size_t len = strcspn(dotted, ".");

		buf_reset(&key);
		buf_add(&key, dotted, len);
		json = json_object_get(json, key.data);
		dotted += len + (dotted[len] == '.');
	}
	buf_release(&key);
	return (json_t *)(uintptr_t)json;
}

struct lsp_document *lsp_document_of(const struct lsp_session *session,
				     const json_t *params)
{
	const char *uri =
		json_string_value(lsp_member(params, "textDocument.uri"));

	return uri ? lsp_document_by_uri(session, uri) : NULL;
}

static bool read_number(const json_t *json, uint32_t *number)
{
	json_int_t value = json_integer_value(json);

	*number = value > INT_MAX ? INT_MAX : (uint32_t)value;
	return json_is_integer(json) && value >= 0;
}

bool lsp_read_offset(const struct lsp_document *document, const json_t *json,
		     uint32_t *offset)
{
	struct lsp_position p;

	if (!read_number(json_object_get(json, "line"), &p.line) ||
	    !read_number(json_object_get(json, "character"), &p.character))
		return false;
	*offset = lsp_offset(&document->text, p);
	return true;
}
