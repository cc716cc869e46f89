/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates tables of rejections: CEL expressions over objects of an operator's
 * kinds, or over pod templates. Each one is compiled once per run, when it is
 * first evaluated.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cel/cel.h"
#include "engine/finding.h"
#include "kube/object.h"
#include "kube/runtime.h"
#include "run_internal.h"

enum { SELF, OWNER, OBJECT, RUNTIME, VARIABLES };

/* A part of an object, with the variables that expressions read. */
struct rejected_part {
	const struct node *values[VARIABLES];
	const struct pod *pod; /* pod made from the template, or NULL */
	bool made; /* part of objects that the operator makes later */
};

/* The rejections for objects of one kind. */
struct kind_rejections {
	const char *group, *kind;
	struct kind_rejection {
		const struct rejection *one;
		/* path of the part, which ends at ' ' or '\0' */
		const char *path;
	} * items;
	size_t n, size;
	struct kind_rejections *next;
};

/* The rejections of a rule. Each one is compiled when it is first evaluated. */
struct compiled_rejections {
	const struct rule *rule;
	const struct cel_program **rules, **messages;
	struct kind_rejections *kinds; /* kinds of the objects checked so far */
	struct compiled_rejections *next;
};

static const struct cel_program *
compile_text(struct run_state *state, const struct cel_program **program,
	     const char *text)
{
	struct arena *arena = &state->arena;
	struct cel_issues issues = {.arena = arena};
	struct cel_variable *v;

	if (*program)
		return *program;
	if (!state->rejection_env) {
		v = ARENA_ARRAY(arena, struct cel_variable, VARIABLES + 1);
		for (size_t i = 0; i < VARIABLES; i++)
			v[i].type = cel_type_of_kind(CEL_DYN);
		v[SELF].name = "self";
		v[OWNER].name = "owner";
		v[OBJECT].name = "object";
		v[RUNTIME].name = "runtime";
		state->rejection_env = cel_env_new(arena, v);
	}
	*program = cel_compile(arena, state->rejection_env, text, strlen(text),
			       &issues);
	if (!*program)
		BUG("%s: %s", text, issues.items[0].text);
	return *program;
}

static struct compiled_rejections *compiled_of(struct run_state *state,
					       const struct rule *rule)
{
	struct arena *arena = &state->arena;
	struct compiled_rejections *all = state->rejections;
	size_t n = 0;

	while (all && all->rule != rule)
		all = all->next;
	if (all)
		return all;
	while (rule->rejections->items[n].id)
		n++;
	all = ARENA_NEW(arena, struct compiled_rejections);
	all->rule = rule;
	all->rules = ARENA_ARRAY(arena, const struct cel_program *, n);
	all->messages = ARENA_ARRAY(arena, const struct cel_program *, n);
	all->next = state->rejections;
	state->rejections = all;
	return all;
}

static struct cel_value read_part(struct cel_eval *eval, void *context,
				  unsigned index)
{
	const struct rejected_part *part = context;

	return cel_from_node(eval->arena, part->values[index], NULL);
}

static struct cel_value evaluate(struct rule_run *rr, struct cel_eval *eval,
				 const struct cel_program *program,
				 const struct rejected_part *part)
{
	struct run_state *state = rr->run->state;
	struct cel_eval_options options = {
		.variable = read_part,
		.context = (void *)(uintptr_t)part,
		.budget = state->rejections_left,
		.work = state->rejections_left,
		.fragment = rr->object->fragment,
	};
	struct cel_value value;
	uint64_t spent;

	cel_eval_init(eval, program, &state->values, &options);
	value = cel_eval_run(eval);
	spent = eval->cost + eval->work;
	state->rejections_left -=
		spent < state->rejections_left ? spent : state->rejections_left;
	return value;
}

static bool is_word(const char *text, const char *word, size_t len)
{
	return text && strncmp(text, word, len) == 0 && !text[len];
}

/* Returns the list item at this index or with this name, or the map's value. */
static const struct node *item_of(const struct node *of, const char *key,
				  size_t len)
{
	bool by_index = *key >= '0' && *key <= '9';
	unsigned long index = by_index ? strtoul(key, NULL, 10) : 0;

	if (node_is_map(of))
		return node_getn(of, key, len);
	FOR_EACH_CHILD(of, item) {
		if (by_index ? !index--
			     : is_word(node_str(node_get(item, "name")), key,
				       len))
			return item;
	}
	return NULL;
}

/* Returns the value at the path ("a.b[0].c[name].d[a.key/of.a.map]"), or its
 * nearest existing parent; *rest is then the missing part of the path. */
static const struct node *nearest_node(const struct node *self,
				       const char *path, const char **rest)
{
	while (*(*rest = path)) {
		bool is_item = *path == '[';
		size_t len = strcspn(path += is_item, is_item ? "]" : ".[");
		const struct node *child = is_item ? item_of(self, path, len)
						   : node_getn(self, path, len);

		if (!child)
			break;
		self = child;
		path += len + is_item;
		path += *path == '.';
	}
	return self;
}

/* Returns yes if the cluster's version of the operator has the check. A version
 * whose code was not read may have it or not. */
static enum tri version_has(struct rule_run *rr, const struct rejection *one)
{
	const char *versions = rr->rule->rejections->versions;
	const char *text =
		operator_version(rr, rr->rule->rejections->component);
	enum tri since;
	struct version v;

	if (!text)
		return one->since || one->until ? TRI_UNKNOWN : TRI_YES;
	v = version_read(text);
	if (one->until && version_is_later_minor(v, version_read(one->until)))
		return TRI_NO;
	since = one->since ? version_is_at_least(v, version_read(one->since))
			   : TRI_YES;
	return since == TRI_YES && versions && !version_was_read(versions, v)
		       ? TRI_UNKNOWN
		       : since;
}

/* Returns the words in front of "the object", such as "Kueue 0.18 and later
 * reject". */
static const char *who_rejects(struct arena *arena, const struct rejections *of,
			       const struct rejection *one)
{
	if (one->since && one->until && text_eq(one->since, one->until))
		return arena_printf(arena, "only %s %s rejects", of->by,
				    one->since);
	if (one->since && one->until)
		return arena_printf(arena, "%s %s to %s reject", of->by,
				    one->since, one->until);
	if (one->since)
		return arena_printf(arena, "%s %s and later reject", of->by,
				    one->since);
	if (one->until)
		return arena_printf(arena, "%s %s and earlier reject", of->by,
				    one->until);
	return arena_printf(arena, "%s rejects", of->by);
}

static const char *rejected_thing(const struct rejections *of,
				  const struct rejected_part *part)
{
	if (part->made)
		return "Jobs of the object";
	if (!part->pod ||
	    (of->rejects_object && of->rejects_object(part->pod->object)))
		return "object";
	return "pod";
}

/* Returns the words behind "the object" that limit the statement. */
static const char *unless_or_in(struct rule_run *rr,
				const struct rejection *one)
{
	const struct rejections *of = rr->rule->rejections;

	if (one->gate)
		return arena_printf(rule_arena(rr),
				    " %s its feature gate %s is on",
				    one->gate_on ? "if" : "unless", one->gate);
	if (one->since || one->until || version_has(rr, one) == TRI_YES)
		return "";
	return arena_printf(rule_arena(rr), " in the versions %s",
			    of->versions);
}

/* Returns what follows from the rejection: "Kueue rejects the object". */
static const char *consequence(struct rule_run *rr,
			       const struct rejected_part *part,
			       const struct rejection *one)
{
	const struct rejections *of = rr->rule->rejections;
	const char *unless = unless_or_in(rr, one);

	if (one->effect)
		return arena_printf(rule_arena(rr), "%s%s", one->effect,
				    unless);
	return arena_printf(rule_arena(rr), "%s the %s%s",
			    who_rejects(rule_arena(rr), of, one),
			    rejected_thing(of, part), unless);
}

static struct finding *report_rejection(struct rule_run *rr,
					const struct rejected_part *part,
					const struct node *at,
					struct cel_text why,
					const struct rejection *one)
{
	const char *end = consequence(rr, part, one);
	struct finding *f =
		part->pod ? report_pod(rr, part->pod, at, "%.*s: %s",
				       (int)why.len, why.data, end)
			  : report_object(rr, rr->object, at, "%.*s: %s",
					  (int)why.len, why.data, end);

	f->check = f->cause = one->id;
	if (one->gate)
		finding_severity(f, SEVERITY_INFO);
	else if (version_has(rr, one) != TRI_YES)
		finding_severity(f, SEVERITY_WARNING);
	return f;
}

/* True if the rule is false, or would be for any text in place of `$NAME`. */
static bool is_false(struct cel_value value, const struct rejection *one)
{
	const struct node *node = value.node;

	return cel_is(value, CEL_UNKNOWN)
		       ? one->any_text && node && node->type == NODE_STRING &&
				 *node->str == '$'
		       : cel_is(value, CEL_BOOL) && !value.boolean;
}

/* Evaluates a rejection for a part, and reports it if its rule is false. An
 * unknown result is skipped, and so is an error, which a value of the wrong
 * type causes: the API server rejects wrong types itself. */
static void compare(struct rule_run *rr, const struct rejected_part *part,
		    const struct rejection *one)
{
	const struct compiled_rejections *all =
		compiled_of(rr->run->state, rr->rule);
	size_t i = (size_t)(one - rr->rule->rejections->items);
	struct cel_eval eval, of_message;
	struct cel_value value;
	const struct node *at = NULL;
	const char *rest = "";
	struct finding *f;

	if (!one->rule || setting_check_off(rr->setting, rr->rule, one))
		return;
	if (one->field)
		at = nearest_node(part->values[SELF], one->field, &rest);
	/* The API server drops nulls, so they count as absent. */
	if ((*rest && !one->absent) || (at && node_is_unset(at)))
		return;
	value = evaluate(
		rr, &eval,
		compile_text(rr->run->state, &all->rules[i], one->rule), part);
	if (eval.over)
		rule_not_run(rr, "the object has too many parts to compare");
	if (!is_false(value, one))
		return;
	if (!one->field)
		cel_eval_blame(&eval, &at, 1);
	if (at && node_is_unset(at))
		return;
	value = evaluate(
		rr, &of_message,
		compile_text(rr->run->state, &all->messages[i], one->message),
		part);
	if (!cel_is(value, CEL_STRING) || version_has(rr, one) == TRI_NO)
		return;
	f = report_rejection(rr, part, at, value.text, one);
	if (one->repair)
		one->repair(rr, f, part->values[SELF]);
}

static void check_rejection(struct rule_run *rr,
			    const struct rejected_part *part,
			    const struct rejection *one)
{
	compare(rr, part, one);
	arena_reset(&rr->run->state->values);
}

/* Returns the path of the part that the word names, "" for the whole object;
 * NULL if the word is for another kind. */
static const char *path_for(const struct object *object, const char *group,
			    const char *word, size_t len)
{
	const char *path = memchr(word, ':', len);
	size_t kind_len = path ? (size_t)(path - word) : len;
	const char *slash = memchr(word, '/', kind_len);
	size_t group_len = group ? strlen(group) : 0;

	if (slash) {
		group = word;
		group_len = (size_t)(slash - word);
		kind_len -= group_len + 1;
		word = slash + 1;
	}
	if (!is_word(object->kind, word, kind_len) ||
	    (group && !is_word(text_or_empty(object->group), group, group_len)))
		return NULL;
	return path ? path + 1 : "";
}

static const struct node *part_at(const struct node *part, const char *path)
{
	while (part && *path && *path != ' ') {
		size_t n = strcspn(path, ". ");

		part = node_getn(part, path, n);
		path += n;
		path += *path == '.';
	}
	return part;
}

static void add_words(struct arena *arena, struct kind_rejections *of,
		      const struct object *object, const char *group,
		      const struct rejection *one)
{
	const char *word = one->kind;

	while (word && *word) {
		size_t len = strcspn(word, " ");
		const char *path = path_for(object, group, word, len);

		if (path)
			*VEC_PUSH(arena, of->items, of->n, of->size) =
				(struct kind_rejection){one, path};
		word += len + (word[len] == ' ');
	}
}

/* Returns the rejections for objects of this kind. The result is stored for the
 * next object. */
static const struct kind_rejections *rejections_of(struct run_state *state,
						   const struct rule *rule,
						   const struct object *object)
{
	struct compiled_rejections *all = compiled_of(state, rule);
	struct kind_rejections *of = all->kinds;
	const char *group = text_or_empty(object->group);
	const struct rejection *items = rule->rejections->items;
	static const struct kind_rejections none;
	struct kind_rejections read = {0};

	while (of &&
	       !(text_eq(of->kind, object->kind) && text_eq(of->group, group)))
		of = of->next;
	if (of)
		return of;
	for (size_t i = 0; items[i].id; i++)
		add_words(&state->arena, &read, object, rule->rejections->group,
			  &items[i]);
	if (!read.n)
		return &none;
	of = ARENA_NEW(&state->arena, struct kind_rejections);
	*of = read;
	of->kind = arena_strdup(&state->arena, object->kind);
	of->group = arena_strdup(&state->arena, group);
	of->next = all->kinds;
	return all->kinds = of;
}

/* Returns the runtime to which the object refers, or NULL if it is unknown. */
static const struct node *runtime_root(const struct object *object)
{
	return object->uses ? object->uses->runtime->root : NULL;
}

static void check_each(struct rule_run *rr, const struct object *object,
		       const struct node *owner, const struct rejection *one)
{
	struct rejected_part part = {
		.values = {owner, owner, object->root, runtime_root(object)},
		.made = owner != object->root &&
			text_eq(rr->rule->rejections->maker, object->kind),
	};

	if (!one->each) {
		check_rejection(rr, &part, one);
		return;
	}
	for (const struct node *item = node_first(node_path(owner, one->each));
	     item; item = item->next) {
		part.values[SELF] = item;
		check_rejection(rr, &part, one);
	}
}

/* True for a version that no release of the operator whose code was read
 * serves; api-version-removed reports it. */
static bool is_unserved(const struct object *object)
{
	const struct removed_version *removed = object_removed_version(object);

	return removed && !removed->since;
}

void rule_check_rejections(struct rule_run *rr, const struct object *object)
{
	const struct rejections *rejections = rr->rule->rejections;
	const struct kind_rejections *of;

	if ((rejections->version &&
	     !text_eq(object->version, rejections->version)) ||
	    (rejections->group && !rejections->groups &&
	     !text_eq(object->group, rejections->group)))
		return;
	of = rejections_of(rr->run->state, rr->rule, object);
	if (of->n && is_unserved(object))
		return;
	for (size_t i = 0; i < of->n; i++) {
		const struct node *part =
			part_at(object->root, of->items[i].path);

		if (part)
			check_each(rr, object, part, of->items[i].one);
	}
}

void rule_check_pod_rejections(struct rule_run *rr, const struct pod *pod)
{
	const struct rejected_part part = {
		.values = {pod->template, pod->template, rr->object->root},
		.pod = pod};

	if (!pod->template)
		return;
	for (size_t i = 0; rr->rule->rejections->items[i].id; i++)
		if (!rr->rule->rejections->items[i].kind)
			check_rejection(rr, &part,
					&rr->rule->rejections->items[i]);
}

struct finding *rule_report_rejection(struct rule_run *rr,
				      const struct pod *pod,
				      const struct node *at, const char *id,
				      const char *fmt, ...)
{
	const struct rejection *one = rule_rejection(rr->rule, id);
	const struct rejected_part part = {.pod = pod};
	const char *why;
	va_list args;

	if (setting_check_off(rr->setting, rr->rule, one) ||
	    version_has(rr, one) == TRI_NO)
		return NULL;
	va_start(args, fmt);
	why = arena_vprintf(rule_arena(rr), fmt, args);
	va_end(args);
	return report_rejection(rr, &part, at,
				(struct cel_text){why, strlen(why)}, one);
}
