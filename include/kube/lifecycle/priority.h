/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of a pod's priority class: its own priorityClassName, or the field
 * or label that its operator copies to it (listed in priority.c).
 */
#ifndef KUBE_PRIORITY_H
#define KUBE_PRIORITY_H

#include "kube/object.h"

/* The node with the class's name (possibly unknown), or NULL if it has none. */
const struct node *pod_priority_class(const struct pod *pod);
/* True if this object cannot set the class: a TrainJob's pod template belongs
 * to its runtime, and Cloud Run has no classes. */
bool pod_priority_is_elsewhere(const struct pod *pod);
/*
 * Another field that orders the workload: Kueue's priority-class label, a
 * Kubeflow schedulingPolicy.priorityClass. The Pods stay at priority 0.
 */
const struct node *pod_queue_priority(const struct pod *pod);
/* system-cluster-critical, system-node-critical */
bool priority_class_is_system(const char *name);
/* The value that Kubernetes defines for such a class, or 0. */
int64_t priority_class_system_value(const char *name);

#endif
