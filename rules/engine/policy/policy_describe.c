/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes the parts of a policy other than its rules: the targets of
 * overrides and exemptions, and its statements about the cluster.
 */
#include "policy_internal.h"
#include "rules/engine/date.h"

static void add_patterns(struct buf *out, const char *name,
			 const struct patterns *patterns)
{
	for (size_t i = 0; i < patterns->n; i++)
		buf_addf(out, "%s%s%s", i ? "," : name, i ? "" : "=",
			 patterns->items[i].text);
	buf_adds(out, patterns->n ? " " : "");
}

static void add_labels(struct buf *out, const char *name,
		       const struct label_wants *wants)
{
	for (size_t i = 0; i < wants->n; i++)
		buf_addf(out, "%s%s%s=%s", i ? "," : name, i ? "" : "=",
			 wants->items[i].key, wants->items[i].value);
	buf_adds(out, wants->n ? " " : "");
}

static const char *word_of(const struct rule_word *word)
{
	return word->scope == SCOPE_RULE       ? word->rule->name
	       : word->scope == SCOPE_CATEGORY ? word->category
					       : "all";
}

static void add_override(struct buf *out, const struct policy_override *o)
{
	static const char *const modes[] = {[MODE_AUDIT] = "audit",
					    [MODE_WARN] = "warn",
					    [MODE_ENFORCE] = "enforce"};

	buf_adds(out, "override: ");
	add_patterns(out, "namespaces", &o->namespaces);
	add_labels(out, "namespaceLabels", &o->namespace_labels);
	add_labels(out, "labels", &o->labels);
	add_patterns(out, "kinds", &o->kinds);
	buf_adds(out, "->");
	if (o->has_mode)
		buf_addf(out, " mode=%s", modes[o->mode]);
	if (o->has_preset)
		buf_addf(out, " preset=%s", o->preset.name);
	for (size_t i = 0; i < o->rules.n; i++)
		buf_addf(out, "%s%s",
			 i ? "," : " rules=", word_of(&o->rules.items[i].word));
	buf_addf(out, "  %s\n", o->from);
}

static void add_exemption(struct buf *out, const struct policy *policy,
			  const struct exemption *e)
{
	const struct rule_set *rules =
		(policy->floor ? policy->floor : policy)->rules;
	char day[DATE_TEXT];
	size_t n = 0;

	buf_adds(out, "exemption: ");
	add_patterns(out, "namespaces", &e->namespaces);
	add_patterns(out, "kinds", &e->kinds);
	add_patterns(out, "names", &e->names);
	buf_adds(out, "->");
	for (size_t i = 0; i < rules->n; i++)
		n += e->rules && e->rules[i];
	for (size_t i = 0; n != rules->n && i < rules->n; i++)
		if (e->rules && e->rules[i])
			buf_addf(out, " %s", rules->items[i]->name);
	buf_adds(out, n == rules->n ? " all" : "");
	for (size_t i = 0; i < e->nchecks; i++)
		buf_addf(out, " %s/%s", e->checks[i].rule->name,
			 e->checks[i].check->id);
	if (e->until != DATE_NONE)
		buf_addf(out, " until %s", date_text(e->until, day));
	buf_addf(out, ": %s  %s\n", e->reason, e->from);
}

static void add_list(struct buf *out, const char *name,
		     const char *const *items)
{
	if (!items)
		return;
	buf_addf(out, "%s:%s", name, *items ? "" : " none");
	for (; *items; items++)
		buf_addf(out, " %s", *items);
	buf_addc(out, '\n');
}

void policy_describe(const struct policy *policy, struct buf *out)
{
	static const char *const injections[] = {[INJECTION_ENVVAR] = "envvar",
						 [INJECTION_VOLUME_MOUNTS] =
							 "volume-mounts",
						 [INJECTION_CDI] = "cdi"};
	const struct platform *platform = &policy->platform;

	for (size_t i = 0; i < policy->noverrides; i++)
		add_override(out, &policy->overrides[i]);
	for (size_t i = 0; i < policy->nexemptions; i++)
		add_exemption(out, policy, &policy->exemptions[i]);
	add_list(out, "infrastructure",
		 (const char *const *)policy->infrastructure.items);
	add_list(out, "platform, GPU taints", platform->gpu_taints);
	add_list(out, "platform, GPU products", platform->gpu_products);
	add_list(out, "platform, priority classes", platform->priority_classes);
	if (platform->injection)
		buf_addf(out, "platform, device injection: %s\n",
			 injections[platform->injection]);
}
