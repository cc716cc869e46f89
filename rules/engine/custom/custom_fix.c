/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the fixes of custom rules: values at paths of the object, the pod or
 * the container. An unknown value or an error makes no fix.
 */
#include "base/text.h"
#include "custom_internal.h"

/* Cuts off and stores the last key if it is in brackets (['a.b/c']). Returns
 * false if the brackets are malformed. */
static bool take_key(struct arena *arena, char *path, struct custom_fix *out)
{
	char *bracket = strchr(path, '['), quote;
	size_t len;

	if (!bracket)
		return true;
	len = strlen(bracket);
	quote = bracket[1];
	if (len < 5 || (quote != '\'' && quote != '"') ||
	    bracket[len - 1] != ']' || bracket[len - 2] != quote ||
	    memchr(bracket + 2, quote, len - 4))
		return false;
	out->key = arena_strndup(arena, bracket + 2, len - 4);
	*bracket = '\0';
	return true;
}

bool custom_fix_parse(struct arena *arena, const char *text,
		      struct custom_fix *out)
{
	static const char *const bases[] = {
		[EACH_OBJECT] = "object.",
		[EACH_POD] = "pod.",
		[EACH_CONTAINER] = "container.",
	};
	char *path = arena_strdup(arena, text);
	size_t i = 0;

	out->path = text;
	if (!take_key(arena, path, out))
		return false;
	while (i < 3 && !text_starts(path, bases[i]))
		i++;
	if (i == 3)
		return false;
	out->base = (enum custom_each)i;
	out->dotted = path + strlen(bases[i]);
	return *out->dotted && *out->dotted != '.' &&
	       !strstr(out->dotted, "..") && !text_ends(out->dotted, ".");
}

static struct node *to_node(struct arena *arena, struct cel_value value);

static struct node *to_list(struct arena *arena, struct cel_value value)
{
	struct node *seq = edit_seq(arena);

	for (size_t i = 0; i < cel_size(value); i++) {
		struct node *item =
			to_node(arena, cel_list_at(arena, value, i));

		if (!item)
			return NULL;
		edit_item(seq, item);
	}
	return seq;
}

static struct node *to_map(struct arena *arena, struct cel_value value)
{
	struct node *map = edit_map(arena);

	for (size_t i = 0; i < cel_size(value); i++) {
		struct cel_entry entry = cel_map_at(arena, value, i);
		struct node *item = to_node(arena, entry.value);

		if (!item || !cel_is(entry.key, CEL_STRING))
			return NULL;
		edit_member(arena, map,
			    arena_strndup(arena, entry.key.text.data,
					  entry.key.text.len),
			    item);
	}
	return map;
}

/* Returns NULL for a value that no manifest can contain. */
static struct node *to_node(struct arena *arena, struct cel_value value)
{
	switch (value.kind) {
	case CEL_BOOL:
		return edit_bool(arena, value.boolean);
	case CEL_INT:
		return edit_int(arena, value.integer);
	case CEL_STRING:
		return edit_string(arena, arena_strndup(arena, value.text.data,
							value.text.len));
	case CEL_LIST:
		return to_list(arena, value);
	case CEL_MAP:
		return to_map(arena, value);
	default:
		return NULL;
	}
}

const struct node *custom_base(const struct custom_subject *s,
			       enum custom_each each)
{
	switch (each) {
	case EACH_CONTAINER:
		return s->container->node;
	case EACH_POD:
		return s->pod->template;
	default:
		return s->object->root;
	}
}

static const char *title_of(struct custom_subject *s)
{
	const struct custom_rule *rule = s->rule;
	const char *text = "set ";

	for (size_t i = 0; i < rule->nfixes; i++)
		text = arena_printf(s->arena, "%s%s%s", text, i ? ", " : "",
				    rule->fixes[i].path);
	return text;
}

void custom_fix(struct custom_subject *s, struct finding *finding)
{
	const struct custom_rule *rule = s->rule;
	struct arena *arena = rule_arena(s->run);
	struct node **values = ARENA_ARRAY(arena, struct node *, rule->nfixes);
	bool safe = true;
	struct fix *fix;

	for (size_t i = 0; i < rule->nfixes; i++) {
		struct cel_eval eval;

		values[i] = to_node(arena,
				    custom_run(&eval, s, rule->fixes[i].value));
		if (!values[i] || !custom_base(s, rule->fixes[i].base))
			return;
		safe &= rule->fixes[i].safe;
	}
	if (!rule->nfixes)
		return;
	fix = finding_fix(s->run, finding, safe, "%s", title_of(s));
	/* The author of the rule decides whether overwriting a value is
	 * safe. */
	fix_replaces(fix);
	for (size_t i = 0; i < rule->nfixes; i++) {
		const struct custom_fix *one = &rule->fixes[i];
		const struct node *base = custom_base(s, one->base);

		if (one->key)
			fix_set_key(fix, base, one->dotted, one->key,
				    values[i]);
		else
			fix_set(fix, base, one->dotted, values[i]);
	}
}
