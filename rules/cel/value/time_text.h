/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions of times and durations from and to the forms that Go uses. */
#ifndef CEL_TIME_TEXT_H
#define CEL_TIME_TEXT_H

#include "cel/value.h"

/* Converts a duration to nanoseconds, which fit into 64 bits, as in cel-go. */
int64_t cel_duration_nanos(struct cel_time duration);
struct cel_value cel_duration(int64_t nanos);
/* Parse the texts that time.ParseDuration() and time.RFC3339 accept. */
bool cel_duration_parse(struct cel_text text, int64_t *nanos);
bool cel_timestamp_parse(struct cel_text text, struct cel_time *out);
/* True for times in the years 1 to 9999. */
bool cel_timestamp_valid(struct cel_time time);
/* Reads a date "2006-01-02" (10 bytes) at the start of a text. Returns false if
 * it does not exist. */
bool cel_date_parse(struct cel_text text, int64_t *seconds);

#endif
