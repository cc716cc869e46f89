/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of objects that operators reject, which are too long for the files of
 * their rules.
 */
#ifndef ENGINE_REJECTIONS_H
#define ENGINE_REJECTIONS_H

#include "engine/rule.h"

/* True if Kueue makes a pod set of each template of the kind, so that its
 * webhook rejects the object and not a pod. grouped restricts this to kinds
 * whose pod sets can form a group. */
bool kueue_has_pod_sets(const struct object *object, bool grouped);

extern const struct rejections kserve_rejections;
extern const struct rejections kuberay_rejections;
extern const struct rejections kueue_rejections;
extern const struct rejections server_rejections;
extern const struct rejections trainer_rejections;
extern const struct rejections volcano_rejections;

#endif
