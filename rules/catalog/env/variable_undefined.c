/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports `$(NAME)` in command and args that no entry of env defines. The
 * kubelet keeps such a reference as it is (k8s.io/kubernetes third_party/
 * forked/golang/expansion, v1.36.1). In a script it is a command substitution,
 * so that only names that look like variables are reported there. Only kinds
 * whose variables are known are checked, only containers without envFrom, and
 * no names that webhooks of clouds and agents define. Also reports a PATH in
 * env that refers to itself, as `$PATH:/opt/bin`: the kubelet replaces neither
 * $NAME nor a variable of the image.
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

/* True for a name in a script that is not a command: it has an upper-case
 * letter and an underscore, and is not a function of the script. False if the
 * script has a quoted here-document, sed or a function, because the name may be
 * meant for another program. */
static bool is_variable(const char *name, const char *script)
{
	static const char *const others[] = {
		"<<'", "<<\"", "<<-'", "<<-\"", "sed ", "function ", NULL};
	const char *at = script;
	bool upper = false;

	for (const char *c = name; *c; c++)
		upper |= isupper((unsigned char)*c) != 0;
	if (text_any(script, others, text_contains))
		return false;
	while ((at = strstr(at, name)) != NULL) {
		at += strlen(name);
		if (*at == '(' || text_starts(at, " ("))
			return false;
	}
	return upper && strchr(name, '_');
}

/* True if env defines the variable, or something else may. This can be the
 * kubelet, the controller of the kind (LeaderWorkerSet 09c433b8
 * api/leaderworkerset/v1, Kthena 3cc05728
 * pkg/apis/workload/v1alpha1/model_serving_types.go), or a webhook for pods of
 * EKS (aws/amazon-eks-pod-identity-webhook pkg/handler/handler.go), Azure
 * (Azure/azure-workload-identity pkg/webhook/consts.go), GKE (MEGASCALE_),
 * Datadog, OpenTelemetry and Run:ai. */
static bool is_given(const struct container *c, const char *name)
{
	static const char *const parts[] = {"_SERVICE_", "_PORT", NULL};
	static const char *const starts[] = {
		"KUBERNETES_", "LWS_", "TPU_",	"AWS_",	  "AZURE_",
		"MEGASCALE_",  "DD_",  "OTEL_", "RUNAI_", NULL};
	static const char *const names[] = {"JOB_COMPLETION_INDEX",
					    "ENTRY_ADDRESS", "WORKER_INDEX",
					    "GROUP_SIZE", NULL};

	return container_env(c, name) || text_any(name, parts, text_contains) ||
	       text_any(name, starts, text_starts) ||
	       text_any(name, names, text_eq);
}

/* True for kinds whose controllers add no other variables. */
static bool is_known(const struct object *object)
{
	return object_kind_has(object, KIND_NATIVE) ||
	       text_eq(object->group, "leaderworkerset.x-k8s.io") ||
	       text_eq(object->group, "workload.serving.volcano.sh");
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
		bool script = strpbrk(text, " \t\n;|<>`") != NULL;

		name = arena_strndup(rule_arena(run), at + 2, len);
		if (is_given(c, name) || (at > text && at[-1] == '\\') ||
		    (script && !is_variable(name, text)))
			continue;
		report_container(
			run, c, word,
			script ? "`$(%s)` in container `%s` is not replaced, because `env` does not define it: a shell runs it as a command"
			       : "`$(%s)` in container `%s` is not replaced, because `env` does not define it",
			name, container_title(c));
		return;
	}
}

/* --- env ------------------------------------------------------------------ */

/* True if the list of folders contains PATH itself as a variable. Only an
 * earlier entry can define $(PATH). */
static bool refers_to_itself(const char *value)
{
	static const char *const names[] = {"${PATH}", "$(PATH)", NULL};
	const char *at = value;

	if (!strchr(value, ':'))
		return false;
	while ((at = strstr(at, "$PATH"))) {
		at += strlen("$PATH");
		if (!isalnum((unsigned char)*at) && *at != '_')
			return true;
	}
	return text_any(value, names, text_contains);
}

static void check_path(struct rule_run *run, const struct container *c)
{
	const struct node *at = node_get(container_env(c, "PATH"), "value");
	struct finding *f;
	size_t n = 0;

	if (!at || at->type != NODE_STRING || !refers_to_itself(at->str))
		return;
	for (size_t i = 0; i < c->nenv; i++)
		n += text_eq(c->env[i].name->str, "PATH");
	if (n > 1)
		return;
	f = report_container(
		run, c, at,
		"the reference to PATH in its own value is not replaced: container `%s` loses the folders of its image",
		container_title(c));
	finding_severity(f, SEVERITY_INFO);
	finding_help(run, f, "Write all folders, or extend PATH in a script.");
}

/* Checks all pods, also launchers without devices. */
static void check_paths(struct rule_run *run, const struct object *object)
{
	FOR_EACH_POD(object, pod)
		FOR_EACH_CONTAINER(pod, c)
			check_path(run, c);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	static const char *const lists[] = {"command", "args", NULL};

	if (!is_known(pod->object) || pod->object->parent ||
	    pod->object->fragment)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		if (!node_is_unset(node_get(c->node, "envFrom")))
			continue;
		for (const char *const *list = lists; *list; list++)
			FOR_EACH_CHILD(node_get(c->node, *list), word)
				check_word(run, c, word);
	}
}

const struct rule rule_variable_undefined = {
	.name = "variable-undefined",
	.category = "env",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"a command, or PATH, refers to a variable that env does not define",
	.why = "The kubelet passes the reference on as it is: the program gets a wrong argument, the shell runs an unknown command, or PATH lacks the folders of the image.",
	.remedy =
		"Define the variable in env, or write $$(NAME) for a literal $(NAME). In a shell, use $NAME.",
	.evidence =
		"https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/",
	.check_pod = check,
	.check_object = check_paths,
};
