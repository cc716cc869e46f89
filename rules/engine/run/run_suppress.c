/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppresses findings by exemptions of the policy and by the baseline. Comments
 * and annotations are handled in suppress/.
 */
#include "run_internal.h"

/*
 * Returns the state of the exemption that applies. If a local policy exempts a
 * finding that admission denies, the exemption is rejected, which the finding
 * mentions.
 */
static struct policy_exemption effective_exemption(struct run *run,
						   const struct policy *policy,
						   struct finding *f)
{
	const struct policy *floor = policy_floor(policy);
	int64_t today = run->options.today;
	struct policy_exemption found =
		policy_exemption(policy, f->rule, f->check, &f->id, today);

	if (!found.state || !found.local || !finding_is_denied_by(floor, f))
		return found;
	f->ignore_refused = arena_printf(
		&run->file_arena,
		"`%s` is not suppressed: %s exempts it, but admission denies it",
		f->rule->name, found.from);
	f->help =
		arena_printf(&run->file_arena, "%s%s%s", f->ignore_refused,
			     *finding_remedy(f) ? ". " : "", finding_remedy(f));
	return policy_exemption(floor, f->rule, f->check, &f->id, today);
}

bool run_apply_exemptions(struct run *run, const struct policy *policy,
			  struct finding *f)
{
	struct policy_exemption found = effective_exemption(run, policy, f);

	f->exempt_lately = found.state == EXEMPT_GRACE;
	if (f->exempt_lately && f->severity == SEVERITY_ERROR)
		f->severity = SEVERITY_WARNING;
	if (found.state < EXEMPT_ENDING)
		return false;
	f->suppressed = SUPPRESSED_POLICY;
	f->suppression_reason = arena_strdup(&run->file_arena,
					     found.reason ? found.reason : "");
	return true;
}

/* Suppresses a finding that is in the baseline. Must be called after its
 * identity is set and before its fix is applied. */
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
