/* SPDX-License-Identifier: Apache-2.0 */
/* Times and durations written as texts, as Go reads them. */
#ifndef CEL_TIME_TEXT_H
#define CEL_TIME_TEXT_H

#include "cel/value.h"

/* The text of time.ParseDuration; time.RFC3339 between years 1 and 9999. */
bool cel_duration_parse(struct cel_text text, int64_t *nanos);
enum cel_time_state { CEL_TIME_OK, CEL_TIME_INVALID, CEL_TIME_OVERFLOW };
enum cel_time_state cel_timestamp_parse(struct cel_text text,
					struct cel_time *out);
/* Days since 1970-01-01 of a date that exists. */
int64_t cel_days(int64_t year, int month, int day);
/* "2006-01-02" at the start of a text: its 10 bytes, and the date exists. */
bool cel_date_parse(struct cel_text text, int64_t *days);

#endif
