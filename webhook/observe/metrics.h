/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics for Prometheus (names: metrics_page.c). May be called by any thread;
 * counting takes a short lock or an atomic addition. Memory is limited: label
 * values that users choose (namespace, kind) have a maximum number, and further
 * values are counted as "other".
 */
#ifndef WEBHOOK_METRICS_H
#define WEBHOOK_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);
/* Makes the series of these rules begin at 0. */
struct rule_set;
void metrics_know_rules(struct metrics *metrics, const struct rule_set *rules);
/* Sets the labels of gpugate_build_info and gpugate_policy_info (hash "": no
 * policy). */
void metrics_set_build(struct metrics *metrics, const char *version);
void metrics_set_policy(struct metrics *metrics, const char *hash);
/* Appends all metrics in Prometheus' text format 0.0.4. */
void metrics_write(struct metrics *metrics, struct buf *out);

/* A review that was answered. Strings are copied when they are new. */
struct metrics_request {
	const char *webhook;   /* "mutate", "validate" */
	const char *operation; /* "CREATE", ... or "other" */
	const char *kind;      /* "PyTorchJob.kubeflow.org" or "Pod" */
	const char *decision;  /* allow, warn, audit, patch, deny, error */
	bool dry_run;
	uint64_t nanoseconds;
};
void metrics_count_request(struct metrics *metrics,
			   const struct metrics_request *request);

struct metrics_finding {
	const char *rule;
	const char *action; /* outcome: deny, patch, warn or audit */
	const char *mode;   /* audit, warn, enforce */
	const char *level;  /* owner, pod */
	const char *namespace;
	int64_t gpus; /* GPUs of the object, added to gpus_affected */
};
void metrics_count_finding(struct metrics *metrics,
			   const struct metrics_finding *finding);
void metrics_count_patch(struct metrics *metrics, const char *rule);
/* Returns the number of a rule for metrics_count_not_run(). It never changes.
 */
unsigned metrics_rule_number(struct metrics *metrics, const char *rule);
void metrics_count_not_run(struct metrics *metrics, unsigned number);
/* Adds 1 or -1 to the number of reviews in flight. Returns the new number. */
int64_t metrics_in_flight(struct metrics *metrics, int by);

/* Gauges: times in seconds since the epoch, ages in seconds. */
enum metrics_gauge {
	METRICS_CLUSTER_STATE_AGE, /* negative: no cluster state */
	/* 0 if rules that need the state do not run, else 1 */
	METRICS_STATE_USED,
	METRICS_CERTIFICATE_EXPIRY,
	METRICS_CLIENT_CA_EXPIRY,
	METRICS_POLICY_RELOAD_SUCCESS,
	METRICS_POLICY_WARNINGS, /* warnings of the effective policy */
	/* 1 if the file's current content is effective, 0 if an earlier one
	 * is. */
	METRICS_POLICY_TAKEN,
	METRICS_CERTIFICATE_TAKEN,
	METRICS_CLIENT_CA_TAKEN,
	METRICS_CONNECTIONS,
	METRICS_GAUGES,
};
void metrics_set(struct metrics *metrics, enum metrics_gauge gauge,
		 double value);
enum metrics_counter {
	METRICS_OVERLOAD,
	METRICS_MEMORY_REFUSED, /* answered with 429 for lack of memory */
	METRICS_BREAK_GLASS,
	METRICS_POLICY_RELOAD_FAILURES,
	METRICS_CERTIFICATE_RELOAD_FAILURES,
	METRICS_CLIENT_CA_RELOAD_FAILURES,
	METRICS_CLUSTER_RELISTS,
	METRICS_CLUSTER_OUT_OF_MEMORY,
	METRICS_STATE_STOPS,
	METRICS_TIMEOUTS_HANDSHAKE,
	METRICS_TIMEOUTS_HEADER,
	METRICS_TIMEOUTS_BODY,
	METRICS_CLIENT_REFUSED, /* client certificate missing or wrong */
	/* Reviews that were allowed without a check, by reason. */
	METRICS_NOT_JUDGED_SCALE,	/* a Scale contains no pods */
	METRICS_NOT_JUDGED_SUBRESOURCE, /* status, eviction, ... */
	METRICS_NOT_JUDGED_OPERATION,	/* DELETE, CONNECT */
	/* a request to /mutate for an object that is never patched */
	METRICS_NOT_JUDGED_NO_PATCH,
	/* Pods of namespaces that the policy lists as infrastructure: checked,
	 * except by rules about waste. */
	METRICS_NOT_JUDGED_INFRASTRUCTURE,
	METRICS_COUNTERS,
};
void metrics_add(struct metrics *metrics, enum metrics_counter counter,
		 uint64_t by);
/* Replaces gpugate_cluster_objects{kind,group}: a kind that cannot be read has
 * no series. Names are constants; at most METRICS_OBJECTS items. */
enum { METRICS_OBJECTS = 32 };
struct metrics_objects {
	const char *kind, *group;
	uint64_t n;
};
void metrics_set_objects(struct metrics *metrics,
			 const struct metrics_objects *items, size_t n);
/* Replaces all series of gpugate_exemption_expiry_timestamp_seconds{name}. */
struct metrics_exemption {
	const char *name;
	int64_t until; /* seconds since the epoch */
};
void metrics_set_exemptions(struct metrics *metrics,
			    const struct metrics_exemption *items, size_t n);

#endif
