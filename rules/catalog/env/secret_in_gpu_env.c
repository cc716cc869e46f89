/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports literal tokens and keys in variables of GPU pods and in flags, and
 * tokens, passwords in URLs and assignments of such variables in commands and
 * in the texts of Ray's kinds. kube/secret/secret.h defines which texts are
 * secret. The rule skips references, words and placeholders. Source: Kubernetes
 * documentation, Good practices for Kubernetes Secrets.
 */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/server.h"
#include "kube/secret/secret.h"

#define IN_PLAIN                                                               \
	" is in plain text: anyone who can read the object or the repository can use it"

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

/* True for words, also with a number at the end: the name of a secret, a
 * placeholder, AWS's EXAMPLE. Keys contain other digits, and no blanks. */
static bool is_words(const char *text)
{
	static const char *const words[] = {
		"token",  "secret",	 "api-key", "api_key", "not-",
		"no-key", "placeholder", "change",  "insert",  "todo",
		"here",	  "disabled",	 "offline", "local",   "ollama",
		"addkey", NULL};
	static const char digits[] = "0123456789";
	size_t letters = strcspn(text, digits);

	if (strchr(text, ' ') || strstr(text, "EXAMPLE"))
		return true;
	if (text[letters + strspn(text + letters, digits)])
		return false;
	return text_any(text, words, text_contains_ci);
}

/* True for a placeholder that starts like a token but is shorter than any:
 * `hf_`, `nvapi-KEY`. In a snapshot, `hf_***` is a masked token. */
static bool is_prefix(const char *text)
{
	static const char *const starts[] = {"hf_", "nvapi-", "sk-", "ghp_",
					     NULL};

	return strlen(text) < 16 && !text_contains(text, "***") &&
	       text_any(text, starts, text_starts);
}

static void check_entry(struct rule_run *run, const struct container *c,
			const struct env_entry *entry)
{
	const char *name = entry->name->str, *text = node_str(entry->value);

	if (text && secret_is(name, text) && !is_reference(text) &&
	    !is_words(text) && !is_prefix(text))
		report_container(run, c, entry->value, "`%s`" IN_PLAIN, name);
}

/* True if the container is a server that accepts only requests with the key of
 * its flag --api-key. */
static bool is_server(const struct container *c)
{
	const char *server = container_server(c);

	return text_eq(server, "vLLM") || text_eq(server, "SGLang");
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
static bool check_flags(struct rule_run *run, const struct container *c)
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
	bool found = false;

	if (!may_have_flag(&argv))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		bool serves = text_eq(flags[i].flag, "--api-key");
		const struct arg *arg;
		const char *text = argv_flag(&argv, flags[i].flag, &arg);
		struct finding *f;

		if (!text || strpbrk(text, "${<") || is_reference(text) ||
		    !secret_is(flags[i].variable, text) || is_prefix(text) ||
		    (serves ? !is_server(c) : is_words(text)))
			continue;
		f = report_container(run, c, arg->node,
				     "the value of `%s`" IN_PLAIN,
				     flags[i].flag);
		found = true;
		if (is_words(text))
			finding_severity(f, SEVERITY_WARNING);
	}
	return found;
}

/* --- texts ---------------------------------------------------------------- */

struct token_search {
	const char *text;
	bool found;
};

/* Keeps a token unless it is a placeholder, such as hf_xxxxxxxx. A token of
 * Hugging Face has 34 letters and digits, unlike hf_model-name. */
static void take_token(void *context, size_t at, size_t len)
{
	struct token_search *search = context;
	const char *token = search->text + at;
	bool seen[256] = {false};
	int different = 0;

	if (text_starts(token, "hf_") &&
	    (len > 43 || 3 + strcspn(token + 3, "_-") < len))
		return;
	for (size_t i = secret_prefix(token, len); i < len; i++) {
		different += !seen[(unsigned char)token[i]];
		seen[(unsigned char)token[i]] = true;
	}
	search->found |= different >= 6 && !memmem(token, len, "EXAMPLE", 7);
}

/* True for `https://user:PASSWORD@host`, where the password has a digit. In
 * docker://NAME:TAG@sha256:DIGEST, it is a tag. */
static bool has_url_password(struct arena *arena, const char *text)
{
	while ((text = strstr(text, "://"))) {
		size_t len;

		text += 3 + strcspn(text + 3, ":@/ \t\n\"'");
		len = *text == ':' ? strcspn(++text, "@/ \t\n\"'$<{*") : 0;
		if (len >= 8 && text[len] == '@' &&
		    strcspn(text, "0123456789") < len &&
		    !text_starts(text + len, "@sha256:") &&
		    secret_is("PGPASSWORD", arena_strndup(arena, text, len)))
			return true;
	}
	return false;
}

/* Returns the name of the first variable that the text sets to a secret, as
 * `NAME=value` or, if `yaml` is set, as `NAME: value`; or NULL. A short value
 * may be a word of a comment. */
static const char *assigned_secret(struct arena *arena, const char *text,
				   bool yaml)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	for (size_t len; *text; text += len ? len : 1) {
		const char *name, *value;

		len = strspn(text, letters);
		value = text + len;
		if (len < 2 || (*value != '=' && (!yaml || *value != ':')))
			continue;
		name = arena_strndup(arena, text, len);
		value += 1 + strspn(value + 1, yaml ? " \"'" : "\"'");
		value = arena_strndup(arena, value,
				      strcspn(value, " \t\n\"';,&|"));
		if (strlen(value) >= 8 && !strpbrk(value, "${<`") &&
		    secret_is(name, value) && !is_reference(value) &&
		    !is_words(value) && !is_prefix(value))
			return name;
	}
	return NULL;
}

/* True for a long run of letters and digits, and for the user of a URL. */
static bool may_hold_secret(const char *text, size_t len)
{
	enum { RUN = 16 };
	size_t n;

	for (size_t at = 0; at + RUN <= len; at += n) {
		for (n = RUN; n && isalnum((unsigned char)text[at + n - 1]);)
			n--;
		if (!n)
			return true;
	}
	return memchr(text, '@', len) && strstr(text, "://");
}

/* Returns the first secret in a text, in words, or NULL. */
static const char *secret_in(struct rule_run *run, const struct node *node,
			     bool yaml)
{
	struct token_search search = {.text = node_str(node)};
	const char *name;

	if (!search.text || (!yaml && !may_hold_secret(search.text, node->len)))
		return NULL;
	secret_tokens(search.text, node->len, take_token, &search);
	if (search.found)
		return "a token";
	if (has_url_password(rule_arena(run), search.text))
		return "the password of a URL";
	name = assigned_secret(rule_arena(run), search.text, yaml);
	return name ? arena_printf(rule_arena(run), "`%s`", name) : NULL;
}

static void check_scripts(struct rule_run *run, const struct container *c)
{
	static const char *const lists[] = {"command", "args", NULL};

	for (const char *const *list = lists; *list; list++)
		FOR_EACH_CHILD(node_get(c->node, *list), item) {
			const char *what = secret_in(run, item, false);

			if (what)
				report_container(run, c, item, "%s" IN_PLAIN,
						 what);
		}
}

/* Checks the texts that Ray passes to the job. */
static void check_ray(struct rule_run *run, const struct object *object)
{
	static const char *const fields[] = {"runtimeEnvYAML", "serveConfigV2",
					     "entrypoint", NULL};
	const struct node *spec = node_get(object->root, "spec");

	if (object->class != KIND_RAY)
		return;
	for (const char *const *field = fields; *field; field++) {
		const struct node *at = node_get(spec, *field);
		const char *what = secret_in(run, at, true);

		if (what)
			report_object(run, object, at, "%s" IN_PLAIN, what);
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const bool *last = secret_last_letters();

	FOR_EACH_CONTAINER(pod, c) {
		if (!check_flags(run, c))
			check_scripts(run, c);
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
	.check_object = check_ray,
};
