/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON values built with jansson, one finding at a time: a report is written
 * piece by piece and never held as a whole. Keys keep the order in which
 * they were put. Running out of memory ends the program.
 */
#ifndef LINT_JSON_OUT_H
#define LINT_JSON_OUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

json_t *json_new_object(void);
/* Bytes that are not UTF-8 (a path may hold any) become U+FFFD. */
json_t *json_new_text(const char *s);

void json_put_text(json_t *object, const char *key, const char *s);
void json_put_int(json_t *object, const char *key, int64_t value);
void json_put_bool(json_t *object, const char *key, bool value);
json_t *json_put_object(json_t *object, const char *key);
json_t *json_put_array(json_t *object, const char *key);
/* A new object at the end of the array. */
json_t *json_add_object(json_t *array);
/* value is taken. */
void json_add(json_t *array, json_t *value);

/* Append the value as compact JSON, and free it. */
void json_write(json_t *value, struct buf *out);

#endif
