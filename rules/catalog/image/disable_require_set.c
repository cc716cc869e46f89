/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports NVIDIA_DISABLE_REQUIRE, with which the runtime skips the
 * NVIDIA_REQUIRE_* constraints of an image. They are checked only for
 * containers that get GPUs.
 */
#include <string.h>
#include <strings.h>

#include "engine/rule.h"
#include "kube/command/env.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct env_value value =
			container_env_value(c, "NVIDIA_DISABLE_REQUIRE");
		const char *text = value.text;

		if (text && c->gpus.n > 0 &&
		    (!strcmp(text, "1") || !strcasecmp(text, "true")))
			report_container(
				run, c, value.at,
				"`NVIDIA_DISABLE_REQUIRE: %s` lets container `%s` start on drivers that its image excludes",
				text, container_title(c));
	}
}

const struct rule rule_disable_require_set = {
	.name = "disable-require-set",
	.category = "image",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.summary =
		"NVIDIA_DISABLE_REQUIRE disables the check of the driver against the image",
	.why = "An image that is too new for the driver starts anyway and may fail in the middle of its work.",
	.remedy =
		"Remove the variable, and choose an image that the driver of the nodes supports.",
	.evidence =
		"https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html",
	.check_pod = check,
};
