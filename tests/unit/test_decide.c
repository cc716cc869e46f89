/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of a rule's action in the context of a request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "webhook/admission/decide.h"

enum what {
	NOTHING = 0,
	MUTATE = 1,
	POD = 2,
	PATCHABLE = 4,
	UPDATE = 8,
	LENIENT = 16,
	GREW = 32,
	CONTROLLED = 64,
	TICKET = 128,
	/* the old object would be denied for the same finding */
	FORGIVEN = 256,
	REPAIR = 512,
	UNSAFE = 1024, /* the finding has a fix that is not safe */
	SUPPRESSED = 2048,
	ERROR = 4096,		/* severity error; else warning */
	LATELY = 8192,		/* the exemption expired some days ago */
	OF_CONTROLLERS = 16384, /* controllerPods of the policy is `deny` */
	FELL = 32768,
	HAD = 65536, /* the old object would be denied for the rule */
};

struct decide_case {
	enum action action;
	enum mode mode;
	unsigned what;
	enum outcome outcome, would;
};

static const struct rule safe_rule = {
	.name = "shm-missing",
	.flags = RULE_SAFE_PATCH,
};

static struct decision ask(const struct decide_case *row)
{
	struct request_context c = {
		.mutate = row->what & MUTATE,
		.pod = row->what & POD,
		.patchable = row->what & PATCHABLE,
		.update = row->what & UPDATE,
		.lenient = row->what & LENIENT,
		.demand_grew = row->what & GREW,
		.demand_fell = row->what & FELL,
		.controlled = row->what & CONTROLLED,
		.ticket = row->what & TICKET ? "INC-1" : NULL,
	};
	struct finding f = {
		.rule = &safe_rule,
		.action = row->action,
		.severity =
			row->what & ERROR ? SEVERITY_ERROR : SEVERITY_WARNING,
		.mode = row->mode,
		.had_before = row->what & HAD,
		.fingerprint = 42,
		.pod = "",
		.container = "",
		.message = "",
		.fix_title = row->what & (REPAIR | UNSAFE) ? "mend" : NULL,
		.fix_safe = !(row->what & UNSAFE),
		.suppressed = row->what & SUPPRESSED ? SUPPRESSED_POLICY
						     : SUPPRESSED_NOT,
		.exempt_lately = row->what & LATELY,
		.forgiven = row->what & FORGIVEN,
		.controller_pods = row->what & OF_CONTROLLERS,
		.id = {"v1", "Pod", "ml", "a"},
	};

	return decide(&c, &f);
}

static const struct decide_case cases[] = {
	/* the plain actions in each mode */
	{ACTION_DENY, MODE_ENFORCE, POD, OUTCOME_DENY, OUTCOME_DENY},
	{ACTION_DENY, MODE_WARN, POD, OUTCOME_WARN, OUTCOME_DENY},
	{ACTION_DENY, MODE_AUDIT, POD, OUTCOME_AUDIT, OUTCOME_DENY},
	{ACTION_WARN, MODE_ENFORCE, POD, OUTCOME_WARN, OUTCOME_WARN},
	{ACTION_WARN, MODE_AUDIT, POD, OUTCOME_AUDIT, OUTCOME_WARN},
	{ACTION_AUDIT, MODE_ENFORCE, POD, OUTCOME_AUDIT, OUTCOME_AUDIT},
	{ACTION_OFF, MODE_ENFORCE, POD, OUTCOME_NONE, OUTCOME_NONE},
	{ACTION_DENY, MODE_ENFORCE, POD | SUPPRESSED, OUTCOME_NONE,
	 OUTCOME_NONE},
	/* /mutate applies patches; /validate decides all other findings */
	{ACTION_DENY, MODE_ENFORCE, MUTATE | POD | PATCHABLE, OUTCOME_NONE,
	 OUTCOME_NONE},
	{ACTION_WARN, MODE_ENFORCE, MUTATE | POD | PATCHABLE, OUTCOME_NONE,
	 OUTCOME_NONE},
	{ACTION_PATCH, MODE_ENFORCE, MUTATE | POD | PATCHABLE | REPAIR,
	 OUTCOME_PATCH, OUTCOME_PATCH},
	{ACTION_PATCH, MODE_WARN, MUTATE | POD | PATCHABLE | REPAIR,
	 OUTCOME_AUDIT, OUTCOME_PATCH},
	{ACTION_PATCH, MODE_AUDIT, MUTATE | POD | PATCHABLE | REPAIR,
	 OUTCOME_AUDIT, OUTCOME_PATCH},
	{ACTION_PATCH, MODE_ENFORCE, MUTATE | POD | PATCHABLE, OUTCOME_NONE,
	 OUTCOME_NONE},
	{ACTION_PATCH, MODE_ENFORCE, MUTATE | POD | PATCHABLE | UNSAFE,
	 OUTCOME_NONE, OUTCOME_NONE},
	{ACTION_PATCH, MODE_ENFORCE, MUTATE | REPAIR, OUTCOME_NONE,
	 OUTCOME_NONE},
	/* findings that remain after a patch, at /validate: severity decides */
	{ACTION_PATCH, MODE_ENFORCE, POD | PATCHABLE | REPAIR | ERROR,
	 OUTCOME_DENY, OUTCOME_DENY},
	{ACTION_PATCH, MODE_ENFORCE, POD | PATCHABLE | REPAIR, OUTCOME_WARN,
	 OUTCOME_WARN},
	{ACTION_PATCH, MODE_ENFORCE, POD | PATCHABLE | ERROR, OUTCOME_DENY,
	 OUTCOME_DENY},
	{ACTION_PATCH, MODE_AUDIT, POD | PATCHABLE | REPAIR | ERROR,
	 OUTCOME_AUDIT, OUTCOME_PATCH},
	{ACTION_PATCH, MODE_WARN, POD | PATCHABLE | REPAIR | ERROR,
	 OUTCOME_WARN, OUTCOME_PATCH},
	/* an owner's Pods are patched when they are created */
	{ACTION_PATCH, MODE_ENFORCE, REPAIR | ERROR, OUTCOME_WARN,
	 OUTCOME_WARN},
	{ACTION_PATCH, MODE_ENFORCE, ERROR, OUTCOME_DENY, OUTCOME_DENY},
	/* the owner itself is patched, if the policy allows it */
	{ACTION_PATCH, MODE_ENFORCE, MUTATE | PATCHABLE | REPAIR, OUTCOME_PATCH,
	 OUTCOME_PATCH},
	{ACTION_PATCH, MODE_AUDIT, MUTATE | PATCHABLE | REPAIR, OUTCOME_AUDIT,
	 OUTCOME_PATCH},
	/* An UPDATE may keep findings of the old object. */
	{ACTION_DENY, MODE_ENFORCE, UPDATE, OUTCOME_DENY, OUTCOME_DENY},
	{ACTION_DENY, MODE_ENFORCE, UPDATE | FORGIVEN, OUTCOME_WARN,
	 OUTCOME_WARN},
	{ACTION_DENY, MODE_ENFORCE, UPDATE | FORGIVEN | GREW, OUTCOME_DENY,
	 OUTCOME_DENY},
	{ACTION_DENY, MODE_ENFORCE, FORGIVEN, OUTCOME_DENY, OUTCOME_DENY},
	{ACTION_DENY, MODE_ENFORCE, UPDATE | LENIENT, OUTCOME_WARN,
	 OUTCOME_WARN},
	{ACTION_DENY, MODE_ENFORCE, UPDATE | FELL, OUTCOME_DENY, OUTCOME_DENY},
	{ACTION_DENY, MODE_ENFORCE, UPDATE | HAD, OUTCOME_DENY, OUTCOME_DENY},
	{ACTION_DENY, MODE_ENFORCE, UPDATE | FELL | HAD, OUTCOME_WARN,
	 OUTCOME_WARN},
	{ACTION_DENY, MODE_ENFORCE, UPDATE | LENIENT | GREW, OUTCOME_WARN,
	 OUTCOME_WARN},
	/* a controller's Pod is never denied, and controllers read no
	 * warnings */
	{ACTION_DENY, MODE_ENFORCE, POD | CONTROLLED, OUTCOME_AUDIT,
	 OUTCOME_AUDIT},
	{ACTION_WARN, MODE_ENFORCE, POD | CONTROLLED, OUTCOME_AUDIT,
	 OUTCOME_AUDIT},
	/* uncounted devices are denied with controllerPods: deny */
	{ACTION_DENY, MODE_ENFORCE, POD | CONTROLLED | OF_CONTROLLERS,
	 OUTCOME_DENY, OUTCOME_DENY},
	{ACTION_DENY, MODE_AUDIT, POD | CONTROLLED | OF_CONTROLLERS,
	 OUTCOME_AUDIT, OUTCOME_DENY},
	{ACTION_WARN, MODE_ENFORCE, POD | CONTROLLED | OF_CONTROLLERS,
	 OUTCOME_AUDIT, OUTCOME_AUDIT},
	{ACTION_PATCH, MODE_ENFORCE,
	 MUTATE | POD | PATCHABLE | REPAIR | CONTROLLED, OUTCOME_PATCH,
	 OUTCOME_PATCH},
	/* an exemption that has expired warns for a week */
	{ACTION_DENY, MODE_ENFORCE, POD | LATELY, OUTCOME_WARN, OUTCOME_WARN},
	{ACTION_PATCH, MODE_ENFORCE, MUTATE | POD | PATCHABLE | REPAIR | LATELY,
	 OUTCOME_NONE, OUTCOME_NONE},
	{ACTION_PATCH, MODE_ENFORCE, POD | PATCHABLE | REPAIR | ERROR | LATELY,
	 OUTCOME_WARN, OUTCOME_WARN},
	{ACTION_PATCH, MODE_AUDIT, POD | PATCHABLE | REPAIR | LATELY,
	 OUTCOME_AUDIT, OUTCOME_WARN},
	{ACTION_AUDIT, MODE_ENFORCE, POD | LATELY, OUTCOME_AUDIT,
	 OUTCOME_AUDIT},
	/* break-glass */
	{ACTION_DENY, MODE_ENFORCE, POD | TICKET, OUTCOME_WARN, OUTCOME_WARN},
	{ACTION_AUDIT, MODE_ENFORCE, POD | TICKET, OUTCOME_AUDIT,
	 OUTCOME_AUDIT},
};

static void policy_and_mode_decide_as_the_table_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct decision d = ask(&cases[i]);

		if (d.outcome != cases[i].outcome || d.would != cases[i].would)
			fail_msg("case %zu: %s, would %s", i,
				 outcome_name(d.outcome),
				 outcome_name(d.would));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policy_and_mode_decide_as_the_table_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
