/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports literal tokens and keys in the environment of GPU pods, for model
 * hubs, experiment trackers and object stores, and in flags of the command.
 * Everyone who can read the object or the repository can use them.
 * kube/secret/secret.h defines which texts are secret, and reports mask all of
 * them. The rule skips references, words and placeholders.
 *
 * Source: Kubernetes documentation, Good practices for Kubernetes Secrets.
 */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/argv.h"
#include "kube/secret/secret.h"

/* True for a path, or for an address in a secret store, which webhooks and init
 * programs replace by the secret (Vault by Bank-Vaults, 1Password, Berglas, the
 * clouds' managers, vals). */
static bool is_reference(const char *text)
{
	static const char *const starts[] = {
		"vault:", ">>vault:", "ssm:", "aws-sm:",
		"gcp:",	  "file:",    "ref+", NULL};

	return text_any(text, starts, text_starts) || strstr(text, "://") ||
	       *text == '~';
}

/* True for a text that consists of words, such as the name of a secret or a
 * placeholder. Keys and tokens contain digits, or letters in random order, and
 * no blanks. */
static bool is_words(const char *text)
{
	static const char *const words[] = {
		"token",  "secret",	 "api-key", "api_key", "not-",
		"no-key", "placeholder", "change",  "insert",  "todo",
		"here",	  "disabled",	 "offline", "local",   "ollama",
		"addkey", NULL};

	if (strchr(text, ' '))
		return true;
	for (const char *c = text; *c; c++)
		if (isdigit((unsigned char)*c))
			return false;
	return text_any(text, words, text_contains_ci);
}

/* True for a placeholder that starts like a token but is shorter than any:
 * `hf_`, `nvapi-KEY`. In a snapshot, `hf_***` is a masked token. */
static bool is_prefix(const char *text)
{
	static const char *const starts[] = {"hf_", "nvapi-", "sk-", "ghp_",
					     NULL};
	enum { SHORTEST = 16 };

	return strlen(text) < SHORTEST && !text_contains(text, "***") &&
	       text_any(text, starts, text_starts);
}

static void check_entry(struct rule_run *run, const struct container *c,
			const struct env_entry *entry)
{
	const char *name = entry->name->str, *text = node_str(entry->value);

	if (text && secret_is(name, text) && !is_reference(text) &&
	    !is_words(text) && !is_prefix(text))
		report_container(run, c, entry->value,
				 "`%s` is in plain text: anyone who can read "
				 "the object or the repository can use it",
				 name);
}

/* True if the command is a server that accepts only requests with the key of
 * its flag --api-key. */
static bool is_server(const struct argv *argv, const struct container *c)
{
	static const char *const servers[] = {
		"vllm.entrypoints.openai.api_server", "sglang.launch_server",
		NULL};

	return argv_have_any(argv, servers) ||
	       (argv_have(argv, "vllm") && argv_have(argv, "serve") &&
		!argv_have(argv, "bench")) ||
	       (node_is_unset(node_get(c->node, "command")) &&
		text_contains(c->image, "vllm/vllm-openai"));
}

/* True if some flag may be one that check_flags() looks up. */
static bool may_have_flag(const struct argv *argv)
{
	for (size_t i = 0; i < argv->n; i++) {
		const char *text = argv->items[i].text;

		if (text && text[0] == '-' && text[1] == '-' &&
		    (text[2] == 'a' || text[2] == 'h' || text[2] == 'w') &&
		    (strstr(text, "token") || strstr(text, "key")))
			return true;
	}
	return false;
}

/* Checks the values of flags like those of the variables that have the same
 * meaning. Any text is the key of a server, even one that consists of words. */
static void check_flags(struct rule_run *run, const struct container *c)
{
	static const struct {
		const char *flag, *variable;
	} flags[] = {
		{"--hf-token", "HF_TOKEN"},
		{"--hf-api-token", "HF_TOKEN"},
		{"--wandb-api-key", "WANDB_API_KEY"},
		{"--api-key", "VLLM_API_KEY"},
	};
	struct argv argv = container_argv(c);

	if (!may_have_flag(&argv))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		bool serves = text_eq(flags[i].flag, "--api-key");
		const struct arg *arg;
		const char *text = argv_flag(&argv, flags[i].flag, &arg);
		struct finding *f;

		if (!text || strpbrk(text, "${<") || is_reference(text) ||
		    !secret_is(flags[i].variable, text) || is_prefix(text) ||
		    (serves ? !is_server(&argv, c) : is_words(text)))
			continue;
		f = report_container(run, c, arg->node,
				     "the value of `%s` is in plain text: "
				     "anyone who can read the object or the "
				     "repository can use it",
				     flags[i].flag);
		if (is_words(text))
			finding_severity(f, SEVERITY_WARNING);
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const bool *last = secret_last_letters();

	FOR_EACH_CONTAINER(pod, c) {
		check_flags(run, c);
		for (size_t i = 0; i < c->nenv; i++) {
			const struct node *name = c->env[i].name;

			if (name->len &&
			    last[(unsigned char)name->str[name->len - 1]])
				check_entry(run, c, &c->env[i]);
		}
	}
}

const struct rule rule_secret_in_gpu_env = {
	.name = "secret-in-gpu-env",
	.category = "env",
	.severity = SEVERITY_ERROR,
	.scope = GPU_PODS,
	.summary = "a token or key in plain text in a manifest",
	.why = "Anyone who can read the object or the repository can use it.",
	.remedy =
		"Move the value into a Secret, refer to it with secretKeyRef, and revoke the exposed value.",
	.evidence =
		"https://kubernetes.io/docs/concepts/security/secrets-good-practices/",
	.check_pod = check,
};
