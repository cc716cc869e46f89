/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts that rotation depends on: the existing certificates and their
 * expiry.
 */
#ifndef CERTS_ROTATE_PLAN_H
#define CERTS_ROTATE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum rotate_leaf {
	LEAF_NONE, /* or useless, or signed by a CA that is not stored */
	LEAF_OF_OLD,
	LEAF_OF_CA,
};

struct rotate_facts {
	int64_t now;
	bool ca; /* can sign */
	int64_t ca_from, ca_to;
	enum rotate_leaf leaf;
	bool leaf_fits; /* it has all names, and is valid now */
	int64_t leaf_from, leaf_to;
	bool old;	   /* there are old CAs */
	int64_t old_until; /* they may go */
	bool known;	   /* the bundles of the clients are known */
	bool strange;	   /* they have a CA that is not stored */
	bool published, settled;
};

enum rotate_step {
	STEP_NONE,
	STEP_WAIT, /* until it is settled */
	STEP_NEW_CA,
	STEP_ADOPT,
	STEP_NEW_LEAF,
	STEP_DROP_OLD,
};

/* Returns one step; next: the time at which the plan changes, if nothing else
 * does. */
enum rotate_step rotate_plan(const struct rotate_facts *facts, int64_t *next);

#endif
