/* SPDX-License-Identifier: Apache-2.0 */
/* Times and durations, and their texts in Go's forms. */
#ifndef CEL_TIME_TEXT_H
#define CEL_TIME_TEXT_H

#include "cel/value.h"

/* Durations are nanoseconds that fit in 64 bits, as in cel-go. */
int64_t cel_duration_nanos(struct cel_time duration);
struct cel_value cel_duration(int64_t nanos);
/* Parses the texts of time.ParseDuration and time.RFC3339. */
bool cel_duration_parse(struct cel_text text, int64_t *nanos);
bool cel_timestamp_parse(struct cel_text text, struct cel_time *out);
/* True between years 1 and 9999. */
bool cel_timestamp_valid(struct cel_time time);
/* Reads "2006-01-02" at the start of a text: 10 bytes, for a date that
 * exists. */
bool cel_date_parse(struct cel_text text, int64_t *seconds);

#endif
