/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calendar days as numbers of days since 1970-01-01 UTC, for `until`, which
 * includes the day itself.
 */
#ifndef RULES_ENGINE_DATE_H
#define RULES_ENGINE_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DATE_NONE INT64_MAX
#define DATE_TEXT 32

/* Parses exactly YYYY-MM-DD. Returns false for other texts and for days that do
 * not exist. */
bool date_parse(const char *text, size_t len, int64_t *days);
const char *date_text(int64_t days, char out[DATE_TEXT]);
int64_t date_today(void);

#endif
