/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demand that was admitted a moment ago and is not yet part of a quota's
 * `used`. Without reservations, workloads that are created at the same time
 * would all get the same free quota. A replica knows only its own admissions;
 * ResourceQuota decides about Pods in any case.
 *
 * A reservation is made by a CREATE or UPDATE that /validate allows (never by a
 * dry run), keyed by namespace, group, kind and name: another request replaces
 * it. The use of its Pods according to the cluster state is not counted twice;
 * it ends after 30 seconds, or with its object's DELETE.
 */
#ifndef WEBHOOK_RESERVATION_H
#define WEBHOOK_RESERVATION_H

#include "kube/cluster/cluster.h"
#include "kube/quota/quota.h"

struct reserve;

struct reserve *reserve_new(void);
void reserve_free(struct reserve *reserve);

/*
 * Checking and reserving is one critical section: a review holds the lock from
 * reserve_begin() to reserve_end(). now: monotonic seconds.
 */
void reserve_begin(struct reserve *reserve, int64_t now);
/* For run_options.reservations, between begin and end. */
const struct reservations *reserve_view(struct reserve *reserve);
/* For run_options.workload: notes the demand; nothing is reserved yet. */
void reserve_note(struct reserve *reserve, const struct workload *workload);
/* keep: reserve the noted demand; else drop it. */
void reserve_end(struct reserve *reserve, bool keep);

void reserve_drop(struct reserve *reserve, const struct object_id *id);

#endif
