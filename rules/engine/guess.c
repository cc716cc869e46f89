/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings that rest on a guess where the rule as a whole does not. A preset
 * may deny by the rule, but nobody's pod is refused for what its image's name
 * suggests; who writes `action: deny` into a policy has decided otherwise.
 */
#include "base/text.h"
#include "state.h"

void finding_guess(struct rule_run *run, struct finding *finding)
{
	if (finding->action > ACTION_WARN &&
	    text_starts(run->setting->from, "preset "))
		finding->action = ACTION_WARN;
}
