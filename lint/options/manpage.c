/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manual pages as roff: gpugate(1) from the tables of commands and options,
 * gpugate-policy(5) from a table of the policy's keys.
 */
#include <string.h>

#include "base/array.h"
#include "cli/options.h"
#include "lint/report/report.h"
#include "lint/term/log.h"
#include "options.h"

struct key {
	const char *name, *type, *help;
};

static const struct key policy_keys[] = {
	{"apiVersion", "text", "Always gpugate.dev/v1."},
	{"kind", "text",
	 "Policy. If --policy names a folder, it may also contain "
	 "files of kind Exemptions, which contain only `namespaces` "
	 "and the `exempt` for these namespaces."},
	{"extends", "list",
	 "The presets: recommended (default), strict, all. "
	 "recommended@1.0 pins a version: newer rules only audit."},
	{"mode", "audit, warn or enforce",
	 "The strongest action at admission for all rules, patches included. "
	 "Default: enforce."},
	{"contact", "text",
	 "A text that says where users get help. It is added to every "
	 "denial."},
	{"patchOwners", "true or false",
	 "If true, admission also patches the owners of Pods when the "
	 "owners are created, except objects that Argo CD or Flux "
	 "manages. Default: false."},
	{"rules", "map",
	 "Settings by rule name, category or `all`: severity (error, "
	 "warning, info), action (deny, patch, warn, audit, off), "
	 "params. The most specific entry wins. Without an action, an "
	 "error denies, a warning warns or is patched if the fix is "
	 "safe, an info is audited."},
	{"accelerators", "list",
	 "Accelerator resources that gpugate does not know: name, vendor."},
	{"kinds", "list",
	 "Custom workload kinds: apiVersion, kind, and pods and "
	 "replicas as JSON pointers in which * stands for any key."},
	{"overrides", "list",
	 "Other settings for some namespaces (namespaces, namespaceLabels): mode, preset, rules. The first match wins."},
	{"paths", "list",
	 "Settings by path glob that manifests cannot contain: set, "
	 "namespace, cluster, preset. Files of different sets are never "
	 "compared or added up. If no set is named, sibling folders that "
	 "contain the same object are separate sets. Globs and cluster (a "
	 "file of gpugate snapshot) are relative to the policy's folder. A "
	 ".gpugate.yaml may only name a snapshot in its own repository "
	 "(outside of a repository: in its folder), after links are resolved; "
	 "a policy given with --config may name any file."},
	{"controllers", "list",
	 "Service accounts whose Pods are patched and audited, never denied."},
	{"infrastructure", "map",
	 "The key namespaces lists exact names. Rules about waste "
	 "skip the pods of these namespaces, which may see devices "
	 "that they do not request. Default: kube-system, "
	 "gpu-operator, nvidia-gpu-operator, nvidia-device-plugin."},
	{"platform", "map",
	 "Facts about the cluster, used if there is no snapshot: gpuTaints, gpuProducts "
	 "and priorityClasses (lists, which may be empty if there are none), "
	 "defaultPriorityClass, limitRangeDefaults (true or false: whether "
	 "LimitRanges give containers cpu and memory), deviceInjection "
	 "(envvar, volume-mounts or cdi: how the device plugin hands over "
	 "devices), kubernetes and karpenter (their versions, such as "
	 "\"1.37\"). A finding that depends on an unknown fact is an info that says \"if\"."},
	{"kubernetesVersion", "version",
	 "The version of Kubernetes, like kubernetes in platform."},
	{"operators", "map",
	 "Versions of operators by name, such as kueue: \"0.17\". The "
	 "names are jobset, kai, kserve, kuberay, kueue, lws, mpi, "
	 "trainer and volcano. A check of a rule about an operator is "
	 "an error if this version has the check, skipped if it does "
	 "not, and a warning if gpugate does not know this version. "
	 "Without a version, checks that only some versions have are "
	 "warnings."},
	{"injected", "list",
	 "Fields that webhooks and mutating policies of the cluster "
	 "add to pods: tolerations, schedulerName, runtimeClassName, "
	 "env, volumes and labels, written as in a pod. The key "
	 "namespaces (globs) limits an item to some namespaces. No "
	 "rule reports these fields as missing or as a problem."},
	{"controllerPods", "audit or deny",
	 "If deny, Pods of controllers are also denied if they use "
	 "devices that the scheduler does not count. Default: deny "
	 "with the preset strict, else audit."},
	{"breakGlass", "map",
	 "The keys groups and annotation. For users in these groups, "
	 "a denial becomes a warning if the object has the "
	 "annotation, whose value names a ticket."},
	{"suppressions", "map",
	 "The key annotations (rules, namespaces, requireReason, "
	 "maxDays) lists the rules that annotations may suppress at "
	 "admission and with `gpugate lint --policy`. Default: none."},
	{"exempt", "list",
	 "Objects that rules skip: namespaces, kinds, names, rules, "
	 "reason, until (the last day of the exemption). In the last "
	 "14 days of an exemption, a warning is given. For 7 days "
	 "after it expires, findings that it exempted only warn. "
	 "After that, it has no effect."},
	{"locked", "list",
	 "Rules, or one check of a rule (RULE/CHECK), that neither comments nor annotations suppress."},
	{"exclude", "list", "Globs of files that are not linted."},
	{"custom", "list",
	 "Files with custom rules, as globs relative to the policy's "
	 "folder (see CUSTOM RULES in gpugate(1)). The files may also "
	 "contain ValidatingAdmissionPolicies with their bindings and "
	 "parameters, and CustomResourceDefinitions with their "
	 "validation rules. In a folder of policy files, rules, "
	 "policies, bindings and definitions are read even if this "
	 "list does not name them."},
	{"maxAge", "duration",
	 "Age above which cluster state is not used, such as 24h. Default: no limit for a snapshot, 15m for the state that the webhook watches."},
};

static void add_header(struct buf *out, const char *title, const char *section,
		       const char *name, const char *summary)
{
	const struct roff_page page = {title, section, name, summary,
				       program_version};

	roff_header(out, &page);
}

static void add_command(struct buf *out, const struct command *c)
{
	buf_addf(out, ".SS gpugate %s %s\n", c->name, c->arguments);
	roff_line(out, c->description);
	roff_options(out, &option_set, c->bit);
}

static void add_rules_files(struct buf *out)
{
	buf_adds(
		out,
		".SH CUSTOM RULES\n"
		"A file that the policy names in `custom:` contains rules in CEL, the language of the API server's admission policies:\n"
		".PP\n.nf\n"
		"apiVersion: gpugate.dev/v1\n"
		"kind: Rules\n"
		"rules:\n"
		"\\- name: site\\-registry\n"
		"  severity: error      # error, warning (default), info\n"
		"  action: deny         # default: by the severity\n"
		"  summary: an image from a foreign registry\n"
		"  params: {hosts: [registry.example.com]}\n"
		"  match: {kinds: [batch/Job], namespaces: [\"ml\\-*\"], "
		"gpus: true}\n"
		"  each: container      # object (default), pod, container\n"
		"  when: has(container.image)\n"
		"  assert: gpugate.image.host in params.hosts\n"
		"  at: container.image  # default: the value that decides\n"
		"  message: \"container.name + ' runs ' + container.image\"\n"
		"  fix: [{set: container.imagePullPolicy, value: "
		"\"'Always'\", safe: false}]\n"
		"  failurePolicy: Fail  # or Ignore: an error is not a "
		"finding\n"
		"  tests: [{file: bad.yaml, want: [12]}]\n"
		".fi\n"
		".PP\n"
		"The keys why, remedy and evidence are optional. Variables: object, oldObject, request, namespaceObject, params, pod, container and gpugate. gpugate has gpus (of the container, the pod, or the largest pod), totalGpus, pods, peakPods and workload (training, serving, batch, service, interactive, ray, daemon, other). For a pod it also has role, resource and spot, and for a container image.host, image.name and image.tag. With a snapshot it has cluster.priorityClasses, cluster.runtimeClasses, cluster.volcanoQueues, cluster.clusterQueues and cluster.nodes. Native kinds have their defaults and canonical "
		"quantities (nvidia.com/gpu: 2 is '2'), as the API server "
		"sends them; custom resources are read as written. A rule that depends on something unknown (a placeholder, the cluster without a snapshot, a named time zone; in files, the old object and the user) reports nothing, and the summary counts this.\n");
}

static void add_formats(struct buf *out)
{
	buf_adds(out, ".SH FORMATS\n");
	for (size_t i = 0; i < report_formats_count; i++) {
		buf_addf(out, ".TP\n\\fB%s\\fR\n", report_formats[i]->name);
		roff_line(out, report_formats[i]->help);
	}
}

static void add_program(struct buf *out)
{
	add_header(out, "GPUGATE", "1", "gpugate",
		   "check manifests of GPU workloads on Kubernetes");
	buf_adds(out, ".SH SYNOPSIS\n");
	for (size_t i = 0; i < command_list.n; i++)
		if (!command_list.items[i].internal)
			buf_addf(out, ".B gpugate %s\n%s\n.br\n",
				 command_list.items[i].name,
				 command_list.items[i].arguments);
	buf_adds(out, ".SH COMMANDS\n");
	for (size_t i = 0; i < command_list.n; i++)
		if (!command_list.items[i].internal)
			add_command(out, &command_list.items[i]);
	add_formats(out);
	add_rules_files(out);
	buf_adds(
		out,
		".SH SUPPRESSION\nA comment on the line of a finding or on "
		"the line above:\n.PP\n# gpugate: ignore[RULE] "
		"until=YYYY\\-MM\\-DD \\-\\- reason\n.PP\nFor a whole file: "
		"# gpugate: ignore\\-file[RULE] \\-\\- reason. On an object "
		"or a template in it: the annotations\ngpugate.dev/ignore, "
		"gpugate.dev/ignore\\-reason and "
		"gpugate.dev/ignore\\-until.\n.SH SECRETS\nValues of tokens, "
		"keys and passwords are masked in all output, whichever "
		"rules run: hf_**** or ****. A diff with a masked line "
		"cannot be applied. A fix whose text contains such a value "
		"is omitted from the formats from which programs apply "
		"fixes.\n.SH EXIT STATUS\n.TP\n0\nnothing at or above "
		"\\-\\-fail\\-on is left\n.TP\n1\nfindings at or above "
		"\\-\\-fail\\-on are left, \\-\\-diff shows changes, or a "
		"file was fixed with "
		"\\-\\-exit\\-non\\-zero\\-on\\-fix\n.TP\n2\nwrong usage, an "
		"invalid policy, an input that cannot be read, or an "
		"internal error (findings are still printed)\n.SH "
		"ENVIRONMENT\nEvery option can be given as a variable, which "
		"the command line overrides. Items of lists are separated by commas (in\nGPUGATE_FORMAT, GPUGATE_EXCLUDE, GPUGATE_ADMISSION_POLICY and\nGPUGATE_AS_GROUP by blanks); "
		"flags are 1 or 0.\nNO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, "
		"CLICOLOR and TERM are honored in this order. TMPDIR is "
		"where kustomizations and charts are built.\n.SH "
		"FILES\n.TP\n\\&.gpugate.yaml\nthe policy of the files in "
		"and below its folder; see\n.BR gpugate\\-policy (5)\n.SH "
		"LIMITS\nA manifest has at most 64 MiB, a file of a policy 1 "
		"MiB, a cluster snapshot or a baseline 256 MiB. Manifests that are named on the command line and the files of --cluster, --config, --policy, --baseline and --admission-policy may be pipes. All other files must be regular.\n.SH SEE ALSO\n.BR "
		"gpugate\\-policy (5)\n");
}

static void add_policy(struct buf *out)
{
	add_header(out, "GPUGATE-POLICY", "5", "gpugate-policy",
		   "policy file of gpugate");
	buf_adds(out, ".SH DESCRIPTION\n");
	roff_line(out,
		  "A policy selects the rules that run, and sets the severity "
		  "of findings, the action of the webhook and the exemptions. "
		  "The linter takes the nearest .gpugate.yaml in or above the "
		  "folder of each file, or the file given with --config. An "
		  "unknown key is an error.");
	buf_adds(out, ".SH KEYS\n");
	for (size_t i = 0; i < ARRAY_SIZE(policy_keys); i++) {
		buf_addf(out, ".TP\n\\fB%s\\fR (%s)\n", policy_keys[i].name,
			 policy_keys[i].type);
		roff_line(out, policy_keys[i].help);
	}
	buf_adds(out, ".SH EXAMPLE\n"
		      ".nf\n"
		      "apiVersion: gpugate.dev/v1\n"
		      "kind: Policy\n"
		      "extends: [recommended]\n"
		      "rules:\n"
		      "  shm\\-missing: {severity: error, params: {size: "
		      "16Gi}}\n"
		      "exclude: [\"**/testdata/**\"]\n"
		      ".fi\n"
		      ".SH SEE ALSO\n.BR gpugate (1)\n");
}

int manpage_command(struct options *options)
{
	const char *section =
		options->paths.n == 1 ? options->paths.items[0] : "";
	struct buf out;

	if (strcmp(section, "1") != 0 && strcmp(section, "5") != 0)
		return log_usage("manpage", "manpage needs a section: 1 or 5");
	buf_init(&out);
	if (*section == '1')
		add_program(&out);
	else
		add_policy(&out);
	return print_out(&out);
}
