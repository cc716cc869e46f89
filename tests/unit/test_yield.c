/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings that yield to more specific ones: among many findings, the same ones
 * as in a comparison of all pairs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "rules/engine/run/run_internal.h"

enum { MOST = 400, PODS = 5, CONTAINERS = 4, CAUSES = 3 };

static const char *const to_special[] = {"special", "other-special", NULL};
static const char *const to_general[] = {"general", NULL};
static const struct rule rules[] = {
	{.name = "general", .yields_to = to_special},
	{.name = "special"},
	{.name = "bystander", .yields_to = to_general},
	{.name = "other"},
};

struct crowd {
	struct finding items[MOST], *all[MOST];
	size_t n;
};

static bool named(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

/* Computes the result by the definition in engine/rule.h. */
static bool should_yield(const struct crowd *crowd, const struct finding *f)
{
	for (size_t i = 0; i < crowd->n; i++) {
		const struct finding *o = &crowd->items[i];

		if (o != f && named(f->rule->yields_to, o->rule->name) &&
		    o->pod_key == f->pod_key &&
		    (!o->container_key || !f->container_key ||
		     o->container_key == f->container_key) &&
		    (!*o->cause || !*f->cause || !strcmp(o->cause, f->cause)))
			return true;
	}
	return false;
}

static uint32_t next(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % n;
}

static void make(struct crowd *crowd, size_t n, uint32_t seed)
{
	static const char *const causes[CAUSES] = {"", "a", "b"};

	crowd->n = n;
	for (size_t i = 0; i < n; i++) {
		/* Uses few special rules; otherwise all findings would
		 * yield. */
		const struct rule *rule =
			&rules[next(&seed, 20) ? 2 * next(&seed, 2) : 1];

		crowd->items[i] = (struct finding){
			.rule = next(&seed, 10) ? rule : &rules[3],
			.pod_key = next(&seed, PODS),
			.container_key = next(&seed, CONTAINERS),
			.cause = causes[next(&seed, CAUSES)],
		};
		crowd->all[i] = &crowd->items[i];
	}
}

static void many_yield_as_few_do(void **state)
{
	static const size_t sizes[] = {1, 2, 31, 32, 33, 34, 60, 150, MOST};
	static struct crowd crowd;
	size_t hidden = 0, shown = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (uint32_t seed = 0; seed < 20; seed++) {
			make(&crowd, sizes[i], seed);
			findings_yield(crowd.all, 0, crowd.n);
			for (size_t j = 0; j < crowd.n; j++) {
				bool want = should_yield(&crowd, crowd.all[j]);

				assert_ptr_equal(crowd.all[j], &crowd.items[j]);
				assert_int_equal(crowd.all[j]->hidden, want);
				hidden += want;
				shown += !want;
			}
		}
	assert_true(hidden > 1000 && shown > 1000);
}

/* Findings before `from` belong to another object. */
static void others_are_left_alone(void **state)
{
	static struct crowd crowd;

	(void)state;
	make(&crowd, 100, 7);
	for (size_t i = 0; i < crowd.n; i++)
		crowd.items[i].pod_key = crowd.items[i].container_key = 0;
	for (size_t i = 0; i < crowd.n; i++)
		crowd.items[i].rule = &rules[i < 50];
	findings_yield(crowd.all, 50, crowd.n);
	for (size_t i = 0; i < crowd.n; i++)
		assert_false(crowd.items[i].hidden);
	findings_yield(crowd.all, 0, crowd.n);
	assert_true(crowd.items[99].hidden || crowd.items[98].hidden);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_yield_as_few_do),
		cmocka_unit_test(others_are_left_alone),
	};

	return cmocka_run_group_tests_name("yield", tests, NULL, NULL);
}
