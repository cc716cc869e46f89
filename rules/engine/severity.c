/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words for severities and actions, in the order of their enums. Users write
 * these words, so they must not change.
 */
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "engine/finding.h"

static const char *const severities[] = {"info", "warning", "error"};
static const char *const actions[] = {"off", "audit", "warn", "patch", "deny"};

static int word_index(const char *const *words, size_t n, const char *text)
{
	for (size_t i = 0; text && i < n; i++)
		if (strcmp(words[i], text) == 0)
			return (int)i;
	return -1;
}

const char *severity_name(enum severity severity)
{
	if ((size_t)severity >= ARRAY_SIZE(severities))
		BUG("severity %d", (int)severity);
	return severities[severity];
}

const char *action_name(enum action action)
{
	if ((size_t)action >= ARRAY_SIZE(actions))
		BUG("action %d", (int)action);
	return actions[action];
}

enum action rule_action(const struct rule *rule, enum severity severity)
{
	if (severity == SEVERITY_INFO || rule->flags & RULE_PREVIEW)
		return ACTION_AUDIT;
	if (rule->flags & RULE_SAFE_PATCH &&
	    !(rule->flags & (RULE_TAKES | RULE_OPT_IN_PATCH)))
		return ACTION_PATCH;
	return severity == SEVERITY_ERROR ? ACTION_DENY : ACTION_WARN;
}

bool severity_parse(const char *text, enum severity *out)
{
	int i = word_index(severities, ARRAY_SIZE(severities), text);

	if (i >= 0)
		*out = (enum severity)i;
	return i >= 0;
}

bool action_parse(const char *text, enum action *out)
{
	int i = word_index(actions, ARRAY_SIZE(actions), text);

	if (i >= 0)
		*out = (enum action)i;
	return i >= 0;
}
