/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpugate: the table of commands, and the selection of the command. If the
 * program is called kubectl-gpugate, it is a plugin of kubectl.
 */
#include <fcntl.h>
#include <jansson.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "lint/files/input.h"
#include "lint/options/options.h"
#include "lint/term/log.h"
#include "lint/term/program.h"

static int version_command(struct options *options);
static int help_cmd(struct options *options);

static const struct command command_table[] = {
	{"lint", "[OPTIONS] [PATH...]", "check manifests",
	 "Checks files, folders (default: the current one), or "
	 "standard input (-). Folders are walked for *.yaml, *.yml "
	 "and *.json; files given on the command line are checked "
	 "whatever their name.\n\nSymbolic links to folders are not "
	 "followed, except for a path given on the command line. A "
	 "file that is found under several paths, as a link or named "
	 "twice, is checked once; each hard link counts as a separate "
	 "file. When fixing, gpugate writes to the target of a link, "
	 "but never outside the folder given: a link that leads out "
	 "of it is left alone, with exit status 2, unless the link "
	 "itself was given.\n\nIn walked folders a kustomization that "
	 "no other one lists is built with kustomize or kubectl, and "
	 "a chart is built with helm, using its own values or those "
	 "of the HelmReleases (Flux) and Applications (Argo CD) that "
	 "install it. The result is checked instead of the files, and "
	 "nothing is fetched; see --render. Findings are shown at the "
	 "patch, base, template, field or value that they come from. "
	 "The summary lists what was built, with which version, and "
	 "what was not.\n\nWith -A, --context or --kubeconfig and "
	 "without paths, and as `kubectl gpugate lint -n NS`, gpugate "
	 "checks the objects in kubectl's current cluster: workloads, "
	 "and the Services, claims, disruption budgets and policies "
	 "next to them. Objects created by controllers are not "
	 "checked again.\n\nExit status: 0 when no finding at or "
	 "above --fail-on is left, 1 when one is left, and 2 on wrong "
	 "usage, an invalid policy, an input that cannot be read, or "
	 "an internal error (findings are still printed). It is also "
	 "1 when --diff shows changes, and when a file was fixed with "
	 "--exit-non-zero-on-fix.",
	 FOR_LINT, false, lint_command},
	{"explain", "RULE", "show what a rule flags, why, and how to fix it",
	 "Prints a description of the rule: its summary, its reason, "
	 "how to fix a finding, the evidence, the parameters, an "
	 "example that is flagged and an example that is not flagged.",
	 FOR_EXPLAIN, false, explain_command},
	{"rules", "[OPTIONS] [RULE...]", "list or export rules",
	 "Prints the catalog, one line per rule: name, severity, "
	 "action at admission, and summary. With --format vap, it "
	 "prints the custom rules that the policy enables, or the "
	 "named ones, as ValidatingAdmissionPolicies "
	 "(admissionregistration.k8s.io/v1) with their bindings: "
	 "error denies, warning warns, info audits. `each: pod` and "
	 "`each: container` become loops over the kinds of "
	 "`match.kinds`. A rule that uses `gpugate` or `match.gpus`, "
	 "or that lacks `match.kinds` for such a loop, is left out, "
	 "with the reason on standard error. The API server checks "
	 "native objects with defaults filled in and quantities as "
	 "text; use --admission-policy to see the result.\n\nExit "
	 "status: 0, or 2 when a named rule cannot be exported, or no "
	 "rule can.",
	 FOR_RULES, false, rules_command},
	{"config", "[OPTIONS] [PATH]",
	 "print the effective settings for a path",
	 "Prints the policy that applies to PATH (default: the current "
	 "folder), and where each rule's setting comes from.",
	 FOR_CONFIG, false, config_command},
	{"init", "", "write a commented .gpugate.yaml",
	 "Writes .gpugate.yaml into the current folder, unless the "
	 "file exists.",
	 FOR_INIT, false, init_command},
	{"snapshot", "[OPTIONS]",
	 "save a snapshot of the cluster for --cluster",
	 "Reads from the cluster, through kubectl, the objects that "
	 "rules look up, such as quotas, limit ranges, priority and "
	 "runtime classes, nodes, queues (Kueue, Volcano, KAI), "
	 "device classes, volume claims, runtimes (Trainer, KServe), "
	 "workflow templates, disruption budgets and network "
	 "policies. It also reads the cluster's admission policies "
	 "and the resource usage of each owner's running pods, and "
	 "writes the parts that rules need to one JSON file. It "
	 "changes nothing in the cluster, and never reads Secrets. "
	 "Kinds that the user may not read are listed in the file and "
	 "on standard error; kinds that the cluster does not have are "
	 "left out.\n\nExit status: 0, or 2 when nothing could be "
	 "read or the file could not be written.",
	 FOR_SNAPSHOT, false, snapshot_command},
	{"quota", "[OPTIONS] [PATH...]",
	 "compare the requests of the manifests with quotas",
	 "Adds up the requests of the workloads, at steady state and "
	 "at their peak (rollout surge, elastic maximum), and "
	 "compares them with the ResourceQuotas of the same files and "
	 "of the cluster snapshot. Shows the amounts that are used, "
	 "that the manifests add (without the use of their running "
	 "copies), and that are left. Quotas in the files that no "
	 "workload uses are shown too. With -n or -A, unused quotas "
	 "of the cluster are shown as well. With --since, shows the "
	 "changes since a revision, for a pull request.\n\nExit "
	 "status: 0, 1 when a quota is exceeded and --fail-on is set, "
	 "or 2 when an input could not be read.",
	 FOR_QUOTA, false, quota_command},
	{"test", "[OPTIONS] PATH...", "run the tests in rules files",
	 "Runs the `tests:` of custom rules (kind: Rules). Each test "
	 "names a manifest, relative to the rules file, and the lines "
	 "where the rule reports a finding. Folders are searched for rules "
	 "files.\n\nExit status: 0, 1 when a test fails, or 2 when a "
	 "rules file or a manifest cannot be used.",
	 FOR_TEST, false, test_command},
	{"krm", "[OPTIONS]", "run as a KRM function of kustomize or kpt",
	 "For kustomize (transformers, with --enable-alpha-plugins and "
	 "--enable-exec) and kpt. Safe fixes are applied to the items, "
	 "and findings are returned as results. The exit status is 1 "
	 "when findings at or above --fail-on remain. A functionConfig "
	 "of kind Policy is used as the policy; a ConfigMap may set "
	 "`fix: none`, `safe` or `unsafe`.",
	 FOR_KRM, false, krm_command},
	{"post-render", "[OPTIONS]", "run as a post-renderer of Helm",
	 "Reads rendered manifests and writes them with the safe fixes "
	 "applied. If findings at or above --fail-on remain, it writes "
	 "no manifests, writes the report to standard error and to the "
	 "report file, and exits with status 1, which stops Helm.",
	 FOR_POST_RENDER, false, post_render_command},
	{"cmp", "[OPTIONS]", "run as a config management plugin of Argo CD",
	 "Renders the application in the current folder, lints the "
	 "result and prints it. A kustomization is rendered with "
	 "kustomize or kubectl, and a chart with Helm. In other "
	 "folders, the files *.yaml, *.yml and *.json are used "
	 "unchanged. If findings at or above --fail-on remain or "
	 "rendering fails, it prints no manifests and writes the "
	 "problems to standard error, which Argo CD "
	 "shows.\n\nParameters of the Application "
	 "(spec.source.plugin.parameters): render (auto, plain, "
	 "kustomize, helm), recurse (true includes plain files in "
	 "subfolders), release-name, values-files (a list of paths "
	 "relative to the application, or with / relative to the "
	 "repository) and helm-parameters (a map). All parameters "
	 "except helm-parameters can also be set as variables in "
	 "spec.source.plugin.env, such as RENDER and VALUES_FILES. "
	 "The variables ARGOCD_APP_NAME, ARGOCD_APP_NAMESPACE, "
	 "ARGOCD_APP_SOURCE_PATH, KUBE_VERSION and KUBE_API_VERSIONS "
	 "of Argo CD are used. Files outside the repository are "
	 "rejected. The plugin's own options are the GPUGATE_* "
	 "variables of the sidecar; an Application cannot set "
	 "them.\n\nExit status: 0, 1 when findings at or above "
	 "--fail-on are left, or 2 when the application could not be "
	 "rendered or checked, or when there would be nothing to "
	 "apply.",
	 FOR_CMP, false, cmp_command},
	{"lsp", "[OPTIONS]", "run as a language server for editors",
	 "Speaks the Language Server Protocol 3.17 on standard input "
	 "and output. Findings become diagnostics, and fixes become "
	 "quick fixes. Hover shows `gpugate explain`, and rule names "
	 "are completed. Each workspace folder is checked like "
	 "`gpugate lint FOLDER`, with the editor's texts instead of "
	 "the files. A document outside all folders is checked "
	 "together with the manifests next to it. While a document "
	 "cannot be parsed, its previous findings stay.\n\nExit "
	 "status: 0 after the requests `shutdown` and `exit`, 1 when "
	 "the client exits in another way, 2 on wrong usage.",
	 FOR_LSP, false, lsp_command},
	{"completion", "bash|zsh|fish", "print a shell completion script",
	 "Prints a completion script for the shell, for example\n\n"
	 "source <(gpugate completion bash)",
	 FOR_COMPLETION, false, completion_command},
	{"version", "", "print the version", "Prints the version.", FOR_VERSION,
	 false, version_command},
	{"help", "[COMMAND]", "print help",
	 "Prints general help, or help for COMMAND.", FOR_HELP, false,
	 help_cmd},
	{"manpage", "1|5", "print a manual page",
	 "Prints gpugate(1) or gpugate-policy(5) as roff.", FOR_MANPAGE, true,
	 manpage_command},
};
static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < command_list.n; i++)
		if (!strcmp(command_table[i].name, name))
			return &command_table[i];
	return NULL;
}

/* Returns the command of gpugate for the name of a command of other linters, or
 * NULL. */
static const char *other_name(const char *word)
{
	static const char *const names[][2] = {
		{"check", "lint"},	 {"validate", "lint"},
		{"scan", "lint"},	 {"verify", "lint"},
		{"run", "lint"},	 {"fix", "lint --fix"},
		{"diff", "lint --diff"}, {"rule", "explain"},
		{"list", "rules"},	 {"server", "lsp"},
		{"analyze", "lint"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(word, names[i][0]))
			return names[i][1];
	return NULL;
}

static int unknown_command(const char *word)
{
	const char *names[ARRAY_SIZE(command_table)];
	const char *near = other_name(word);
	size_t n = 0;

	for (size_t i = 0; i < command_list.n; i++)
		if (!command_table[i].internal)
			names[n++] = command_table[i].name;
	if (!near)
		near = text_nearest(word, names, n);
	if (*word == '-')
		return log_usage(NULL,
				 "%s after a command, as in `gpugate lint %s`",
				 word[1] ? "options go" : "paths go", word);
	if (near)
		return log_usage(NULL,
				 "unknown command `%s`; did you mean "
				 "`%s`?",
				 word, near);
	if (!access(word, F_OK))
		return log_usage(
			NULL,
			"unknown command `%s`; to check this file, run `gpugate lint "
			"%s`",
			word, word);
	return log_usage(NULL, "unknown command `%s`", word);
}

/* Prints the help of the command, or of the program if command is NULL. */
static int print_help(const struct command *command)
{
	struct buf out;

	buf_init(&out);
	if (command)
		help_command(command, &out);
	else
		help_program(&out);
	return print_out(&out);
}

static int version_command(struct options *options)
{
	struct buf out;

	(void)options;
	buf_init(&out);
	buf_addf(&out, "gpugate %s\n", program_build);
	return print_out(&out);
}

static int help_cmd(struct options *options)
{
	const char *name = options->paths.n ? options->paths.items[0] : NULL;
	const struct command *command = name ? command_find(name) : NULL;

	return name && !command ? unknown_command(name) : print_help(command);
}

static int run_command(const struct command *command, char **argv)
{
	struct options options = {0};
	int rc = options_parse(&options, command, argv);

	if (rc)
		;
	else if (options.help)
		rc = print_help(command);
	else if (options.paths.n && command->bit & FOR_NO_PATHS)
		rc = log_usage(command->name, "%s takes no arguments",
			       command->name);
	else
		rc = command->run(&options);
	options_release(&options);
	return rc;
}

/* Ends the program if memory runs out, because jansson would silently drop
 * data. */
static void *take(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		OUT_OF_MEMORY();
	return memory;
}

/*
 * Sets up malloc(): the heap grows in large steps and is kept until the end,
 * because with several threads, each return of memory to the system interrupts
 * the other processors. Only blocks of 4 MiB or more are returned.
 */
static void set_up_memory(void)
{
	json_set_alloc_funcs(take, free);
	mallopt(M_TOP_PAD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
}

/* Opens missing standard streams. Otherwise a file could get the descriptor of
 * standard output or error, and their output would be written into it. With
 * O_PATH, reading and writing are errors. */
static void set_up_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/", O_PATH);
}

int main(int argc, char **argv)
{
	const struct command *command;

	command_list =
		(struct command_list){command_table, ARRAY_SIZE(command_table)};
	program_called(argc ? argv[0] : "");
	set_up_streams();
	set_up_memory();

	/* A closed pipe then becomes an error of write(), which is reported. */
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2)
		return log_usage(
			NULL, "no command given%s",
			input_waits(true)
				? "; to lint standard input, run `gpugate lint -`"
				: "");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_help(NULL);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return version_command(NULL);
	command = command_find(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return run_command(command, argv + 2);
}
