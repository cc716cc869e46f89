/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions Runner Controller: counts the pods of a set of runners. A set runs
 * GitHub Actions jobs, with one pod for each waiting job.
 *
 * Source: actions-runner-controller apis/actions.github.com/v1alpha1
 * autoscalingrunnerset_types.go (minRunners 0, maxRunners unlimited by
 * default).
 */
#include "rules/kube/operator.h"

COUNT_FORMULA(runners_max)
{
	struct amount most = amount_field(at, "maxRunners", 0);

	if (field_is_set(at, "maxRunners"))
		return most;
	most = amount_field(at, "minRunners", 0);
	most.unknown = true;
	return most;
}

const struct workload_operator operator_runners = {0};
