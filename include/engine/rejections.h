/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of objects that operators reject, which are too long for the files of
 * their rules.
 */
#ifndef ENGINE_REJECTIONS_H
#define ENGINE_REJECTIONS_H

#include "engine/rule.h"

extern const struct rejections kuberay_rejections;
extern const struct rejections kueue_rejections;
extern const struct rejections server_rejections;
extern const struct rejections trainer_rejections;
extern const struct rejections volcano_rejections;

#endif
