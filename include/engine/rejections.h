/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of operators' rejections, too long for the file of their rule.
 */
#ifndef ENGINE_REJECTIONS_H
#define ENGINE_REJECTIONS_H

#include "engine/rule.h"

extern const struct rejections kuberay_rejections;
extern const struct rejections kueue_rejections;
extern const struct rejections server_rejections;
extern const struct rejections volcano_rejections;

#endif
