/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Priority classes of pods: their source, which is priorityClassName or a field
 * or label that the operator copies to it (listed in priority.c), other fields
 * that order a workload in a queue, and the system's classes.
 */
#ifndef KUBE_PRIORITY_H
#define KUBE_PRIORITY_H

#include "kube/object.h"

/* Returns the node with the name of the pod's priority class, which may be
 * unknown; NULL if it has none. */
const struct node *pod_priority_class(const struct pod *pod);
/*
 * Returns another field that orders the workload in a queue: Kueue's
 * priority-class label, or a Kubeflow schedulingPolicy.priorityClass. It leaves
 * the priority of the Pods at 0. NULL if there is none.
 */
const struct node *pod_queue_priority(const struct pod *pod);
/* True if a pod without a class may get its priority elsewhere, or cannot have
 * a class: a TrainJob's pod template belongs to its runtime, some kinds lack
 * the field, KAI's PodGroups have their own default, and Cloud Run has no
 * classes. */
bool pod_priority_is_elsewhere(const struct pod *pod);
/* True for system-cluster-critical and system-node-critical. */
bool priority_class_is_system(const char *name);
/* Returns the value that Kubernetes defines for such a class, or 0. */
int64_t priority_class_system_value(const char *name);

#endif
