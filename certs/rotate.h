/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rotates certificates: decides from the stored state which step is due. All
 * state is stored, so any replica can continue after another one stopped.
 * Replicas are the processes that serve the leaf; clients are the API servers,
 * which trust the CAs of a bundle.
 *
 * A new CA is stored first; the previous CA stays in the bundle, without its
 * key, and its leaf stays in use. A leaf of the new CA is issued only after all
 * clients have had the new bundle long enough (`settled`). The old CA is
 * removed from the bundle when all its leaves have expired. So every leaf that
 * a replica serves is trusted by every bundle that a client has.
 */
#ifndef CERTS_ROTATE_H
#define CERTS_ROTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "issue.h"

/* PEM texts; empty if missing or unusable. */
struct rotate_state {
	struct issued ca; /* the CA that signs */
	struct buf old;	  /* certificates of CAs that signed before */
	/* expiry of the last leaf of an old CA (0: unknown) */
	int64_t old_until;
	struct issued leaf; /* the leaf that is served */
};

void rotate_state_init(struct rotate_state *state);
void rotate_state_release(struct rotate_state *state);

struct rotate_ask {
	const char *const *names; /* DNS names, addresses; NULL-terminated */
	int64_t now;		  /* seconds since the epoch */
	int64_t ca_life, leaf_life;
	/* Bundles that clients have now, as PEM (NULL: unknown). */
	const struct buf *bundles;
	/* All clients have the bundle of this state. */
	bool published;
	/* All clients have had this state's CA for so long that it may sign a
	 * leaf. */
	bool settled;
};

/* In the order of enum rotate_step. */
enum {
	ROTATE_NEW_CA = 1,
	ROTATE_ADOPT = 2, /* add CAs that clients have and the state lacks */
	ROTATE_NEW_LEAF = 4,
	ROTATE_DROP_OLD = 8,
};

struct rotate_report {
	/* bits of steps that were taken (0: the state is unchanged) */
	unsigned steps;
	bool serve;   /* the leaf may be served */
	bool waiting; /* a step waits until `settled` is true */
	/* time at which a step is due (INT64_MAX: never) */
	int64_t next;
	struct err ca, leaf; /* problems of the stored CA and leaf */
};

/* Performs all steps that are due. Returns -1 if a certificate could not be
 * issued; state is then invalid. */
int rotate(struct rotate_state *state, const struct rotate_ask *ask,
	   struct rotate_report *reported, struct err *err);

/* Appends the bundle that clients need. Equal states give equal bytes. */
int rotate_bundle(const struct rotate_state *state, struct buf *out,
		  struct err *err);

/*
 * Decides the next step of a rotation from facts about the existing
 * certificates and their expiry.
 */

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
