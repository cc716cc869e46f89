/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Years of two replicas that rotate one Secret, in any interleaving: delays,
 * pauses, crashes and failures between any two steps, clocks that differ and
 * step, Secrets that are lost, bundles that are wiped. At every moment, the
 * leaf that a replica serves must be covered by every bundle that some API
 * server may still have.
 *
 * The plan is the real one (rotate_plan.c); certificates are numbers, so that
 * 10,000 runs take seconds. The order of requests is that of
 * webhook/tls/self_managed.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "certs/rotate.h"
#include "rotate_world.h"

/* --- rotate.c, with numbers as certificates ------------------------------- */

static uint64_t not_over(const struct world *w, uint64_t bundle, int64_t now)
{
	for (int ca = 1; ca <= w->ncas; ca++)
		if (bundle & bit(ca) && w->cas[ca].to <= now - MARGIN)
			bundle &= ~bit(ca);
	return bundle;
}

static void read_facts(struct world *w, const struct replica *r,
		       const struct secret *s, struct rotate_facts *f)
{
	const struct cert *ca = &w->cas[s->ca], *leaf = &w->leaves[s->leaf];
	int64_t now = w->t + r->offset;
	uint64_t old = not_over(w, s->old, now);
	uint64_t known = not_over(w, r->bundle[0] | r->bundle[1], now);

	*f = (struct rotate_facts){.now = now, .known = r->readable};
	f->ca = s->ca && ca->to > now && ca->from - 300 <= now;
	f->ca_from = ca->from;
	f->ca_to = ca->to;
	f->leaf_from = leaf->from;
	f->leaf_to = leaf->to;
	f->leaf_fits = now >= leaf->from - 300;
	f->leaf = LEAF_NONE;
	if (s->leaf && f->ca && leaf->ca == s->ca)
		f->leaf = LEAF_OF_CA;
	else if (s->leaf && old & bit(leaf->ca))
		f->leaf = LEAF_OF_OLD;
	f->old = s->old != 0;
	f->old_until = now;
	for (int i = 1; i <= w->ncas; i++)
		if (old & bit(i) && w->cas[i].to > f->old_until)
			f->old_until = w->cas[i].to;
	if (s->old_until && s->old_until < f->old_until)
		f->old_until = s->old_until;
	f->strange = (known & ~old & ~bit(s->ca)) != 0;
}

static void keep_until(struct secret *s, int64_t when)
{
	if (s->old_until < when)
		s->old_until = when;
}

static void new_ca(struct world *w, struct secret *s,
		   const struct rotate_facts *f)
{
	keep_until(s,
		   f->leaf == LEAF_OF_CA ? f->leaf_to : f->now + w->leaf_life);
	s->old = not_over(w, s->old | bit(s->ca), f->now);
	assert_true(w->ncas < CAS);
	s->ca = ++w->ncas;
	w->cas[s->ca] = (struct cert){0, f->now, f->now + w->ca_life, false};
}

static bool is_served(const struct world *w)
{
	for (int i = 0; i < REPLICAS; i++)
		if (w->replicas[i].up && w->replicas[i].ready &&
		    w->leaves[w->replicas[i].leaf].to > w->t)
			return true;
	return false;
}

static void new_leaf(struct world *w, struct secret *s,
		     const struct rotate_facts *f)
{
	int64_t to = f->now + w->leaf_life, end = w->cas[s->ca].to;

	if (f->leaf == LEAF_OF_OLD)
		keep_until(s, f->leaf_to);
	assert_true(w->nleaves < LEAVES - 1);
	s->leaf = ++w->nleaves;
	w->leaves[s->leaf] =
		(struct cert){s->ca, f->now, to < end ? to : end, false};
	if (f->leaf != LEAF_OF_CA && !f->settled && !is_served(w))
		w->cas[s->ca].emergency = true;
}

static void decide(struct world *w, struct replica *r, bool published,
		   bool settled)
{
	struct rotate_facts f;
	enum rotate_step step;

	r->changed = false;
	for (int i = 0; i < 8; i++) {
		read_facts(w, r, &r->secret, &f);
		f.published = published;
		f.settled = settled;
		step = rotate_plan(&f, &r->next);
		r->waiting = step == STEP_WAIT;
		if (step <= STEP_WAIT)
			return;
		if (step == STEP_NEW_CA)
			new_ca(w, &r->secret, &f);
		else if (step == STEP_ADOPT)
			keep_until(&r->secret, f.now + w->leaf_life);
		else if (step == STEP_NEW_LEAF)
			new_leaf(w, &r->secret, &f);
		else
			r->secret.old = 0, r->secret.old_until = 0;
		if (step == STEP_ADOPT)
			r->secret.old |=
				not_over(w, r->bundle[0] | r->bundle[1],
					 f.now) &
				~bit(r->secret.ca);
		r->changed = true;
		published = settled = false;
	}
	fail_msg("no end of steps");
}

/* --- rounds, as in self_managed.c ----------------------------------------- */

static uint64_t wanted(const struct secret *s)
{
	return s->old | bit(s->ca);
}

static bool is_published(const struct replica *r)
{
	return r->readable && r->bundle[0] == wanted(&r->secret) &&
	       r->bundle[1] == wanted(&r->secret);
}

static bool is_settled(struct world *w, struct replica *r, bool published)
{
	if (!published || r->settling != r->secret.ca ||
	    r->settling_rv[0] != r->config_rv[0] ||
	    r->settling_rv[1] != r->config_rv[1]) {
		r->settling = published ? r->secret.ca : 0;
		r->settling_rv[0] = r->config_rv[0];
		r->settling_rv[1] = r->config_rv[1];
		r->since = r->read;
		return false;
	}
	return r->begun - r->since >= w->settle;
}

static void rest(struct world *w, struct replica *r, int64_t seconds)
{
	r->stage = READ_0;
	r->wake = w->t + 1 + below(w, seconds);
}

static void after_round(struct world *w, struct replica *r)
{
	int64_t most = w->poll, due = r->next - w->t - r->offset;

	if (r->waiting && most > w->settle)
		most = w->settle;
	if (due < most)
		most = due < 30 ? 30 : due;
	rest(w, r, most);
}

static void read_config(struct world *w, struct replica *r, int i)
{
	if (i == 0) {
		r->begun = w->t;
		r->readable = true;
	}
	if (one_in(w, 50))
		r->readable = false;
	r->config_rv[i] = w->configs[i].rv;
	r->bundle[i] = r->readable ? newest(w, i)->bundle : 0;
	r->read = w->t;
}

static bool read_secret(struct world *w, struct replica *r)
{
	bool published, sane = llabs(r->offset) <= SANE;
	int ncas = w->ncas, nleaves = w->nleaves;

	r->secret = w->secret;
	r->rv = w->rv;
	published = is_published(r);
	decide(w, r, published, is_settled(w, r, published));
	r->stage = r->changed ? PUT : LOAD;
	if (!r->changed || sane)
		return true;
	/* A replica with a wrong clock issues nothing, and bundles are not
	 * published while a step is due. */
	w->ncas = ncas;
	w->nleaves = nleaves;
	return false;
}

static bool put_secret(struct world *w, struct replica *r)
{
	if (r->rv != w->rv) {
		w->conflicts++;
		return false;
	}
	w->rotations += w->secret.ca != r->secret.ca;
	w->secret = r->secret;
	w->rv++;
	w->puts++;
	return true;
}

static void load_leaf(struct world *w, struct replica *r)
{
	const struct cert *leaf = &w->leaves[r->secret.leaf];
	int64_t now = w->t + r->offset;

	if (r->secret.leaf && wanted(&r->secret) & bit(leaf->ca) &&
	    leaf->to > now && leaf->from - 300 <= now)
		r->leaf = r->secret.leaf;
}

static bool patch_config(struct world *w, struct replica *r, int i)
{
	if (!r->readable || r->bundle[i] == wanted(&r->secret))
		return true;
	if (w->configs[i].rv != r->config_rv[i]) {
		w->conflicts++;
		return false;
	}
	write_config(w, i, wanted(&r->secret), false);
	w->patches++;
	return true;
}

static void restart(struct world *w, struct replica *r)
{
	int64_t offset = r->offset;

	*r = (struct replica){.offset = offset, .up = true};
	r->wake = w->t + 1 + below(w, one_in(w, 3) ? 86400 : 60);
}

static void act(struct world *w, struct replica *r)
{
	bool good = true;

	switch (r->stage) {
	case READ_0:
		read_config(w, r, 0);
		r->stage = READ_1;
		break;
	case READ_1:
		read_config(w, r, 1);
		r->stage = DECIDE;
		break;
	case DECIDE:
		good = read_secret(w, r);
		break;
	case PUT:
		good = put_secret(w, r);
		r->stage = LOAD;
		break;
	case LOAD:
		load_leaf(w, r);
		r->stage = PATCH_0;
		break;
	case PATCH_0:
	case PATCH_1:
		good = patch_config(w, r, r->stage == PATCH_1);
		r->stage++;
		break;
	case REST:
		r->ready = r->ready || (r->leaf && r->readable);
		after_round(w, r);
		return;
	}
	/* A request takes a moment, or much longer, or fails. */
	r->wake =
		w->t + (one_in(w, 20) ? below(w, 3 * w->settle) : below(w, 2));
	if (!good || one_in(w, 60))
		rest(w, r, 5);
	if (one_in(w, 150))
		restart(w, r);
}

/* --- faults --------------------------------------------------------------- */

static bool is_tampered(struct world *w)
{
	return newest(w, 0)->tampered || newest(w, 1)->tampered;
}

static void harm_secret(struct world *w)
{
	switch (below(w, 4)) {
	case 0: /* emptied */
		w->secret = (struct secret){0};
		break;
	case 1: /* the key of the CA is lost; in this model, so is the CA */
		w->secret.ca = 0;
		break;
	case 2:
		w->secret.leaf = 0;
		break;
	default:
		w->secret.old_until = 0;
	}
	w->rv++;
}

static void harm_clock(struct world *w, struct replica *r)
{
	static const int64_t steps[] = {-86400, 3600, 400 * 86400LL,
					-400 * 86400LL};

	r->offset =
		below(w, 2) ? below(w, 2 * SANE) - SANE : steps[below(w, 4)];
}

static void misfortune(struct world *w)
{
	if (one_in(w, 400) && !is_tampered(w))
		harm_secret(w);
	/* Both bundles and the Secret are never lost at the same time. */
	if (one_in(w, 400) && w->secret.ca && w->secret.leaf)
		write_config(w, (int)below(w, CONFIGS), 0, true);
	if (one_in(w, 300))
		harm_clock(w, &w->replicas[below(w, REPLICAS)]);
}

/* --- runs ----------------------------------------------------------------- */

static void begin(struct world *w, uint64_t seed)
{
	static const int64_t lives[][3] = {
		/* CA, leaf, poll */
		{5 * 365 * 86400LL, 90 * 86400LL, 5 * 86400},
		{365 * 86400LL, 7 * 86400LL, 43200},
		{4 * 86400LL, 86400, 1800},
		{4 * 3600, 3600, 60},
	};
	const int64_t *life = lives[seed % 4];

	memset(w, 0, sizeof(*w));
	w->seed = seed * 0x9e3779b97f4a7c15ULL + 1;
	w->t = 1700000000;
	w->ca_life = life[0];
	w->leaf_life = life[1];
	w->poll = life[2];
	w->settle = 60;
	for (int i = 0; i < CONFIGS; i++)
		write_config(w, i, 0, true);
	for (int i = 0; i < REPLICAS; i++) {
		w->replicas[i].offset = below(w, 2 * SANE) - SANE;
		restart(w, &w->replicas[i]);
	}
}

static void go_on(struct world *w)
{
	struct replica *r = &w->replicas[0];

	for (int i = 1; i < REPLICAS; i++)
		if (w->replicas[i].wake < r->wake)
			r = &w->replicas[i];
	if (r->wake > w->t)
		w->t = r->wake;
	act(w, r);
	if (!w->calm)
		misfortune(w);
	check_world(w);
}

/* Returns true if all replicas agree and no rotation is in progress. */
static bool is_agreed(struct world *w)
{
	for (int i = 0; i < CONFIGS; i++)
		if (newest(w, i)->bundle != wanted(&w->secret))
			return false;
	if (w->leaves[w->secret.leaf].ca != w->secret.ca)
		return false;
	for (int i = 0; i < REPLICAS; i++)
		if (w->replicas[i].leaf != w->secret.leaf)
			return false;
	return true;
}

/* Without faults, all certificates become valid, and then nothing is
 * written. */
static void calm_down(struct world *w)
{
	unsigned puts, patches;
	int64_t end;

	w->calm = true;
	for (int i = 0; i < REPLICAS; i++) {
		w->replicas[i].offset = 0;
		if (w->replicas[i].wake > w->t + w->poll)
			w->replicas[i].wake = w->t + w->poll;
	}
	for (end = w->t + 2 * w->leaf_life; w->t < end;)
		go_on(w);
	for (end = w->t + 4 * w->poll + 4 * w->settle;
	     w->t < end && !is_agreed(w);)
		go_on(w);
	assert_true(w->secret.ca && w->secret.leaf);
	assert_int_equal(w->leaves[w->secret.leaf].ca, w->secret.ca);
	for (int i = 0; i < REPLICAS; i++) {
		assert_true(w->replicas[i].ready);
		assert_int_equal(w->replicas[i].leaf, w->secret.leaf);
	}
	for (int i = 0; i < CONFIGS; i++)
		assert_true(newest(w, i)->bundle == wanted(&w->secret));
	assert_true(w->leaves[w->secret.leaf].to > w->t);
	puts = w->puts;
	patches = w->patches;
	/* Runs until a step is due. */
	end = w->replicas[0].next - w->poll - w->settle;
	while (w->t < end)
		go_on(w);
	assert_int_equal(w->puts, puts);
	assert_int_equal(w->patches, patches);
}

static void years_of_two_replicas(void **state)
{
	static struct world w;
	uint64_t checks = 0, puts = 0, patches = 0, conflicts = 0, cas = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		begin(&w, seed);
		for (int i = 0; i < 6000 && w.ncas < CAS - 10; i++)
			go_on(&w);
		calm_down(&w);
		checks += w.checks;
		puts += w.puts;
		patches += w.patches;
		conflicts += w.conflicts;
		cas += w.rotations;
	}
	print_message("%d runs: %llu bundles checked, %llu writes of the "
		      "Secret, %llu new CAs, %llu patches, %llu conflicts\n",
		      RUNS, (unsigned long long)checks,
		      (unsigned long long)puts, (unsigned long long)cas,
		      (unsigned long long)patches,
		      (unsigned long long)conflicts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(years_of_two_replicas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
