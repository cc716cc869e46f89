/* SPDX-License-Identifier: Apache-2.0 */
/* Writes doubles like Go's strconv: with the fewest digits that are read as the
 * same number. */
#include "rules/cel/lib/lib_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 17, NUMBER_SIZE = 32 };

/* Writes `-d.ddde±dd` with the fewest digits; returns the number of digits
 * after the dot. */
static int shortest(double value, char out[NUMBER_SIZE])
{
	int digits = 0;

	do
		snprintf(out, NUMBER_SIZE, "%.*e", digits, value);
	while (strtod(out, NULL) != value && ++digits < DIGITS_MAX);
	return digits;
}

static bool add_special(double value, struct buf *out)
{
	if (isnan(value))
		buf_adds(out, "NaN");
	else if (isinf(value))
		buf_adds(out, value < 0 ? "-Inf" : "+Inf");
	return isnan(value) || isinf(value);
}

void cel_double_text(double value, struct buf *out)
{
	char text[NUMBER_SIZE];
	int exponent;

	if (add_special(value, out))
		return;
	shortest(value, text);
	exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
	if (exponent < -4 || exponent >= 6)
		buf_adds(out, text);
	else
		cel_fixed_text(value, out);
}

void cel_fixed_text(double value, struct buf *out)
{
	char text[NUMBER_SIZE];
	int digits = shortest(value, text);
	int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);

	buf_addf(out, "%.*f", digits > exponent ? digits - exponent : 0, value);
}
