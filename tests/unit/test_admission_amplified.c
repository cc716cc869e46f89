/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects with up to 60,000 values of which each is a finding, is compared with
 * a table, or refers to other values: what one review of them may cost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "costly_review.h"

/* A Pod of containers, each with 500 names of resources. */
static void resources(struct buf *out, const char *before, const char *after)
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
		      "spec: {containers: [");
	for (unsigned i = 0; i < 110; i++) {
		buf_addf(out, "{name: c%u, image: i:1, resources: {limits: {",
			 i);
		for (unsigned k = 0; k < 500; k++)
			buf_addf(out, "%s%u%s: 1,", before, i * 1000 + k,
				 after);
		buf_adds(out, "}}},");
	}
	buf_adds(out, "]}}");
}

static void profiles(struct buf *out)
{
	resources(out, "nvidia.com/mig-1g.", "gb");
}

static void no_profiles(struct buf *out)
{
	resources(out, "nvidia.com/mig-x", ".yz");
}

static void names(struct buf *out)
{
	resources(out, "nvidai.con/gpu", "");
}

static void objects_cost_little(void **state)
{
	static const struct {
		const char *what, *kind;
		void (*write)(struct buf *out);
	} rows[] = {
		{"MIG profiles", "Pod", profiles},
		{"names like MIG profiles", "Pod", no_profiles},
		{"names like GPUs", "Pod", names},
	};
	struct stage *s = *state;

	admission_set_policy(s->admission, policy_default(&s->rules, "strict"));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		print_message("  %s\n", rows[i].what);
		judge(s, ADMISSION_VALIDATE, "CREATE", rows[i].kind,
		      rows[i].write);
		judge(s, ADMISSION_MUTATE, "CREATE", rows[i].kind,
		      rows[i].write);
		judge(s, ADMISSION_VALIDATE, "UPDATE", rows[i].kind,
		      rows[i].write);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(objects_cost_little,
						stage_setup, stage_teardown),
	};

	return cmocka_run_group_tests_name("admission_amplified", tests, NULL,
					   NULL);
}
