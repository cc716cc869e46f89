/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Performs the steps of rotate_plan() on certificates. One call may do several
 * steps; the result is the same as if the state had been stored after each.
 */
#include "rotate.h"

#include "base/escape.h"
#include "base/text.h"
#include "name.h"
#include "rotate_read.h"

enum { STEPS_MAX = 8, NAMES_MAX = 80 };

void rotate_state_init(struct rotate_state *state)
{
	*state = (struct rotate_state){0};
	issued_init(&state->ca);
	issued_init(&state->leaf);
	buf_init(&state->old);
}

void rotate_state_release(struct rotate_state *state)
{
	issued_release(&state->ca);
	issued_release(&state->leaf);
	buf_release(&state->old);
}

/* --- names ---------------------------------------------------------------- */

static bool is_among(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (text_eq(*list, name))
			return true;
	return false;
}

static void add_name(const char **names, size_t *n, const char *name)
{
	if (*n < NAMES_MAX && !is_among(names, name))
		names[(*n)++] = name;
}

/*
 * Collects the names for a new leaf. While replicas with two configurations run
 * at the same time, each lacks names of the other: a leaf that is replaced
 * because of its names keeps its old names.
 */
static void collect_names(const char *names[NAMES_MAX + 1],
			  const struct rotate_view *view,
			  const struct rotate_ask *ask)
{
	const struct rotate_facts *f = &view->facts;
	bool keep =
		f->leaf != LEAF_NONE && !f->leaf_fits && f->now < f->leaf_to;
	size_t n = 0;

	for (const char *const *name = ask->names; name && *name; name++)
		add_name(names, &n, *name);
	for (size_t i = 0; keep && i < view->info.nnames; i++)
		add_name(names, &n, view->info.names[i]);
}

/* --- steps ---------------------------------------------------------------- */

static int add_certificate(struct buf *out, const X509 *cert, struct err *err)
{
	return pem_add(out, cert)
		       ? 0
		       : ssl_fail(err, "a certificate cannot be written");
}

/* Writes the CAs in `more`, which may be NULL, except the current CA; then the
 * old CAs, except damaged ones. */
static int write_old(struct rotate_state *state, const struct rotate_view *view,
		     const STACK_OF(X509) * more, struct err *err)
{
	int rc = 0;

	buf_reset(&state->old);
	for (int i = 0; i < sk_X509_num(more) && !rc; i++) {
		X509 *cert = sk_X509_value(more, i);

		if (!view->facts.ca || X509_cmp(view->ca, cert))
			rc = add_certificate(&state->old, cert, err);
	}
	for (int i = 0; i < sk_X509_num(view->old) && !rc; i++)
		rc = add_certificate(&state->old, sk_X509_value(view->old, i),
				     err);
	return rc;
}

/* Moves old_until to a later time. If it is 0 (unknown), old CAs stay until
 * they expire. */
static void keep_until(struct rotate_state *state,
		       const struct rotate_view *view, int64_t when)
{
	bool unknown = sk_X509_num(view->old) > 0 && !state->old_until;

	if (!unknown && state->old_until < when)
		state->old_until = when;
}

/* Issues and stores a new CA. The previous CAs stay trusted; their keys are
 * dropped. */
static int new_ca(struct rotate_state *state, const struct rotate_view *view,
		  const struct rotate_ask *ask, struct err *err)
{
	const struct rotate_facts *f = &view->facts;
	struct issue_ask issue = {.common_name = "gpugate CA",
				  .now = ask->now,
				  .seconds = ask->ca_life};

	keep_until(state, view,
		   f->leaf == LEAF_OF_CA ? f->leaf_to
					 : ask->now + ask->leaf_life);
	if (write_old(state, view, NULL, err))
		return -1;
	if (view->ca && f->ca_to != INT64_MIN &&
	    add_certificate(&state->old, view->ca, err))
		return -1;
	return issue_ca(&issue, &state->ca, err);
}

static int adopt(struct rotate_state *state, const struct rotate_view *view,
		 const struct rotate_ask *ask, struct err *err)
{
	keep_until(state, view, ask->now + ask->leaf_life);
	return write_old(state, view, view->known, err);
}

static int new_leaf(struct rotate_state *state, const struct rotate_view *view,
		    const struct rotate_ask *ask, struct err *err)
{
	const char *names[NAMES_MAX + 1] = {NULL};
	struct issue_ask issue = {
		.names = names, .now = ask->now, .seconds = ask->leaf_life};

	/* Old CAs must stay until the last leaf of the previous CA has
	 * expired. */
	if (view->facts.leaf == LEAF_OF_OLD)
		keep_until(state, view, view->facts.leaf_to);
	collect_names(names, view, ask);
	return issue_leaf(&issue, &state->ca, &state->leaf, err);
}

static int take_step(struct rotate_state *state, const struct rotate_ask *ask,
		     enum rotate_step step, const struct rotate_view *view,
		     struct err *err)
{
	switch (step) {
	case STEP_NEW_CA:
		return new_ca(state, view, ask, err);
	case STEP_ADOPT:
		return adopt(state, view, ask, err);
	case STEP_NEW_LEAF:
		return new_leaf(state, view, ask, err);
	default:
		buf_reset(&state->old);
		state->old_until = 0;
		return 0;
	}
}

static void drop_view(void *view)
{
	rotate_view_release(view);
}

int rotate(struct rotate_state *state, const struct rotate_ask *ask,
	   struct rotate_report *reported, struct err *err)
{
	struct rotate_ask now = *ask;
	enum rotate_step step;
	struct err ca = {0}, leaf = {0};
	int rc = 0;

	*reported = (struct rotate_report){0};
	for (int i = 0; i < STEPS_MAX && !rc; i++) {
		struct rotate_view view = {0};
		struct escape_guard guard;

		escape_guard(&guard, drop_view, &view);
		rotate_view_read(&view, state, &now, reported);
		if (i == 0) {
			ca = reported->ca;
			leaf = reported->leaf;
		}
		step = rotate_plan(&view.facts, &reported->next);
		reported->waiting = step == STEP_WAIT;
		if (step > STEP_WAIT) {
			reported->steps |= 1u << (step - STEP_NEW_CA);
			rc = take_step(state, &now, step, &view, err);
		}
		escape_unguard(&guard);
		rotate_view_release(&view);
		if (step <= STEP_WAIT)
			break;
		/* The new texts are neither stored nor published yet. */
		now.published = now.settled = false;
	}
	reported->ca = ca;
	reported->leaf = leaf;
	return rc;
}

/* Appends the bundle. Does not depend on the clock: the clocks of replicas
 * differ, and each would write a different bundle. */
int rotate_bundle(const struct rotate_state *state, struct buf *out,
		  struct err *err)
{
	if (bundle_add(out, &state->ca.cert, INT64_MIN, err))
		return -1;
	return bundle_add(out, &state->old, INT64_MIN, err);
}
