/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

json_t *lsp_hover(struct lsp_session *session, struct lsp_document *document,
		  uint32_t offset)
{
	(void)session;
	(void)document;
	(void)offset;
	return json_null();
}
json_t *lsp_complete(struct lsp_session *session, struct lsp_document *document,
		     uint32_t offset)
{
	(void)session;
	(void)document;
	(void)offset;
	return json_null();
}
