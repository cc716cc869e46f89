/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster's admission policies from --admission-policy, and the requesting
 * user from --as and --as-group.
 */
#ifndef LINT_ADMISSION_H
#define LINT_ADMISSION_H

#include "base/arena.h"
#include "engine/run.h"
#include "lint/options/options.h"

struct admission_settings {
	struct arena arena;
	struct admission_policies *set; /* NULL: the option is not given */
	/* Namespaces in the linted files, or NULL. */
	struct admission_policies *namespaces;
	const char *const *groups;
};

/* Reads the policies and the user. Returns 0, or 2 after messages. */
int admission_settings_open(struct admission_settings *settings,
			    const struct options *options);
/* Compiles the policies, if there are any. Returns 0, or 2 after messages. */
int admission_settings_finish(struct admission_settings *settings,
			      const struct options *options);
void admission_settings_release(struct admission_settings *settings);

#endif
