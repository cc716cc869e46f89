/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens and keys written as literals into the environment of GPU pods: model
 * hubs, experiment trackers, object stores. Whoever may read the object or
 * the repository has them. Placeholders and words that stand for "none" are
 * no secrets; the value itself is never printed.
 *
 * Source: Kubernetes documentation, Good practices for Kubernetes Secrets.
 */
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "engine/rule.h"

static const char *const known_names[] = {
	"HF_TOKEN",	  "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_TOKEN",
	"HF_API_TOKEN",	  "WANDB_API_KEY",	    "NGC_API_KEY",
	"OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY",  "AWS_SESSION_TOKEN",
	"COMET_API_KEY",  "GITHUB_TOKEN",	    NULL};

/* The last letters of those names, and of the ends below. */
static bool may_be_secret(const struct env_entry *entry)
{
	const struct node *name = entry->name;
	char last = name->len ? name->str[name->len - 1] : '\0';

	return (last == 'Y' || last == 'T' || last == 'N' || last == 'D') &&
	       node_str(entry->value);
}

static bool is_known(const char *name)
{
	for (const char *const *known = known_names; *known; known++)
		if (text_eq(name, *known))
			return true;
	return false;
}

/* Names that end like a secret's, and are not some other sort of key. */
static bool sounds_secret(const char *name)
{
	static const char *const ends[] = {
		"_API_KEY", "_SECRET_KEY", "_ACCESS_KEY", "_PRIVATE_KEY",
		"_SECRET",  "_TOKEN",	   "_PASSWORD",	  NULL};
	static const char *const not_secret[] = {
		"EOS_", "PAD_", "BOS_", "MAX_", "STOP_", "DISABLE", NULL};
	bool ending = false;

	for (const char *const *end = ends; *end && !ending; end++)
		ending = text_ends(name, *end);
	for (const char *const *part = not_secret; ending && *part; part++)
		ending = !text_contains(name, *part);
	return ending;
}

static bool stands_for_none(const char *text)
{
	static const char *const words[] = {
		"empty", "dummy",  "none",     "null",	 "fake",  "changeme",
		"test",	 "token",  "password", "secret", "false", "true",
		"key",	 "foobar", "unused",   NULL};
	static const char *const parts[] = {"your",    "xxx",	  "...",
					    "replace", "example", "changeme",
					    "dummy",   NULL};

	if (!*text || strchr(text, '<') || strstr(text, "$(") || *text == '/')
		return true;
	for (const char *const *word = words; *word; word++)
		if (!strcasecmp(text, *word))
			return true;
	for (const char *const *part = parts; *part; part++)
		if (text_contains_ci(text, *part))
			return true;
	return false;
}

static void check_entry(struct rule_run *run, const struct container *c,
			const struct env_entry *entry)
{
	const char *name = entry->name->str, *text = entry->value->str;

	if ((is_known(name) || (sounds_secret(name) && strlen(text) >= 8)) &&
	    !stands_for_none(text))
		report_container(run, c, entry->value,
				 "`%s` is written in clear: use a Secret and "
				 "`valueFrom.secretKeyRef`",
				 name);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod_uses_gpu(pod) != TRI_YES)
		return;
	FOR_EACH_CONTAINER(pod, c)
		for (size_t i = 0; i < c->nenv; i++)
			if (may_be_secret(&c->env[i]))
				check_entry(run, c, &c->env[i]);
}

const struct rule rule_secret_in_gpu_env = {
	.name = "secret-in-gpu-env",
	.category = "env",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.since = "1.0",
	.summary = "a token or key in the clear text of a manifest",
	.why = "Everybody who may read the object or the repository can use it.",
	.remedy =
		"Put it into a Secret, refer to it with secretKeyRef, and replace the one that was written down.",
	.evidence = "Kubernetes: Good practices for Kubernetes Secrets",
	.check_pod = check,
};
