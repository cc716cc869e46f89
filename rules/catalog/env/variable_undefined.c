/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports `$(NAME)` in command and args that no entry of env defines. The
 * kubelet keeps such a reference as it is (k8s.io/kubernetes third_party/
 * forked/golang/expansion, v1.36.1). In a script it is a command substitution,
 * so that only names in upper case with an underscore are reported there.
 * Only native kinds are checked, because operators and their presets add
 * variables; the kubelet adds those of Services.
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/env.h"

/* Returns the next reference at text or after it, `$(` and a name and `)`, or
 * NULL; sets *len to the length of the name. `$$(` is an escape. */
static const char *next_reference(const char *text, size_t *len)
{
	for (; *text; text++) {
		if (text[0] != '$')
			continue;
		if (text[1] != '(') {
			text += text[1] == '$';
			continue;
		}
		*len = 0;
		while (isalnum((unsigned char)text[2 + *len]) ||
		       text[2 + *len] == '_')
			(*len)++;
		if (*len && !isdigit((unsigned char)text[2]) &&
		    text[2 + *len] == ')')
			return text;
	}
	return NULL;
}

/* True for a name that is not a command. */
static bool is_variable(const char *name)
{
	bool underscore = false;

	for (; *name; name++) {
		if (islower((unsigned char)*name))
			return false;
		underscore |= *name == '_';
	}
	return underscore;
}

/* True if something else than env may define it. */
static bool is_given(const struct container *c, const char *name)
{
	return container_env(c, name) || text_contains(name, "_SERVICE_") ||
	       text_contains(name, "_PORT") ||
	       text_starts(name, "KUBERNETES_") ||
	       text_eq(name, "JOB_COMPLETION_INDEX");
}

static void check_word(struct rule_run *run, const struct container *c,
		       const struct node *word)
{
	const char *text = node_str(word), *name;
	size_t len;

	if (!text || node_is_unknown(word))
		return;
	for (const char *at = text; (at = next_reference(at, &len));
	     at += len + 3) {
		bool script = strpbrk(text, " \n") != NULL;

		name = arena_strndup(rule_arena(run), at + 2, len);
		if (is_given(c, name) || (script && !is_variable(name)))
			continue;
		report_container(
			run, c, word,
			script ? "`$(%s)` in container `%s` is not replaced, because `env` does not define it: the shell runs it as a command"
			       : "`$(%s)` in container `%s` is not replaced, because `env` does not define it",
			name, container_title(c));
		return;
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	static const char *const lists[] = {"command", "args", NULL};

	if (!object_kind_has(pod->object, KIND_NATIVE) || pod->object->parent ||
	    pod->object->fragment)
		return;
	FOR_EACH_CONTAINER(pod, c)
		for (const char *const *list = lists; *list; list++)
			if (node_is_unset(node_get(c->node, "envFrom")))
				FOR_EACH_CHILD(node_get(c->node, *list), word)
					check_word(run, c, word);
}

const struct rule rule_variable_undefined = {
	.name = "variable-undefined",
	.category = "env",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS | PODSPEC | NEW_TEMPLATES,
	.since = "1.0",
	.summary = "a command refers to a variable that env does not define",
	.why = "The kubelet passes the reference on as it is: the program gets a wrong argument, or the shell an unknown command.",
	.remedy =
		"Define the variable in env, or write $$(NAME) for a literal $(NAME). In a shell, use $NAME.",
	.evidence =
		"https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/",
	.check_pod = check,
};
