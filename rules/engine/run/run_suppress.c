/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppression of findings by exemptions of the policy and by the baseline.
 * Comments and annotations are in suppress/.
 */
#include "run_internal.h"

bool run_apply_exemptions(struct run *run, const struct policy *policy,
			  struct finding *f)
{
	struct policy_exemption found = {0};
	enum exempt_state state = policy_exemption(policy, f->rule, &f->id,
						   run->options.today, &found);

	f->exempt_lately = state == EXEMPT_GRACE;
	if (f->exempt_lately && f->severity == SEVERITY_ERROR)
		f->severity = SEVERITY_WARNING;
	if (state < EXEMPT_ENDING)
		return false;
	f->suppressed = SUPPRESSED_POLICY;
	f->suppression_reason = arena_strdup(&run->file_arena,
					     found.reason ? found.reason : "");
	return true;
}

/* Called when the identity of the finding is known, but before it is fixed. */
void run_apply_baseline(struct run *run, struct finding *f)
{
	if (!f->fingerprint)
		f->fingerprint = finding_fingerprint(f);
	if (f->suppressed || !run->options.baseline ||
	    !baseline_has(run->options.baseline, f))
		return;
	f->suppressed = SUPPRESSED_BASELINE;
	f->suppression_reason = "in the baseline";
}
