/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the stored certificates and the bundles of the clients, and derives the
 * facts on which the plan of a rotation depends (rotate_plan.h). A certificate
 * is NULL if it is absent or unusable; the report has the reason.
 */
#ifndef CERTS_ROTATE_READ_H
#define CERTS_ROTATE_READ_H

#include "base/arena.h"
#include "pair.h"
#include "rotate.h"
#include "rotate_plan.h"
#include "ssl.h"

/* notBefore of an issued certificate is this far in the past (issue.c). */
enum { ROTATE_BACKDATE = 300 };

struct rotate_view {
	struct arena arena;
	X509 *ca;		/* also set if it cannot sign */
	STACK_OF(X509) * old;	/* CAs that have not expired */
	STACK_OF(X509) * known; /* CAs in bundles of clients, as above */
	X509 *leaf;
	struct pair_info info; /* of the leaf */
	struct rotate_facts facts;
};

void rotate_view_read(struct rotate_view *view,
		      const struct rotate_state *state,
		      const struct rotate_ask *ask,
		      struct rotate_report *reported);
void rotate_view_release(struct rotate_view *view);

#endif
