/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

json_t *lsp_actions(struct lsp_session *session, struct lsp_document *document,
		    const json_t *params)
{
	(void)session;
	(void)document;
	(void)params;
	return json_array();
}
