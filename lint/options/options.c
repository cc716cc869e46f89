/* SPDX-License-Identifier: Apache-2.0 */
/* The options of gpugate, the rules for combining them, and the help. */
#include "options.h"

#include <stdint.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "lint/term/log.h"
#include "lint/term/program.h"

#define AT(member) offsetof(struct options, member)

static const struct option table[] = {
	{"format", 0, OPTION_LIST, FOR_LINT, AT(formats), "FMT[:FILE]", NULL,
	 .help = "Write the report in this format, to FILE or standard "
		 "output; may be repeated. The formats are full (default), "
		 "concise, json, jsonl, sarif, junit, github, gitlab, rdjson, "
		 "markdown, html, openreports."},
	{"format", 0, OPTION_TEXT, FOR_EXPLAIN, AT(rules_format), "FMT",
	 "text json markdown",
	 .help = "The format: text (default), json or markdown."},
	{"format", 0, OPTION_TEXT, FOR_RULES, AT(rules_format), "FMT",
	 "text json markdown vap",
	 .help = "The format: text (default), json, markdown or vap (the "
		 "policy's custom rules as ValidatingAdmissionPolicies with "
		 "their bindings)."},
	{"format", 0, OPTION_TEXT, FOR_QUOTA, AT(quota_format), "FMT",
	 "text json markdown html",
	 .help = "The format: text (default), json, markdown or html (a map "
		 "of namespaces and resources, and the table)."},
	{"format", 0, OPTION_TEXT, FOR_TEST, AT(rules_format), "FMT",
	 "text junit", .help = "The format: text (default) or junit."},
	{"select", 0, OPTION_WORDS,
	 FOR_LINT | FOR_LSP | FOR_CONFIG | FOR_FILTERS, AT(select), "RULES",
	 NULL,
	 .help = "Run only these rules: names, categories or `all`, separated "
		 "by commas."},
	{"extend-select", 0, OPTION_WORDS,
	 FOR_LINT | FOR_LSP | FOR_CONFIG | FOR_FILTERS, AT(extend), "RULES",
	 NULL, .help = "Run these rules as well."},
	{"ignore", 0, OPTION_WORDS,
	 FOR_LINT | FOR_LSP | FOR_CONFIG | FOR_FILTERS, AT(ignore), "RULES",
	 NULL, .help = "Do not run these rules; invalid-syntax always runs."},
	{"fail-on", 0, OPTION_TEXT, FOR_LINT | FOR_FILTERS, AT(fail_on),
	 "SEVERITY", "error warning info never",
	 .help = "Exit with 1 when a finding at or above this severity remains: "
		 "error (default), warning, info or never."},
	{"fail-on", 0, OPTION_TEXT, FOR_QUOTA, AT(fail_on), "SEVERITY",
	 "error warning info never",
	 .help = "Exit with 1 when a quota is exceeded: at steady state "
		 "(error), or at steady state or the peak (warning, info). "
		 "Default: never."},
	{"config", 0, OPTION_TEXT,
	 FOR_LINT | FOR_LSP | FOR_CONFIG | FOR_FILTERS | FOR_QUOTA |
		 FOR_EXPLAIN | FOR_RULES,
	 AT(config), "FILE", NULL,
	 .help = "Use this policy file instead of the nearest .gpugate.yaml."},
	{"isolated", 0, OPTION_FLAG,
	 FOR_LINT | FOR_LSP | FOR_CONFIG | FOR_FILTERS | FOR_QUOTA |
		 FOR_EXPLAIN | FOR_RULES,
	 AT(isolated), NULL, NULL, .help = "Do not look for a .gpugate.yaml."},
	{"policy", 0, OPTION_TEXT,
	 FOR_LINT | FOR_LSP | FOR_CONFIG | FOR_FILTERS | FOR_QUOTA, AT(policy),
	 "FILE", NULL,
	 .help = "Use the cluster's policy, or a snapshot that contains this "
		 "policy, as a minimum: local files may only tighten it or "
		 "exempt rules that are not locked. Annotations suppress a "
		 "finding only if the policy's suppressions allow it, and "
		 "comments only if the policy does not deny the finding."},
	{"preset", 0, OPTION_TEXT,
	 FOR_LINT | FOR_LSP | FOR_CONFIG | FOR_FILTERS | FOR_QUOTA, AT(preset),
	 "NAME", "recommended strict all",
	 .help = "The preset of rules: recommended (default), strict or all."},
	{"namespace", 'n', OPTION_TEXT, FOR_LSP | FOR_FILTERS, AT(namespace),
	 "NS", NULL, .help = "The namespace of objects that set none."},
	{"namespace", 'n', OPTION_TEXT, FOR_LINT, AT(namespace), "NS", NULL,
	 .help = "The namespace of objects that set none; for objects of a "
		 "cluster, the only namespace that is checked."},
	{"namespace", 'n', OPTION_TEXT, FOR_QUOTA, AT(namespace), "NS", NULL,
	 .help = "The namespace of objects that set none, and the only "
		 "namespace that is shown, with all its quotas."},
	{"all-namespaces", 'A', OPTION_FLAG, FOR_LINT, AT(all_namespaces), NULL,
	 NULL,
	 .help = "Lint the objects in all namespaces of kubectl's current "
		 "cluster."},
	{"all-namespaces", 'A', OPTION_FLAG, FOR_SNAPSHOT, AT(all_namespaces),
	 NULL, NULL, .help = "Read all namespaces (the default)."},
	{"all-namespaces", 'A', OPTION_FLAG, FOR_QUOTA, AT(all_namespaces),
	 NULL, NULL,
	 .help = "Show the quotas of all namespaces of the cluster snapshot, "
		 "including what is free where no manifest requests anything."},
	{"cluster", 0, OPTION_TEXT, FOR_LSP | FOR_FILTERS, AT(cluster), "FILE",
	 NULL,
	 .help = "A cluster snapshot (quotas, classes, nodes, queues, admission "
		 "policies), as written by `gpugate snapshot`, at most 256 "
		 "MiB."},
	{"cluster", 0, OPTION_TEXT, FOR_LINT | FOR_QUOTA | FOR_TEST,
	 AT(cluster), "FILE", NULL,
	 .help = "A cluster snapshot (quotas, classes, nodes, queues, admission "
		 "policies), as written by `gpugate snapshot`, at most 256 "
		 "MiB. Use - for standard input."},
	{"admission-policy", 0, OPTION_LIST, FOR_LINT, AT(admission_policies),
	 "FILE|DIR", NULL,
	 .help = "Check the manifests against the cluster's own policies, as "
		 "the API server does: ValidatingAdmissionPolicies, their "
		 "bindings and parameters, and the validation rules of "
		 "CustomResourceDefinitions. May be repeated."},
	{"as", 0, OPTION_TEXT, FOR_LINT, AT(as), "USER", NULL,
	 .help = "The user who creates the objects, for --admission-policy. "
		 "Without it, conditions that depend on the user are not "
		 "checked."},
	{"as-group", 0, OPTION_LIST, FOR_LINT, AT(as_groups), "GROUP", NULL,
	 .help = "A group of the --as user; may be repeated. "
		 "system:authenticated is always included."},
	{"baseline", 0, OPTION_TEXT, FOR_LINT, AT(baseline), "FILE", NULL,
	 .help = "Do not report findings that FILE lists."},
	{"write-baseline", 0, OPTION_TEXT, FOR_LINT, AT(write_baseline), "FILE",
	 NULL,
	 .help = "Write all findings of this run to FILE, for use with "
		 "--baseline."},
	{"prune-baseline", 0, OPTION_FLAG, FOR_LINT, AT(prune_baseline), NULL,
	 NULL,
	 .help = "Remove entries whose findings no longer occur from the "
		 "--baseline file."},
	{"since", 0, OPTION_TEXT, FOR_LINT, AT(since), "REV", NULL,
	 .help = "Lint only files that differ from this git revision, and new "
		 "ones; "
		 "implies --partial."},
	{"since", 0, OPTION_TEXT, FOR_QUOTA, AT(before), "REV", NULL,
	 .help = "Show what changed since this git revision: requests before "
		 "and after, and the place of each change."},
	{"partial", 0, OPTION_FLAG, FOR_LINT | FOR_LSP | FOR_FILTERS,
	 AT(partial), NULL, NULL,
	 .help = "The files are only part of what is deployed: skip rules that "
		 "infer something from the absence of an object."},
	{"require", 0, OPTION_WORDS, FOR_LINT, AT(require), "RULES", NULL,
	 .help = "Exit with 2 when one of these rules was skipped. With "
		 "`cluster`, exit with 2 when any rule was skipped for lack "
		 "of a cluster snapshot."},
	{"no-ignore", 0, OPTION_FLAG, FOR_LINT | FOR_FILTERS, AT(no_ignore),
	 NULL, NULL,
	 .help = "Also report findings that comments or annotations suppress."},
	{"add-ignore", 0, OPTION_TEXT, FOR_LINT, AT(add_ignore), "REASON", NULL,
	 .help = "Insert a suppression comment above every finding."},
	{"fix", 0, OPTION_FLAG, FOR_LINT, AT(fix), NULL, NULL,
	 .help = "Apply the safe fixes to the files, and list them by file; "
		 "all other bytes stay unchanged. Infos are fixed only with "
		 "--show-all, --fail-on info or --select, or where the policy "
		 "gives their rule the action patch. Exit with 2 when a file "
		 "cannot be written, is not UTF-8, or was changed after it "
		 "was read (it is left alone)."},
	{"unsafe-fixes", 0, OPTION_FLAG, FOR_LINT, AT(unsafe_fixes), NULL, NULL,
	 .help = "With --fix or --diff: also apply fixes that change more than "
		 "the admission webhook would by itself."},
	{"unsafe-fixes", 0, OPTION_FLAG, FOR_REPAIRING, AT(unsafe_fixes), NULL,
	 NULL,
	 .help = "Also apply fixes that change more than the admission webhook "
		 "would by itself."},
	{"diff", 0, OPTION_FLAG, FOR_LINT, AT(diff), NULL, NULL,
	 .help = "Print the changes that --fix would make as a unified diff, "
		 "and change nothing; exit with 1 when a file would change. "
		 "Without --format, nothing else is printed. Secret values are "
		 "masked."},
	{"exit-non-zero-on-fix", 0, OPTION_FLAG, FOR_LINT,
	 AT(exit_non_zero_on_fix), NULL, NULL,
	 .help = "Exit with 1 when --fix changed a file."},
	{"report-file", 0, OPTION_TEXT, FOR_POST_RENDER, AT(report_file),
	 "FILE", NULL,
	 .help = "Also write the report to FILE (default: $GPUGATE_REPORT), "
		 "because Helm 4 does not show the standard error of a "
		 "post-renderer."},
	{"discover", 0, OPTION_FLAG, FOR_CMP, AT(discover), NULL, NULL,
	 .help = "Print how the folder would be rendered, or nothing if it "
		 "would not be rendered. Used for `discover:` in plugin.yaml."},
	{"output", 'o', OPTION_TEXT, FOR_SNAPSHOT, AT(output), "FILE", NULL,
	 .help = "Write to FILE, completely or not at all (default: standard "
		 "output)."},
	{"namespace", 'n', OPTION_WORDS, FOR_SNAPSHOT, AT(namespaces), "NS",
	 NULL,
	 .help = "Read only these namespaces (for users who may not list all of "
		 "them)."},
	{"webhook-policy", 0, OPTION_TEXT, FOR_SNAPSHOT, AT(webhook_policy),
	 "NAMESPACE/CONFIGMAP", NULL,
	 .help = "The ConfigMap with the webhook's policy, which is stored in "
		 "the snapshot for --policy. Default: the chart's ConfigMap, "
		 "if it can be read.",
	 .former = "door"},
	{"kubectl", 0, OPTION_TEXT, FOR_LINT | FOR_QUOTA | FOR_SNAPSHOT,
	 AT(kubectl), "PATH", NULL,
	 .help = "The kubectl to run (default: kubectl on the PATH)."},
	{"context", 0, OPTION_TEXT, FOR_SNAPSHOT, AT(context), "CONTEXT", NULL,
	 .help = "Read the cluster of this kubectl context (default: the "
		 "current one)."},
	{"context", 0, OPTION_TEXT, FOR_QUOTA, AT(context), "CONTEXT", NULL,
	 .help = "Read the cluster of this kubectl context instead of a "
		 "--cluster file."},
	{"context", 0, OPTION_TEXT, FOR_LINT, AT(context), "CONTEXT", NULL,
	 .help = "Read the cluster of this kubectl context instead of a "
		 "--cluster file; lint without paths checks its objects."},
	{"kubeconfig", 0, OPTION_TEXT, FOR_SNAPSHOT, AT(kubeconfig), "FILE",
	 NULL, .help = "kubectl's configuration file."},
	{"kubeconfig", 0, OPTION_TEXT, FOR_LINT | FOR_QUOTA, AT(kubeconfig),
	 "FILE", NULL,
	 .help = "Read the cluster of this kubectl configuration file, like "
		 "--context."},
	{"stdin-filename", 0, OPTION_TEXT, FOR_LINT | FOR_QUOTA,
	 AT(stdin_filename), "NAME", NULL,
	 .help = "The name of standard input (-) in reports, and the path "
		 "from which its policy is looked up."},
	{"exclude", 0, OPTION_LIST, FOR_LINT | FOR_LSP | FOR_QUOTA, AT(exclude),
	 "GLOB", NULL,
	 .help = "Skip matching files and folders while walking. A pattern "
		 "without / matches names at any depth. May be repeated."},
	{"force-exclude", 0, OPTION_FLAG, FOR_LINT | FOR_QUOTA,
	 AT(force_exclude), NULL, NULL,
	 .help = "Skip excluded files even when they are named on the command "
		 "line."},
	{"no-ignore-vcs", 0, OPTION_FLAG, FOR_LINT | FOR_LSP | FOR_QUOTA,
	 AT(no_ignore_vcs), NULL, NULL,
	 .help = "Also read files that .gitignore excludes."},
	{"strict-input", 0, OPTION_FLAG, FOR_LINT, AT(strict_input), NULL, NULL,
	 .help = "Exit with 2 when a file is skipped because it is a template or a broken symbolic link."},
	{"render", 0, OPTION_TEXT, FOR_LINT, AT(render), "WHEN",
	 "auto never require",
	 .help = "Build the kustomizations and charts of walked folders with "
		 "kustomize, kubectl or helm, check the result instead of the "
		 "files, and show findings in the files. WHEN is auto (default: "
		 "if the program is on PATH, and not with --partial or "
		 "--since), never, or require (exit with 2 when one is not "
		 "built)."},
	{"render-network", 0, OPTION_FLAG, FOR_LINT, AT(render_network), NULL,
	 NULL,
	 .help = "Also build kustomizations with remote bases, which the "
		 "program fetches. Without this option, their files are checked "
		 "instead."},
	{"jobs", 'j', OPTION_NUMBER, FOR_LINT | FOR_LSP | FOR_QUOTA, AT(jobs),
	 "N", NULL,
	 .help = "The number of threads, at most 64 (default: one per processor). The "
		 "result is the same for any number.",
	 .least = 1, .most = 1000000},
	{"statistics", 0, OPTION_FLAG, FOR_LINT, AT(statistics), NULL, NULL,
	 .help = "End the report with the number of findings of each rule at "
		 "each "
		 "severity."},
	{"show-all", 0, OPTION_FLAG, FOR_LSP, AT(show_all), NULL, NULL,
	 .help = "Show infos about the cluster at each of their places instead "
		 "of once per file, and include the fixes of infos in "
		 "`source.fixAll.gpugate`."},
	{"show-all", 0, OPTION_FLAG, FOR_POST_RENDER, AT(show_all), NULL, NULL,
	 .help = "Show every finding in full, and fix infos as well. Without "
		 "this option, the report shows the first three errors and the "
		 "first three warnings of each rule and counts the rest; infos "
		 "are only counted, and not fixed, unless --fail-on is info."},
	{"show-all", 0, OPTION_FLAG, FOR_LINT, AT(show_all), NULL, NULL,
	 .help = "Show every finding in full. Without this option, `full` shows "
		 "the first three errors and the first three warnings of each "
		 "rule and counts the rest; infos are only counted unless "
		 "--fail-on is info. Other formats contain all findings, but except for openreports they show infos about the cluster once per rule."},
	{"docs-url", 0, OPTION_TEXT, FOR_LSP | FOR_POST_RENDER, AT(docs_url),
	 "URL", NULL,
	 .help = "Link each rule to its page, URL/RULE.md, in a copy of "
		 "rules/docs such as a mirror. If URL is empty, there are no "
		 "links."},
	{"docs-url", 0, OPTION_TEXT, FOR_LINT, AT(docs_url), "URL", NULL,
	 .help = "Link each rule to its page, URL/RULE.md, in a copy of "
		 "rules/docs such as a mirror. Links appear in html, sarif, json, jsonl and openreports, and on a terminal with color. "
		 "If URL is empty, there are no links."},
	{"color", 0, OPTION_TEXT,
	 FOR_LINT | FOR_QUOTA | FOR_EXPLAIN | FOR_RULES | FOR_TEST, AT(color),
	 "WHEN", "auto always never",
	 .help = "Use colors: auto (default, if the output is a terminal), "
		 "always or never."},
	{"quiet", 'q', OPTION_COUNT, FOR_LINT, AT(quiet), NULL, NULL,
	 .help = "Print findings only, without a summary. If given twice, "
		 "print nothing and only set the exit status."},
	{"quiet", 'q', OPTION_COUNT, FOR_FILTERS, AT(quiet), NULL, NULL,
	 .help = "Print no notes on standard error. If given twice, print no "
		 "findings there either."},
	{"quiet", 'q', OPTION_COUNT, FOR_SNAPSHOT | FOR_QUOTA, AT(quiet), NULL,
	 NULL, .help = "Write only errors to standard error."},
	{"verbose", 'v', OPTION_COUNT, FOR_SNAPSHOT, AT(verbose), NULL, NULL,
	 .help = "Log each step on standard error."},
	{"verbose", 'v', OPTION_COUNT, FOR_LINT | FOR_QUOTA, AT(verbose), NULL,
	 NULL,
	 .help = "Log each step on standard error. If given twice, also log "
		 "every file."},
	{"help", 'h', OPTION_FLAG, ~0u, AT(help), NULL, NULL,
	 .help = "Print this text."},
};

_Static_assert(ARRAY_SIZE(table) <= OPTIONS_MOST,
	       "there are more options than the parser accepts");

struct command_list command_list;

/* Resets options from the environment that contradict the arguments of this
 * run, because the environment applies to all runs. */
static void give_way(struct option_parser *p, struct options *o)
{
	if (o->config && o->isolated) {
		bool isolated = option_is_inherited(p, "isolated");

		if (option_is_inherited(p, "config") && !isolated)
			o->config = NULL;
		else if (isolated && !option_is_inherited(p, "config"))
			o->isolated = false;
	}
	if (p->command == FOR_LINT && option_is_inherited(p, "unsafe-fixes") &&
	    !o->fix && !o->diff)
		o->unsafe_fixes = false;
	if (option_is_inherited(p, "prune-baseline") && !o->baseline)
		o->prune_baseline = false;
}

/* Checks the names of namespaces, which become parts of messages and of paths
 * for kubectl. */
static int check_namespaces(const struct option_parser *p,
			    const struct options *o)
{
	const char *wrong = NULL;

	if (o->namespace && !text_is_label(o->namespace, strlen(o->namespace)))
		wrong = o->namespace;
	for (size_t i = 0; i < o->namespaces.n && !wrong; i++)
		if (!text_is_label(o->namespaces.items[i],
				   strlen(o->namespaces.items[i])))
			wrong = o->namespaces.items[i];
	if (!wrong)
		return 0;
	return option_usage(
		p,
		"--namespace: `%s` is not the name of a namespace: at most "
		"63 of a-z, 0-9 and -, with a letter or a digit at "
		"both ends",
		wrong);
}

/* Checks --docs-url. It becomes a link in the terminal, so only web addresses
 * without quotes and control characters are allowed. */
static int check_docs(const struct option_parser *p, const struct options *o)
{
	const char *url = o->docs_url, *scheme;

	if (!url)
		return 0;
	scheme = strstr(url, "://");
	for (const char *c = url; *c; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f ||
		    strchr("\"'<>\\`{}", *c))
			return option_usage(p,
					    "--docs-url: `%s` contains a "
					    "character that an address may not",
					    url);
	if (*url && (!scheme || !scheme[3] ||
		     (strncmp(url, "https:", 6) && strncmp(url, "http:", 5))))
		return option_usage(p,
				    "--docs-url: `%s` is not an address that "
				    "begins with https://",
				    url);
	docs_set(url);
	return 0;
}

static bool is_argument(const struct option_parser *p, const char *name,
			bool is_set)
{
	return is_set && !option_is_inherited(p, name);
}

/*
 * Decides whether objects or a snapshot are read from a cluster: if the command
 * line names a cluster, if lint has -A, or if gpugate is a plugin of kubectl
 * and the command line has -A or -n. Variables of the environment can select a
 * cluster, but do not make gpugate read it.
 */
static int choose_cluster(const struct option_parser *p, struct options *o)
{
	bool named = is_argument(p, "context", o->context) ||
		     is_argument(p, "kubeconfig", o->kubeconfig);
	bool all = is_argument(p, "all-namespaces", o->all_namespaces);
	bool one = is_argument(p, "namespace", o->namespace);
	bool meant = named || (program_is_plugin() && (all || one));

	if (p->command == FOR_LINT) {
		o->asks_objects = !o->paths.n && (meant || all);
		o->asks_state = !o->cluster && (named || o->asks_objects);
		if (all && o->paths.n)
			return option_usage(p, "--all-namespaces is for "
					       "the cluster's objects, not "
					       "for files");
	} else if (p->command == FOR_QUOTA) {
		o->asks_state = !o->cluster && meant;
	}
	return 0;
}

static int usage(const struct option_parser *p, const char *text)
{
	const struct command *command = p->context;

	return log_usage(command->name, "%s", text);
}

/* Options of other linters, and the corresponding options. A single letter is
 * an option such as -x. */
static const struct option_hint hints[] = {
	{"exit-zero", "--fail-on never"},
	{"no-fail", "--fail-on never"},
	{"max-warnings", "--fail-on warning"},
	{"failure-threshold", "--fail-on SEVERITY"},
	{"severity", "--fail-on SEVERITY"},
	{"output-format", "--format FMT"},
	{"output-file", "--format FMT:FILE"},
	{"output", "--format FMT:FILE"},
	{"o", "--format FMT:FILE"},
	{"reporter", "--format FMT"},
	{"json", "--format json"},
	{"sarif", "--format sarif"},
	{"f", "--format FMT; files are named without an option"},
	{"file", "the file's name, without an option"},
	{"filename", "the file's name, without an option"},
	{"stdin", "- in place of a path"},
	{"recursive", "the folder's name: folders are walked"},
	{"R", "the folder's name: folders are walked"},
	{"r", "the folder's name: folders are walked"},
	{"include", "the names of files and folders, without an option"},
	{"rule", "--select RULES"},
	{"rules", "--select RULES"},
	{"enable", "--extend-select RULES"},
	{"disable", "--ignore RULES"},
	{"skip", "--ignore RULES"},
	{"e", "--ignore RULES"},
	{"strict", "--preset strict"},
	{"dry-run", "--diff"},
	{"fix-dry-run", "--diff"},
	{"fix-only", "--fix"},
	{"summary", "--statistics"},
	{"changed", "--since REV"},
	{"new-from-rev", "--since REV"},
	{"no-color", "--color never"},
	{"no-colour", "--color never"},
	{0},
};

const struct option_set option_set = {
	.items = table,
	.n = ARRAY_SIZE(table),
	.variables = "GPUGATE_",
	.list_separators = " \t\n",
	.empty_values = true,
	.hints = hints,
	.say = program_say,
	.usage = usage,
};

static int check_stdin(const struct options *o, const struct command *command)
{
	bool again = command->bit & (FOR_FILTERS | FOR_LSP);

	for (size_t i = 0; i < o->paths.n; i++)
		again |= !strcmp(o->paths.items[i], "-");
	if (!again || !o->cluster || strcmp(o->cluster, "-") != 0)
		return 0;
	return log_usage(command->name,
			 "--cluster - cannot be used: standard input holds %s",
			 command->bit == FOR_LSP ? "the editor's messages"
						 : "the manifests");
}

int options_parse(struct options *options, const struct command *command,
		  char **argv)
{
	struct option_parser parser = {
		.set = &option_set,
		.options = options,
		.arena = &options->arena,
		.arguments = &options->paths,
		.command = command->bit,
		.context = (void *)(uintptr_t)command,
	};
	int rc = options_read(&parser, argv);

	if (!rc)
		rc = check_namespaces(&parser, options);
	if (!rc)
		rc = check_stdin(options, command);
	if (!rc)
		rc = check_docs(&parser, options);
	if (!rc)
		rc = choose_cluster(&parser, options);
	if (!rc)
		give_way(&parser, options);
	return rc;
}

bool options_show_infos(const struct options *options)
{
	return options->show_all || text_eq(options->fail_on, "info");
}

void options_release(struct options *options)
{
	arena_release(&options->arena);
}

/* --- help ---------------------------------------------------------------- */

void help_program(struct buf *out)
{
	buf_addf(out,
		 "gpugate checks Kubernetes manifests of GPU workloads before "
		 "they are applied.\n\n"
		 "Usage: %s COMMAND [OPTIONS] [ARGUMENTS]\n\nCommands:\n",
		 program_name());
	for (size_t i = 0; i < command_list.n; i++) {
		const struct command *c = &command_list.items[i];

		if (!c->internal)
			buf_addf(out, "  %-12s %s\n", c->name, c->summary);
	}
	buf_addf(out,
		 "\n`%s help COMMAND` lists the options of a command. Every "
		 "option can\nalso be set in the environment, for example "
		 "--fail-on as GPUGATE_FAIL_ON.\n",
		 program_name());
}

void help_command(const struct command *command, struct buf *out)
{
	struct buf text;

	buf_addf(out, "Usage: %s %s%s%s\n\n", program_name(), command->name,
		 *command->arguments ? " " : "", command->arguments);
	buf_init(&text);
	program_say(&text, command->description);
	words_wrap(out, text.data, 0, 0);
	buf_release(&text);
	buf_adds(out, "\nOptions:\n");
	options_print(&option_set, command->bit, out);
}
