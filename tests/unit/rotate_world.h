/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of a cluster in which replicas rotate certificates: the stored state,
 * the bundles that each API server may still have, and the invariants.
 */
#ifndef ROTATE_WORLD_H
#define ROTATE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

enum {
	RUNS = 10000,
	REPLICAS = 2,
	CONFIGS = 2,
	VERSIONS = 64, /* versions of a configuration that are remembered */
	CAS = 60,      /* number of CAs, each a bit of a bundle */
	LEAVES = 4096,
	SANE = 240,   /* largest clock error in seconds */
	MARGIN = 600, /* as in certs/rotate.c */
};

struct cert {
	int ca; /* CA that signed the leaf */
	int64_t from, to;
	/* set for a CA that replaced a lost one: its leaf does not replace a
	 * usable one */
	bool emergency;
};

struct secret {
	int ca; /* CA that can sign; 0: none */
	uint64_t old;
	int64_t old_until;
	int leaf; /* leaf; 0: none */
};

struct version {
	int64_t since;
	uint64_t bundle;
	bool tampered;
};

struct config {
	unsigned rv;
	struct version versions[VERSIONS];
};

enum stage { READ_0, READ_1, DECIDE, PUT, LOAD, PATCH_0, PATCH_1, REST };

struct replica {
	enum stage stage;
	int64_t wake, next;
	int64_t offset; /* error of the replica's clock */
	bool up, ready, waiting, readable;
	int leaf; /* leaf that the replica serves */
	/* times and versions of this round */
	int64_t begun, read;
	unsigned rv, config_rv[CONFIGS];
	uint64_t bundle[CONFIGS];
	struct secret secret;
	bool changed;
	int settling; /* CA that all configurations had in the last round */
	unsigned settling_rv[CONFIGS]; /* their versions */
	int64_t since;		       /* time since which they had it */
};

struct world {
	uint64_t seed;
	int64_t t, ca_life, leaf_life, settle, poll;
	struct cert cas[CAS + 1], leaves[LEAVES];
	int ncas, nleaves;
	struct secret secret;
	unsigned rv;
	struct config configs[CONFIGS];
	struct replica replicas[REPLICAS];
	bool calm; /* faults no longer occur */
	unsigned puts, patches, checks, conflicts, rotations;
};

static uint64_t next_random(struct world *w)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return w->seed;
}

static int64_t below(struct world *w, int64_t n)
{
	return (int64_t)(next_random(w) % (uint64_t)n);
}

static bool one_in(struct world *w, int64_t n)
{
	return !w->calm && below(w, n) == 0;
}

static uint64_t bit(int ca)
{
	return ca ? 1ULL << ca : 0;
}

static struct version *newest(struct world *w, int i)
{
	struct config *c = &w->configs[i];

	return &c->versions[c->rv % VERSIONS];
}

static void write_config(struct world *w, int i, uint64_t bundle, bool tampered)
{
	w->configs[i].rv++;
	*newest(w, i) = (struct version){w->t, bundle, tampered};
}

/* --- invariants ----------------------------------------------------------- */

/* Checks one configuration: some API server may use any version that was
 * current within the last `settle` seconds. */
static void check_config(struct world *w, int i, const struct cert *leaf)
{
	struct config *c = &w->configs[i];

	for (unsigned rv = c->rv; rv && c->rv - rv < VERSIONS; rv--) {
		struct version *v = &c->versions[rv % VERSIONS];

		w->checks++;
		if (!v->tampered && !(v->bundle & bit(leaf->ca)))
			fail_msg("t %lld: a leaf of CA %d is served, but "
				 "configuration %d has %llx since %lld",
				 (long long)w->t, leaf->ca, i,
				 (unsigned long long)v->bundle,
				 (long long)v->since);
		if (v->since <= w->t - w->settle)
			break;
	}
}

/* Returns true if all clients have the CA from now on. */
static bool is_everywhere(struct world *w, int ca)
{
	for (int i = 0; i < CONFIGS; i++)
		if (!(newest(w, i)->bundle & bit(ca)) ||
		    newest(w, i)->since >= w->t - w->settle)
			return false;
	return true;
}

static void check_world(struct world *w)
{
	for (int r = 0; r < REPLICAS; r++) {
		const struct replica *replica = &w->replicas[r];
		struct cert *leaf = &w->leaves[replica->leaf];

		if (!replica->up || !replica->ready || !replica->leaf ||
		    leaf->to <= w->t)
			continue;
		if (is_everywhere(w, leaf->ca))
			w->cas[leaf->ca].emergency = false;
		if (w->cas[leaf->ca].emergency)
			continue;
		for (int i = 0; i < CONFIGS; i++)
			check_config(w, i, leaf);
	}
}

#endif
