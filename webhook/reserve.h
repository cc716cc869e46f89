/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demand that was admitted a moment ago and does not show in a quota's used
 * yet. Without it, workloads that come at once all see the same room. One
 * replica knows only what it admitted itself; ResourceQuota has the last word
 * on Pods in any case.
 *
 * A reservation is made by a CREATE or UPDATE that /validate allows (never by
 * a dry run), keyed by namespace, group, kind and name: asking again replaces
 * it. What its Pods take already, by the cluster state, is not counted twice;
 * it ends after 30 seconds, or with its object's DELETE.
 */
#ifndef WEBHOOK_RESERVE_H
#define WEBHOOK_RESERVE_H

#include "kube/cluster.h"
#include "kube/quota.h"

struct reserve;

struct reserve *reserve_new(void);
void reserve_free(struct reserve *reserve);

/*
 * From the judgement to the promise nobody else may judge: one review holds
 * the lock from reserve_begin() to reserve_end(). now: monotonic seconds.
 */
void reserve_begin(struct reserve *reserve, int64_t now);
/* For run_options.reservations, inside of begin and end. */
const struct reservations *reserve_view(struct reserve *reserve);
/* For run_options.workload: remember what is asked; nothing is promised. */
void reserve_note(struct reserve *reserve, const struct workload *workload);
/* keep: what was noted is promised; else forgotten. */
void reserve_end(struct reserve *reserve, bool keep);

void reserve_drop(struct reserve *reserve, const struct object_id *id);

#endif
