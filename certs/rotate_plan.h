/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides the next step of a rotation from facts about the existing
 * certificates and their expiry.
 */
#ifndef CERTS_ROTATE_PLAN_H
#define CERTS_ROTATE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum rotate_leaf {
	/* missing or unusable, or signed by a CA that is not stored */
	LEAF_NONE,
	LEAF_OF_OLD,
	LEAF_OF_CA,
};

struct rotate_facts {
	int64_t now;
	bool ca; /* a CA is stored and may sign */
	int64_t ca_from, ca_to;
	enum rotate_leaf leaf;
	bool leaf_fits; /* the leaf has all names and is valid now */
	int64_t leaf_from, leaf_to;
	bool old;	   /* old CAs are stored */
	int64_t old_until; /* time at which old CAs may be removed */
	bool known;	   /* the bundles of the clients are known */
	bool strange;	   /* clients have a CA that is not stored */
	bool published, settled;
};

enum rotate_step {
	STEP_NONE,
	STEP_WAIT, /* wait until the CA is settled */
	STEP_NEW_CA,
	STEP_ADOPT,
	STEP_NEW_LEAF,
	STEP_DROP_OLD,
};

/* Returns the step that is due. Sets *next to the time at which another step
 * will be due if the facts stay the same. */
enum rotate_step rotate_plan(const struct rotate_facts *facts, int64_t *next);

#endif
