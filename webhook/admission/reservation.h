/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that were admitted a moment ago and are not yet part of a quota's
 * `used`. Without reservations, workloads that are created at the same time
 * would each count the same free quota. A replica knows only its own
 * admissions; ResourceQuota decides about Pods in any case.
 *
 * When /validate allows a CREATE, or an UPDATE that requests more, it makes a
 * reservation. Dry runs, Pods, suspended objects and objects that Kueue queues
 * get none. The key of a reservation is namespace, group, kind and name:
 * another request for the object replaces it. Devices that its Pods already use
 * in the cluster state are not counted twice. The reservation ends after 30
 * seconds, or with the object's DELETE.
 */
#ifndef WEBHOOK_RESERVATION_H
#define WEBHOOK_RESERVATION_H

#include "kube/cluster/cluster.h"
#include "kube/quota/quota.h"

struct reserve;

struct reserve *reserve_new(void);
void reserve_free(struct reserve *reserve);

/*
 * Starts a critical section: a review checks and reserves under a lock, which
 * it holds from reserve_begin() to reserve_end(). now is in monotonic seconds.
 */
void reserve_begin(struct reserve *reserve, int64_t now);
/* Returns the value for run_options.reservations. Must be called between
 * reserve_begin() and reserve_end(). */
const struct reservations *reserve_view(struct reserve *reserve);
/* Notes the requests of a workload, as callback run_options.workload; reserves
 * nothing yet. */
void reserve_note(struct reserve *reserve, const struct workload *workload);
/* Ends the critical section. Reserves the noted requests if keep is set; else
 * drops them. */
void reserve_end(struct reserve *reserve, bool keep);

/* Ends the reservation of the object. */
void reserve_drop(struct reserve *reserve, const struct object_id *id);

#endif
