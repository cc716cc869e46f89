/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports a custom rule as a ValidatingAdmissionPolicy and its binding. An
 * expression is copied as text, inside of a loop if the rule checks pods or
 * containers; `params` becomes a variable. Expressions are written as block
 * scalars, so that nothing in them needs an escape.
 */
#include "custom_internal.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/policy.h"
#include "kube/typed.h"

#define CONTAINERS                                                             \
	"(pod.?spec.?initContainers.orValue([])\n"                             \
	"+ pod.?spec.?containers.orValue([]))"

/* --- YAML ----------------------------------------------------------------- */

/* Writes a block scalar under a key, without white space around the text. */
static void put_text(struct buf *out, int indent, const char *key,
		     const char *text)
{
	size_t n;

	text += strspn(text, " \t\n");
	n = strlen(text);
	while (n && strchr(" \t\n", text[n - 1]))
		n--;
	buf_addf(out, "%*s%s: |-\n", indent, "", key);
	indent += 2 + 2 * (*key == '-');
	for (size_t i = 0, len; i < n; i += len + 1) {
		len = strcspn(text + i, "\n");
		len = len < n - i ? len : n - i;
		buf_addf(out, "%*s", len ? indent : 0, "");
		buf_add(out, text + i, len);
		buf_addc(out, '\n');
	}
}

/* --- expressions ---------------------------------------------------------- */

/* Returns the expression in parentheses, with `params` renamed to
 * `variables.params`. The closing parenthesis is on a new line if a comment
 * would hide it. */
static const char *part(struct custom_export *e,
			const struct cel_program *program)
{
	const char *text = cel_program_renamed(e->arena, program, "params",
					       "variables.params");

	text += strspn(text, " \t\n");
	return arena_printf(e->arena, strstr(text, "//") ? "(%s\n)" : "(%s)",
			    text);
}

/* Returns the condition: `assert` if `when` is true, else true. It cannot be
 * written with `||`, because a true assertion would hide an error in `when`. */
static const char *condition(struct custom_export *e)
{
	const struct custom_rule *rule = e->rule;
	const char *text = part(e, rule->assert);

	/* The comparison rejects values that are not bools. */
	if (cel_program_type(rule->assert)->kind != CEL_BOOL)
		text = arena_printf(e->arena, "(%s == true)", text);
	if (rule->when)
		text = arena_printf(e->arena, "%s\n? %s\n: true",
				    part(e, rule->when), text);
	return text;
}

static const char *validation(struct custom_export *e)
{
	const char *text = condition(e);

	if (e->rule->each == EACH_OBJECT)
		return text;
	if (e->rule->each == EACH_CONTAINER)
		text = arena_printf(e->arena, "%s.all(container,\n%s)",
				    CONTAINERS, text);
	return arena_printf(e->arena, "variables.pods.all(pod,\n%s)", text);
}

/* Returns `message`; NULL if it is missing, is not known to be a string, or
 * reads a variable that a messageExpression does not have. */
static const struct cel_program *message_of(const struct custom_rule *rule)
{
	const struct cel_program *message = rule->message;

	if (!message || cel_program_reads(message, "gpugate") ||
	    cel_program_reads(message, "pod") ||
	    cel_program_reads(message, "container") ||
	    cel_program_type(message)->kind != CEL_STRING)
		return NULL;
	return message;
}

static bool reads(const struct cel_program *program, const char *name)
{
	return program && cel_program_reads(program, name);
}

static void put_variable(struct buf *out, const char *name,
			 const struct buf *text)
{
	buf_addf(out, "  - name: %s\n", name);
	put_text(out, 4, "expression", text->data);
}

static void put_variables(struct custom_export *e, struct buf *out)
{
	const struct custom_rule *rule = e->rule;
	bool params = reads(rule->when, "params") ||
		      reads(rule->assert, "params") ||
		      reads(message_of(rule), "params");
	struct buf text;

	if (!params && rule->each == EACH_OBJECT)
		return;
	buf_adds(out, "  variables:\n");
	buf_init(&text);
	if (params) {
		export_params(e, &text);
		put_variable(out, "params", &text);
		buf_reset(&text);
	}
	if (rule->each != EACH_OBJECT) {
		export_pods(e, &text);
		put_variable(out, "pods", &text);
	}
	buf_release(&text);
}

/* --- objects that it matches ---------------------------------------------- */

/* Adds a kind unless the list contains it. */
static void add_kind(struct custom_export *e, const char *group,
		     const char *kind)
{
	for (size_t i = 0; i < e->nkinds; i++)
		if (!strcmp(e->kinds[i].group, group) &&
		    !strcmp(e->kinds[i].kind, kind))
			return;
	*VEC_PUSH(e->arena, e->kinds, e->nkinds, e->kinds_size) =
		(struct custom_kind){group, kind};
}

/* Finds the kinds with their groups. For a kind without a group, a rule about
 * objects matches any group; a rule about pods matches the groups in the table
 * of kinds, because it needs the paths to the pods. */
static void find_kinds(struct custom_export *e)
{
	const struct custom_rule *rule = e->rule;

	for (size_t i = 0; i < rule->nkinds; i++) {
		const struct custom_kind *kind = &rule->kinds[i];
		size_t n = 0;

		if (kind->group || rule->each == EACH_OBJECT) {
			add_kind(e, kind->group ? kind->group : "*",
				 kind->kind);
			continue;
		}
		while (kind_group(kind->kind, n))
			add_kind(e, kind_group(kind->kind, n++), kind->kind);
		if (!n)
			e->why = arena_printf(
				e->arena, "gpugate does not know the kind %s",
				kind->kind);
	}
}

static void put_rule(struct custom_export *e, struct buf *out,
		     const char *group, const char *resources)
{
	buf_addf(out,
		 "    - apiGroups: [\"%s\"]\n"
		 "      apiVersions: [\"*\"]\n"
		 "      operations: [CREATE, UPDATE]\n"
		 "      resources: [%s]\n",
		 group, resources);
	if (e->rule->namespaces.n)
		buf_adds(out, "      scope: Namespaced\n");
}

static void put_constraints(struct custom_export *e, struct buf *out)
{
	buf_adds(out, "  matchConstraints:\n    resourceRules:\n");
	if (!e->nkinds)
		put_rule(e, out, "*", "\"*\"");
	for (size_t i = 0; i < e->nkinds; i++) {
		const char *group = e->kinds[i].group, *list = NULL;
		size_t k = 0;

		while (k < i && strcmp(e->kinds[k].group, group) != 0)
			k++;
		for (; k >= i && k < e->nkinds; k++) {
			const char *plural;

			if (strcmp(e->kinds[k].group, group) != 0)
				continue;
			plural = typed_resource(e->arena, group, "v1",
						e->kinds[k].kind)
					 .plural;
			list = list ? arena_printf(e->arena, "%s, %s", list,
						   plural)
				    : plural;
		}
		if (list)
			put_rule(e, out, group, list);
	}
}

/* Returns the RE2 text for a character of a pattern outside of a set; NULL if
 * it is the character itself. */
static const char *as_re2(char c)
{
	static const char from[] = "*?{},";
	static const char *const to[] = {".*", ".", "(", ")", "|"};
	const char *at = strchr(from, c);

	return at ? to[at - from] : NULL;
}

/* Writes a pattern for names as RE2; `[!a]` becomes `[^a]`. */
static void put_pattern(struct buf *out, const char *glob)
{
	bool set = false, first = false;

	for (; *glob; glob++) {
		const char *other = set ? NULL : as_re2(*glob);

		if (other)
			buf_adds(out, other);
		else if (first && *glob == '!')
			buf_addc(out, '^');
		else
			buf_addf(out,
				 !set && strchr(".+()|^$\\", *glob) ? "\\%c"
								    : "%c",
				 *glob);
		first = !set && *glob == '[';
		set = first || (set && *glob != ']');
	}
}

/*
 * Writes the matchConditions. An object that is being deleted is not checked,
 * because it must be able to lose its finalizers.
 */
static void put_conditions(struct custom_export *e, struct buf *out)
{
	const struct patterns *patterns = &e->rule->namespaces;
	struct buf pattern, text;

	buf_adds(out, "  matchConditions:\n  - name: not-deleted\n");
	put_text(out, 4, "expression",
		 "oldObject == null || "
		 "!has(oldObject.metadata.deletionTimestamp)");
	if (!patterns->n)
		return;
	buf_init(&pattern);
	buf_init(&text);
	buf_adds(&pattern, "^(");
	for (size_t i = 0; i < patterns->n; i++) {
		buf_adds(&pattern, i ? "|" : "");
		put_pattern(&pattern, patterns->items[i].text);
	}
	buf_adds(&pattern, ")$");
	buf_adds(&text, "request.namespace.matches(");
	export_quoted(&text, pattern.data, pattern.len);
	buf_addc(&text, ')');
	buf_adds(out, "  - name: namespaces\n");
	put_text(out, 4, "expression", text.data);
	buf_release(&text);
	buf_release(&pattern);
}

/* --- the rule ------------------------------------------------------------- */

static const char *reason(const struct custom_rule *rule)
{
	if (rule->gpus)
		return "`match.gpus` needs facts that only gpugate knows";
	if (reads(rule->when, "gpugate") || reads(rule->assert, "gpugate"))
		return "`gpugate` is not a variable of the API server";
	if (rule->each != EACH_OBJECT && !rule->nkinds)
		return "`match.kinds` does not say which kinds hold the pods";
	return NULL;
}

static void put_binding(struct buf *out, const char *name, enum severity to)
{
	static const char *const actions[] = {[SEVERITY_INFO] = "Audit",
					      [SEVERITY_WARNING] = "Warn",
					      [SEVERITY_ERROR] = "Deny"};

	buf_addf(out,
		 "---\n"
		 "apiVersion: admissionregistration.k8s.io/v1\n"
		 "kind: ValidatingAdmissionPolicyBinding\n"
		 "metadata:\n"
		 "  name: %s\n"
		 "spec:\n"
		 "  policyName: %s\n"
		 "  validationActions: [%s]\n",
		 name, name, actions[to]);
}

/* True if the text contains characters that a block scalar cannot contain. */
static bool has_control(const struct buf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		unsigned char c = (unsigned char)text->data[i];

		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			return true;
	}
	return false;
}

static void put_policy(struct custom_export *e, struct buf *out)
{
	const struct custom_rule *rule = e->rule;

	buf_addf(out,
		 "---\n"
		 "apiVersion: admissionregistration.k8s.io/v1\n"
		 "kind: ValidatingAdmissionPolicy\n"
		 "metadata:\n"
		 "  name: %s\n"
		 "spec:\n"
		 "  failurePolicy: %s\n",
		 rule->rule.name, rule->fail_ignore ? "Ignore" : "Fail");
	put_constraints(e, out);
	put_conditions(e, out);
	put_variables(e, out);
	buf_adds(out, "  validations:\n");
	put_text(out, 2, "- expression", validation(e));
	put_text(out, 4, "message", rule->rule.summary);
	if (message_of(rule))
		put_text(out, 4, "messageExpression",
			 part(e, message_of(rule)));
}

bool custom_export(struct arena *arena, const struct rule *rule,
		   const struct setting *setting, struct buf *out,
		   const char **why)
{
	struct custom_export e = {.arena = arena,
				  .rule = (const struct custom_rule *)rule,
				  .given = setting->params};
	struct buf text;

	buf_init(&text);
	e.why = rule->check_object == custom_check
			? reason(e.rule)
			: "only custom rules are exported";
	if (!e.why)
		find_kinds(&e);
	if (!e.why)
		put_policy(&e, &text);
	if (!e.why && has_control(&text))
		e.why = "one of its texts contains a control character";
	if (!e.why) {
		put_binding(&text, rule->name, setting->severity);
		buf_add(out, text.data, text.len);
	}
	buf_release(&text);
	*why = e.why;
	return !e.why;
}
