/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private parts of the metrics: counting (metrics.c) and writing
 * (metrics_page.c).
 *
 * Every count is one atomic word in a table, indexed by the label values, so
 * that threads do not wait for each other. Values of a fixed list have their
 * index in that list; any other value has the index of the last item, "other".
 * Values that users choose get a number when they are first seen (struct
 * metric_labels) until the list is full; after that they get number 0, "other".
 * The system gives a table no memory for pages that were never written.
 */
#ifndef WEBHOOK_METRICS_INTERNAL_H
#define WEBHOOK_METRICS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "metrics.h"

/*
 * Numbers label values that users choose (namespaces, kinds) or that are
 * configured (rules), in the order of their first use. Beyond the limit each
 * new value gets number 0, "other".
 */

enum {
	NAMES_MAX = 400,
	NAME_SLOTS = 1024, /* a power of two, more than twice NAMES_MAX */
	NAME_BYTES = 256,  /* bytes; longer values are cut */
};

struct metric_label {
	unsigned number; /* from 1 */
	size_t len;
	char text[];
};

struct metric_labels {
	unsigned limit;	     /* at most NAMES_MAX */
	struct text_key key; /* key of the hash */
	_Atomic unsigned n;
	struct metric_label *_Atomic slots[NAME_SLOTS];
	/* indexed by number */
	struct metric_label *_Atomic items[NAMES_MAX + 1];
	/* held while a value is added */
	pthread_mutex_t lock;
};

/* Returns the text of a number, which is a result of names_number(), or at most
 * names->n. */
const char *names_text(struct metric_labels *names, unsigned number);

enum {
	MAX_KINDS = 200,
	MAX_NAMESPACES = 200,
	MAX_RULES = NAMES_MAX,
	MAX_EXEMPTIONS = 1000,

	WEBHOOKS = 3,
	OPERATIONS = 5,
	DECISIONS = 7,
	ACTIONS = 5,
	MODES = 4,
	LEVELS = 3,
	BUCKETS = 13, /* the last bucket is +Inf */

	/*
	 * Series of findings. Beyond the limit the namespace is "other", which
	 * has at most (MAX_RULES + 1) * 5 * 4 * 3 series, so the table never
	 * becomes full.
	 */
	FINDING_SLOTS = 65536,
	FINDING_LIMIT = 32768,
};

struct finding_slot {
	_Atomic uint64_t key; /* 0: free slot */
	_Atomic uint64_t count;
};

/* The label values of a finding's series. */
struct finding_labels {
	unsigned rule, action, mode, level, namespace;
};

struct request_table {
	_Atomic uint64_t
		count[MAX_KINDS + 1][WEBHOOKS][OPERATIONS][DECISIONS][2];
};

/* Aligned, so that the durations of two webhooks never share a cache line. */
struct duration {
	_Atomic uint64_t buckets[BUCKETS];
	_Atomic uint64_t nanoseconds;
} __attribute__((aligned(64)));

struct exemption_series {
	char *name;
	int64_t until;
};

struct metrics {
	struct duration durations[WEBHOOKS];
	struct metric_labels kinds, namespaces, rules;
	struct request_table *requests;
	struct finding_slot *findings;
	_Atomic uint64_t gpus[MAX_RULES + 1][ACTIONS];
	_Atomic uint64_t patches[MAX_RULES + 1];
	_Atomic uint64_t not_run[MAX_RULES + 1];
	_Atomic uint64_t counters[METRICS_COUNTERS];
	_Atomic int64_t in_flight;
	_Atomic double gauges[METRICS_GAUGES]; /* NAN: never set */
	double start_time;
	_Atomic unsigned nfindings;
	/* rules whose series begin at 0 in patches, and in not_run */
	_Atomic bool patching[MAX_RULES + 1], bound[MAX_RULES + 1];
	pthread_mutex_t lock; /* protects the fields below */
	char version[64], policy[24];
	struct exemption_series *exemptions;
	size_t nexemptions;
	struct metrics_objects objects[METRICS_OBJECTS];
	size_t nobjects;
};

extern const char *const metrics_webhooks[WEBHOOKS];
extern const char *const metrics_operations[OPERATIONS];
extern const char *const metrics_decisions[DECISIONS];
extern const char *const metrics_actions[ACTIONS];
extern const char *const metrics_modes[MODES];
extern const char *const metrics_levels[LEVELS];
/* Upper bounds of the buckets in seconds. */
extern const char *const metrics_bounds[BUCKETS];

struct finding_labels metrics_unpack(uint64_t key);

#endif
