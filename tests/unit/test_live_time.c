/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits after failures: they double, have a maximum, and half of each is
 * random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "webhook/cluster/reflector.h"

static void waiting_grows_with_failures(void **state)
{
	static const struct {
		unsigned failures, least, most;
	} cases[] = {
		{0, 250, 500},	      {1, 250, 500},
		{2, 500, 1000},	      {3, 1000, 2000},
		{7, 15000, 30000},    {8, 15000, 30000},
		{1000, 15000, 30000}, {UINT32_MAX, 15000, 30000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned n = cases[i].failures;

		assert_int_equal(live_backoff(n, 500, 30000, 0),
				 cases[i].least);
		assert_int_equal(live_backoff(n, 500, 30000,
					      cases[i].most - cases[i].least),
				 cases[i].most);
		for (uint32_t chance = 1; chance; chance *= 3) {
			unsigned wait = live_backoff(n, 500, 30000, chance);

			assert_in_range(wait, cases[i].least, cases[i].most);
			if (chance > UINT32_MAX / 3)
				break;
		}
	}
	assert_in_range(live_backoff(5, 1, 1, 7), 0, 1);
}

static void random_numbers_stay_below_their_bound(void **state)
{
	unsigned seen[4] = {0};

	assert_int_equal(live_random(0), 0);
	assert_int_equal(live_random(1), 0);
	for (int i = 0; i < 1000; i++) {
		uint32_t n = live_random(4);

		assert_in_range(n, 0, 3);
		seen[n]++;
	}
	for (int i = 0; i < 4; i++)
		assert_in_range(seen[i], 100, 500);
}

static void the_clock_never_goes_back(void **state)
{
	int64_t before = live_now();

	assert_true(before > 0);
	assert_true(live_now() >= before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waiting_grows_with_failures),
		cmocka_unit_test(random_numbers_stay_below_their_bound),
		cmocka_unit_test(the_clock_never_goes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
