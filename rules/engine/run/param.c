/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with which rules read the parameters that the policy sets. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "run_internal.h"

static unsigned param_index(const struct rule *rule, const char *name)
{
	unsigned i = 0;

	for (; rule->params && rule->params[i].name; i++)
		if (rule->params[i].name ==
			    name || /* both may be the same literal */
		    !strcmp(rule->params[i].name, name))
			return i;
	BUG("rule %s declares no parameter %s", rule->name, name);
}

const char *rule_param(struct rule_run *rr, const char *name)
{
	unsigned i = param_index(rr->rule, name);
	const char *const *values = rr->setting->params;

	return values && values[i] ? values[i] : rr->rule->params[i].value;
}

int64_t rule_param_int(struct rule_run *rr, const char *name)
{
	return strtoll(rule_param(rr, name), NULL, 10);
}

struct quantity rule_param_quantity(struct rule_run *rr, const char *name)
{
	const char *text = rule_param(rr, name);
	struct quantity q = quantity_from(0);

	if (*text && !quantity_parse(text, strlen(text), &q))
		BUG("parameter %s is not a quantity: %s", name, text);
	return q;
}

bool rule_param_given(struct rule_run *rr, const char *name)
{
	return *rule_param(rr, name) != '\0';
}

bool finding_param_given(struct rule_run *rr, struct finding *f,
			 const char *name)
{
	if (rule_param_given(rr, name))
		return true;
	/* A manifest inside of a string cannot be fixed (fix.c). */
	if (!rr->object || !rr->object->doc->host)
		f->wants = arena_printf(&rr->run->file_arena, "%s%s%s: ...",
					f->wants, *f->wants ? ", " : "", name);
	return false;
}
