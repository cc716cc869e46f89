/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which step is due, from the stored state and the bundles that clients
 * have. After a crash between two steps, any replica continues with the next
 * step. A leaf of the current CA is issued only when that CA is settled; if the
 * state lacks old CAs, the leaf is issued at once.
 */
#include "rotate.h"

static int64_t two_thirds(int64_t from, int64_t to)
{
	return from + (to - from) / 3 * 2 + (to - from) % 3 * 2 / 3;
}

/* Returns the time until which a CA may sign. A CA close to its expiry signs
 * nothing: its leaf would be due for renewal at once, and replicas' clocks
 * disagree on whether the CA has expired. */
static int64_t last_use(const struct rotate_facts *f)
{
	int64_t margin = (f->ca_to - f->ca_from) / 12;

	return f->ca_to - (margin < 300 ? margin : 300);
}

static void sooner(int64_t *next, int64_t when)
{
	if (when < *next)
		*next = when;
}

static enum rotate_step plan_no_leaf(const struct rotate_facts *f)
{
	if (!f->known)
		return STEP_WAIT;
	if (f->strange)
		return STEP_ADOPT;
	/* A replica may still serve a leaf of an old CA from memory. */
	return f->old && !f->settled ? STEP_WAIT : STEP_NEW_LEAF;
}

static enum rotate_step plan_ca(const struct rotate_facts *f, int64_t *next)
{
	int64_t due = two_thirds(f->ca_from, f->ca_to);

	/* The next CA is issued only after the current CA was published. */
	if (f->now >= due)
		return f->published ? STEP_NEW_CA : STEP_NONE;
	sooner(next, due);
	return STEP_NONE;
}

static enum rotate_step plan_old(const struct rotate_facts *f, int64_t *next)
{
	if (!f->old)
		return STEP_NONE;
	if (f->now >= f->old_until)
		return STEP_DROP_OLD;
	sooner(next, f->old_until);
	return STEP_NONE;
}

enum rotate_step rotate_plan(const struct rotate_facts *f, int64_t *next)
{
	enum rotate_step step;
	int64_t due;

	*next = INT64_MAX;
	if (!f->ca || f->now >= last_use(f))
		return STEP_NEW_CA;
	sooner(next, last_use(f));
	if (f->leaf == LEAF_NONE)
		return plan_no_leaf(f);
	if (f->leaf == LEAF_OF_OLD)
		return f->settled ? STEP_NEW_LEAF : STEP_WAIT;
	due = two_thirds(f->leaf_from, f->leaf_to);
	if (!f->leaf_fits || f->now >= due)
		return STEP_NEW_LEAF;
	sooner(next, due);
	step = plan_old(f, next);
	return step ? step : plan_ca(f, next);
}
