/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that a later step fills in: `${JOB}`, `$GPUS`, `<BUCKET>`,
 * `{{inputs.parameters.x}}`, `PLACEHOLDER_X`, `FILLED BY THE OPERATOR`. Only
 * files contain placeholders; at admission every value is literal.
 */
#ifndef DOC_PLACEHOLDER_H
#define DOC_PLACEHOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "doc/load.h"

/*
 * True if the text contains a placeholder. `$(VAR)` does not count: the kubelet
 * expands it.
 */
bool placeholder_in(const char *text, size_t len);
/*
 * Sets NODE_UNKNOWN on every scalar whose value is a placeholder, and
 * doc->placeholders; sets doc->abridged if a comment line begins with three
 * dots.
 *
 * Strings under command and args are not marked; only the placeholder in them
 * is unknown. An env entry's value and a block scalar are marked only if they
 * are nothing but one placeholder. Returns the number of marked nodes, without
 * those that come from an alias or a merge.
 */
unsigned placeholder_mark(struct doc *doc);
/*
 * True if the file looks like a template (Go, Helm, Jinja): it contains control
 * markup ({{- if, {{ .Values, {{ include, {% ...) where YAML expects structure.
 * Markup in quoted and block strings is left to later readers, except markup
 * that only Helm knows (.Values, .Release, include "...").
 */
bool template_in(const char *text, size_t len);

#endif
