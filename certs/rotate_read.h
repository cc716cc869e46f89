/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the stored certificates and the bundles of the clients into struct
 * rotate_view, with the facts that rotate_plan() needs. A certificate that is
 * missing or unusable is NULL; the report has the reason.
 */
#ifndef CERTS_ROTATE_READ_H
#define CERTS_ROTATE_READ_H

#include "base/arena.h"
#include "pair.h"
#include "rotate.h"
#include "rotate_plan.h"
#include "ssl.h"

/* Seconds by which notBefore of an issued certificate is in the past
 * (issue.c). */
enum { ROTATE_BACKDATE = 300 };

struct rotate_view {
	struct arena arena;
	X509 *ca;	      /* also set if the CA cannot sign */
	STACK_OF(X509) * old; /* CAs that have not expired */
	/* CAs in bundles of clients that have not expired */
	STACK_OF(X509) * known;
	X509 *leaf;
	struct pair_info info; /* facts about the leaf */
	struct rotate_facts facts;
};

void rotate_view_read(struct rotate_view *view,
		      const struct rotate_state *state,
		      const struct rotate_ask *ask,
		      struct rotate_report *reported);
void rotate_view_release(struct rotate_view *view);

#endif
