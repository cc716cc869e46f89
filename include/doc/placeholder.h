/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that are filled in later: `${JOB}`, `$GPUS`, `<BUCKET>`,
 * `{{inputs.parameters.x}}`, `PLACEHOLDER_X`, `FILLED BY THE OPERATOR`. Only
 * files have them; at admission every value is literal.
 */
#ifndef DOC_PLACEHOLDER_H
#define DOC_PLACEHOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "doc/load.h"

/* Does this text hold a placeholder? `$(VAR)` is none (kubelet expands it). */
bool placeholder_in(const char *text, size_t len);
/*
 * Set NODE_UNKNOWN on every scalar whose value is a placeholder, and
 * doc->placeholders; and doc->abridged where a comment of its own line begins
 * with three dots. Strings under command and args keep their text: there
 * the token alone is unknown. An env entry's value and a block scalar are
 * marked only when they are nothing but one placeholder.
 * Returns the number of marked nodes.
 */
unsigned placeholder_mark(struct doc *doc);
/*
 * Does the file look like a template (Go, Helm, Jinja)? True when it carries
 * control markup ({{- if, {{ .Values, {{ include, {% ...) where YAML expects
 * structure. Markup in quoted and block strings is left to later readers,
 * except what only Helm knows (.Values, .Release, include "...").
 */
bool template_in(const char *text, size_t len);

#endif
