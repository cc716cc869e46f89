/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate config [PATH]` prints the effective settings for a path and their
 * source; `gpugate init` writes a first policy.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "engine/finding.h"
#include "lint/files/files.h"
#include "lint/settings/settings.h"
#include "lint/term/escape.h"
#include "lint/term/log.h"

static const char *mode_name(enum mode mode)
{
	static const char *const names[] = {[MODE_AUDIT] = "audit",
					    [MODE_WARN] = "warn",
					    [MODE_ENFORCE] = "enforce"};

	return names[mode];
}

static void add_params(struct buf *out, const struct rule *rule,
		       const struct setting *setting)
{
	for (size_t i = 0; rule->params && rule->params[i].name; i++)
		if (setting->params && setting->params[i] &&
		    *setting->params[i]) {
			buf_addf(out, " %s=", rule->params[i].name);
			escape_adds(out, setting->params[i]);
		}
}

static void add_rule(struct buf *out, size_t width, const struct rule *rule,
		     const struct setting *setting)
{
	buf_addf(out, "%-*s  ", (int)width, rule->name);
	if (!setting->enabled)
		buf_addf(out, "%-7s  %-5s", "off", "");
	else
		buf_addf(out, "%-7s  %-5s", severity_name(setting->severity),
			 action_name(setting->action));
	buf_adds(out, "  ");
	escape_adds(out, setting->from ? setting->from : "");
	buf_adds(out, setting->locked ? ", locked" : "");
	add_params(out, rule, setting);
	buf_addc(out, '\n');
}

static void add_line(struct buf *out, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	buf_addf(out, "%s: ", name);
	escape_adds(out, text);
	buf_addc(out, '\n');
}

/* Appends the policy's description with control characters escaped: each line
 * by itself, because escape_adds() writes one line. */
static void add_description(struct buf *out, const struct policy *policy)
{
	struct buf text;

	buf_init(&text);
	policy_describe(policy, &text);
	for (char *line = text.data, *end; (end = strchr(line, '\n'));
	     line = end + 1) {
		*end = '\0';
		escape_adds(out, line);
		buf_addc(out, '\n');
	}
	buf_release(&text);
}

/* Prints the settings of a policy; path_rule is the matching entry of
 * `paths:`. */
static void print_config(struct buf *out, const struct policies *policies,
			 const struct policy_entry *entry,
			 const struct policy *policy,
			 const struct policy_path_rule *path_rule)
{
	const struct rule_set *rules = policy_rules(policy);
	const struct setting *settings = policy_base(policy);
	size_t width = 0;

	add_line(out, "policy",
		 *entry->path ? entry->path : "none (built-in defaults)");
	add_line(out, "floor", policies->options->policy);
	add_line(out, "mode", mode_name(policy_mode(policy)));
	add_line(out, "contact", policy_contact(policy));
	add_line(out, "set", path_rule->set);
	add_line(out, "namespace", path_rule->namespace);
	add_line(out, "cluster", path_rule->cluster);
	add_description(out, policy);
	buf_addc(out, '\n');
	for (size_t i = 0; i < rules->n; i++)
		if (strlen(rules->items[i]->name) > width)
			width = strlen(rules->items[i]->name);
	for (size_t i = 0; i < rules->n; i++)
		add_rule(out, width, rules->items[i], &settings[i]);
}

/* Cuts the path to its folder, unless it is a folder itself. */
static void cut_to_folder(struct buf *path)
{
	struct stat st;
	char *slash;

	if (!stat(path->data, &st) && S_ISDIR(st.st_mode))
		return;
	slash = strrchr(path->data, '/');
	path->len = (size_t)(slash - path->data);
	path->len += !path->len;
	path->data[path->len] = '\0';
}

static int show(struct policies *policies, const char *path)
{
	struct policy_path_rule rule;
	const struct policy *policy;
	struct buf absolute, folder, out;
	uint32_t index;
	int rc = 2;

	buf_init(&absolute);
	buf_init(&folder);
	path_absolute(policies->cwd, path, &absolute);
	buf_adds(&folder, absolute.data);
	cut_to_folder(&folder);
	index = policies_find(policies, folder.data);
	if (!policies_ready(policies)) {
		buf_init(&out);
		policy = policies_for_file(policies, index, absolute.data,
					   &rule);
		if (policies_exclude(policies, index, absolute.data))
			add_line(&out, "excluded", "`gpugate lint` skips it");
		print_config(&out, policies, &policies->items[index], policy,
			     &rule);
		rc = print_out(&out);
	}
	buf_release(&absolute);
	buf_release(&folder);
	return rc;
}

int config_command(struct options *options)
{
	struct policies policies;
	char *cwd;
	int rc;

	if (options->paths.n > 1)
		return log_usage("config", "config takes one path");
	if (options->paths.n && access(options->paths.items[0], F_OK)) {
		log_line("%s: %s", options->paths.items[0], strerror(errno));
		return 2;
	}
	cwd = getcwd(NULL, 0);
	if (!cwd) {
		log_line("current folder: %s", strerror(errno));
		return 2;
	}
	rc = policies_init(&policies, options, cwd);
	if (!rc)
		rc = show(&policies,
			  options->paths.n ? options->paths.items[0] : ".");
	policies_release(&policies);
	free(cwd);
	return rc;
}

int init_command(struct options *options)
{
	static const char name[] = ".gpugate.yaml";
	struct rule_set rules = program_rules();
	struct buf text;
	ssize_t written;
	int fd;

	if (options->paths.n)
		return log_usage("init", "init takes no arguments");
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		log_line("%s: %s", name, strerror(errno));
		return 2;
	}
	buf_init(&text);
	policy_write_starter(&rules, &text);
	errno = 0;
	written = write(fd, text.data, text.len);
	if (written != (ssize_t)text.len || close(fd)) {
		log_line("%s: %s", name, strerror(errno ? errno : ENOSPC));
		unlink(name);
		buf_release(&text);
		return 2;
	}
	log_line("wrote %s", name);
	buf_release(&text);
	return 0;
}
