/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a policy as text: the effective one for `gpugate config`, and the one
 * of `gpugate init`.
 */
#include "policy_internal.h"

#include <string.h>

#include "base/array.h"
#include "engine/policy.h"
#include "rules/engine/rule_word.h"

/*
 * Describes the parts of a policy other than its rules: the targets of
 * overrides and exemptions, and its statements about the cluster.
 */

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

/*
 * The output of `gpugate init`: a policy that sets only a pinned preset, with
 * the other keys as comments. A line of prose starts with `# `, an example
 * directly after the `#`, so that removing the `#` is enough. Examples name
 * only rules of this binary, so that the result is valid.
 */

static const char head[] =
	"# gpugate policy: which rules run here, how severe they are, "
	"and who\n"
	"# is exempt. The linter takes the nearest .gpugate.yaml; the "
	"webhook\n"
	"# reads the same format with --policy.\n"
	"#     gpugate rules            all rules\n"
	"#     gpugate explain RULE     what a rule flags, and its "
	"parameters\n"
	"#     gpugate config PATH      the effective settings for a "
	"path\n"
	"apiVersion: gpugate.dev/v1\n"
	"kind: Policy\n\n"
	"# recommended, strict or all. Pin a version so that rules "
	"added\n"
	"# later only report, and an upgrade never breaks a build.\n";

static const char rules_head[] =
	"\n"
	"# A rule or a category: off, a severity (error, warning, info), or a\n"
	"# map with severity, action (deny, patch, warn, audit, off), params.\n"
	"# Categories:";

static const char tail[] =
	"\n"
	"# The ceiling for every action at admission: audit, warn or "
	"enforce.\n"
	"#mode: audit\n\n"
	"# Where users get help; added to every denial.\n"
	"#contact: \"#gpu-platform\"\n\n"
	"# Admission patches Pods; if true, also their owners on "
	"CREATE, except\n"
	"# objects that Argo CD or Flux manages.\n"
	"#patchOwners: false\n\n"
	"# Pods that a controller creates are patched and audited; "
	"with deny, they\n"
	"# are denied if they take devices that no quota counts (as in "
	"`strict`).\n"
	"#controllerPods: audit\n\n"
	"# Other settings for some objects; the first match wins.\n"
	"#overrides:\n"
	"#- {namespaces: [\"research-*\"], mode: warn, preset: "
	"recommended}\n\n"
	"# The cluster and the namespace that files are for. Files of "
	"different sets\n"
	"# are never compared or added up.\n"
	"#paths:\n"
	"#- {glob: \"clusters/prod/**\", set: prod, namespace: team-x, "
	"preset: strict}\n\n"
	"# Objects that rules skip. A reason is required; an end date "
	"is recommended.\n"
	"#exempt:\n"
	"#- namespaces: [kube-system, \"gpu-operator*\"]\n"
	"#  rules: [all]\n"
	"#  reason: operator pods\n"
	"#  until: 2099-12-31\n\n"
	"# Exact names of the namespaces of device plugins, drivers and "
	"monitoring.\n"
	"# Rules about waste skip their pods, which may see devices.\n"
	"#infrastructure: {namespaces: [kube-system, gpu-operator]}\n\n"
	"# Custom device names and workload kinds.\n"
	"#accelerators: [{name: example.com/gpu, vendor: example}]\n"
	"#kinds:\n"
	"#- {apiVersion: platform.example.com/v1, kind: TrainingRun, "
	"pods: /spec/roles/*/template, replicas: "
	"/spec/roles/*/replicas}\n\n"
	"# Custom rules in CEL: files of kind Rules.\n"
	"#custom: [rules/*.yaml]\n\n"
	"# Facts about the cluster, used without a snapshot. "
	"Without them,\n"
	"# findings that depend on the cluster are infos worded with "
	"\"if\".\n"
	"#platform:\n"
	"#  gpuTaints: [nvidia.com/gpu]\n"
	"#  gpuProducts: [NVIDIA-H100-80GB-HBM3, NVIDIA-L4]\n"
	"#  priorityClasses: [gpu-batch, gpu-serving]\n"
	"#  limitRangeDefaults: false\n"
	"#  deviceInjection: cdi    # or envvar, volume-mounts\n"
	"#  kubernetes: \"1.37\"      # and karpenter: \"1.12\"\n"
	"#operators: {kueue: \"0.17\", kuberay: \"1.6\"}\n\n"
	"# Fields that webhooks of the cluster add to pods: not "
	"reported as missing.\n"
	"#injected:\n"
	"#- namespaces: [\"team-*\"]\n"
	"#  tolerations: [{key: nvidia.com/gpu, operator: Exists}]\n"
	"#  runtimeClassName: nvidia\n\n"
	"# Files that are not linted.\n"
	"#exclude: [\"**/testdata/**\"]\n";

static void write_categories(const struct rule_set *rules, struct buf *out)
{
	const char *last = "";
	size_t column = sizeof("# Categories:");

	/* Repeatedly finds the next name in alphabetical order; there are few
	 * names. */
	for (;;) {
		const char *next = NULL;

		for (size_t i = 0; i < rules->n; i++) {
			const char *category = rules->items[i]->category;

			if (strcmp(category, last) > 0 &&
			    (!next || strcmp(category, next) < 0))
				next = category;
		}
		if (!next)
			break;
		if (column + strlen(next) > 74) {
			buf_adds(out, "\n#");
			column = 1;
		}
		buf_addf(out, " %s", next);
		column += strlen(next) + 1;
		last = next;
	}
	buf_addc(out, '\n');
}

static void write_rules(const struct rule_set *rules, struct buf *out)
{
	static const struct {
		const char *rule, *value;
	} examples[] = {
		{"shm-missing", "{severity: error, action: patch}"},
		{"priority-class-missing", "off"},
	};

	buf_adds(out, rules_head);
	write_categories(rules, out);
	buf_adds(out, "#rules:\n");
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++)
		if (rule_set_find(rules, examples[i].rule) >= 0)
			buf_addf(out, "#  %s: %s\n", examples[i].rule,
				 examples[i].value);
}

/* Sets version to the newest one that added a rule. A pin to it includes all
 * rules. */
static void newest(const struct rule_set *rules, unsigned version[2])
{
	version[0] = 1;
	version[1] = 0;
	for (size_t i = 0; i < rules->n; i++) {
		unsigned since[2];

		if (!version_parse(rule_since(rules->items[i]), since) &&
		    version_is_after(since, version))
			memcpy(version, since, sizeof(since));
	}
}

void policy_write_starter(const struct rule_set *rules, struct buf *out)
{
	unsigned version[2];

	newest(rules, version);
	buf_adds(out, head);
	buf_addf(out, "extends: [recommended@%u.%u]\n", version[0], version[1]);
	write_rules(rules, out);
	buf_adds(out, tail);
}
