/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rotation of certificates: decides from the stored state which step is due. No
 * state is kept between two calls, so any replica can continue where another
 * one stopped.
 *
 * A new CA is stored first; the previous one stays in the bundle without its
 * key, and its leaf stays in use. Only after the bundle has been everywhere for
 * long enough (`settled`) is a leaf of the new CA issued. The old CA leaves the
 * bundle when all its leaves have expired. So every leaf that a replica serves
 * is covered by every bundle that a client has.
 */
#ifndef CERTS_ROTATE_H
#define CERTS_ROTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "issue.h"

/* PEM texts; empty if missing or useless. */
struct rotate_state {
	struct issued ca;   /* signs */
	struct buf old;	    /* certificates of CAs that signed before */
	int64_t old_until;  /* expiry of the last of their leaves; 0: unknown */
	struct issued leaf; /* is served */
};

void rotate_state_init(struct rotate_state *state);
void rotate_state_release(struct rotate_state *state);

struct rotate_ask {
	const char *const *names; /* DNS names, addresses; NULL-terminated */
	int64_t now;		  /* seconds since the epoch */
	int64_t ca_life, leaf_life;
	/* Bundles that clients have now, PEM; NULL: unknown. */
	const struct buf *bundles;
	/* All clients have the bundle of this state. */
	bool published;
	/* All clients have had this state's CA long enough for a leaf of it. */
	bool settled;
};

/* In the order of enum rotate_step. */
enum {
	ROTATE_NEW_CA = 1,
	ROTATE_ADOPT = 2, /* clients have CAs that are not stored */
	ROTATE_NEW_LEAF = 4,
	ROTATE_DROP_OLD = 8,
};

struct rotate_report {
	unsigned steps;	     /* steps that were taken; 0: nothing to store */
	bool serve;	     /* the leaf may be served */
	bool waiting;	     /* for `settled` */
	int64_t next;	     /* time at which a step is due; INT64_MAX: never */
	struct err ca, leaf; /* problems of the stored ones */
};

/* Returns -1 if something could not be issued; state is then invalid. */
int rotate(struct rotate_state *state, const struct rotate_ask *ask,
	   struct rotate_report *reported, struct err *err);

/* Appends the bundle that clients need. The same state gives the same bytes. */
int rotate_bundle(const struct rotate_state *state, struct buf *out,
		  struct err *err);

#endif
