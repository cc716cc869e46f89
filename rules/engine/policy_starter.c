/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `gpugate init` writes: a policy that changes nothing but the pin,
 * with the other keys as comments: prose has a blank behind its `#`, examples
 * have none (two, where they are indented). Examples name only rules that
 * this binary has, so that taking off a `#` never makes a broken file.
 */
#include <string.h>

#include "engine/policy.h"
#include "policy_internal.h"

static const char head[] =
	"# gpugate policy: which rules run here, how severe they are, and who\n"
	"# is exempt. The linter takes the nearest .gpugate.yaml; the webhook\n"
	"# reads the same format with --policy.\n"
	"#     gpugate rules            the catalogue\n"
	"#     gpugate explain RULE     what a rule wants, and its parameters\n"
	"#     gpugate config PATH      the settings in force for a path\n"
	"apiVersion: gpugate.dev/v1\n"
	"kind: Policy\n"
	"\n"
	"# recommended, strict or all. With a version, rules that are newer\n"
	"# only audit: an upgrade turns no build red.\n";

static const char rules_head[] =
	"\n"
	"# A rule or a category: off, a severity (error, warning, info), or a\n"
	"# map with severity, action (deny, patch, warn, audit, off), params.\n"
	"# Categories:";

static const char tail[] =
	"\n"
	"# The ceiling for every action at the door: audit, warn or enforce.\n"
	"#mode: audit\n"
	"\n"
	"# Ends every denial: whom to ask.\n"
	"#contact: \"#gpu-platform\"\n"
	"\n"
	"# The door repairs Pods; true: also what makes them, when it is created,\n"
	"# but nothing that Argo CD or Flux keeps.\n"
	"#patchOwners: false\n"
	"\n"
	"# Pods that a controller makes are patched and audited; deny: denied\n"
	"# where they take devices that nobody counts (`strict` does).\n"
	"#controllerPods: audit\n"
	"\n"
	"# Other settings for some objects; the first match wins.\n"
	"#overrides:\n"
	"#- {namespaces: [\"research-*\"], mode: warn, preset: recommended}\n"
	"\n"
	"# What files cannot say: the namespace they are applied to.\n"
	"#paths:\n"
	"#- {glob: \"clusters/prod/**\", namespace: team-x, preset: strict}\n"
	"\n"
	"# Left alone, with a reason and, better, an end.\n"
	"#exempt:\n"
	"#- namespaces: [kube-system, \"gpu-operator*\"]\n"
	"#  rules: [all]\n"
	"#  reason: operator pods\n"
	"#  until: 2099-12-31\n"
	"\n"
	"# Namespaces of device plugins, drivers and monitoring: rules about waste\n"
	"# leave them out, and their pods may see devices. Exact names.\n"
	"#infrastructure: {namespaces: [kube-system, gpu-operator]}\n"
	"\n"
	"# Device names and workload kinds of your own.\n"
	"#accelerators: [{name: example.com/gpu, vendor: example}]\n"
	"#kinds:\n"
	"#- {apiVersion: platform.example.com/v1, kind: TrainingRun, "
	"pods: /spec/roles/*/template, replicas: /spec/roles/*/replicas}\n"
	"\n"
	"# Files that are not linted.\n"
	"#exclude: [\"**/testdata/**\"]\n";

static void write_categories(const struct rule_set *rules, struct buf *out)
{
	const char *last = "";
	size_t column = sizeof("# Categories:");

	/* By name, without repeats; few enough to search each time. */
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
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		if (rule_set_find(rules, examples[i].rule) >= 0)
			buf_addf(out, "#  %s: %s\n", examples[i].rule,
				 examples[i].value);
}

/* The newest version that a rule came with: what "now" is to a pin. */
static void newest(const struct rule_set *rules, unsigned version[2])
{
	version[0] = 1;
	version[1] = 0;
	for (size_t i = 0; i < rules->n; i++) {
		unsigned since[2];

		if (!version_parse(rules->items[i]->since, since) &&
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
