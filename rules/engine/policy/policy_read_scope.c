/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the scopes of settings: modes, presets, `overrides:` by object and
 * `paths:` by file. An override without a selector is rejected, because it
 * would match every object, so that later overrides never apply.
 */
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "policy_read.h"

/* Largest number of overrides. Each has a table of all rules; with a floor,
 * each pair of overrides has one. */
enum { OVERRIDES_MAX = 64 };

bool read_mode(struct policy_reader *r, const struct node *node, enum mode *out)
{
	static const char *const modes[] = {"audit", "warn", "enforce"};
	int found = read_choice(r, node, "mode", modes, 3);

	if (found >= 0)
		*out = (enum mode)found;
	return found >= 0;
}

bool read_preset(struct policy_reader *r, const struct node *node, bool may_pin,
		 struct preset_ref *out)
{
	const char *text = read_text(r, node);
	const char *why;

	if (!text)
		return false;
	if (!preset_parse(text, out, &why)) {
		if (why)
			problem(r, node, "%s", why);
		else
			problem(r, node,
				"unknown preset `%s`%s (recommended, "
				"strict or all)",
				shown(r, text),
				did_you_mean(r, preset_nearest(text)));
		return false;
	}
	if (out->pinned && !may_pin) {
		problem(r, node, "only `extends` can pin a version");
		return false;
	}
	return true;
}

/* --- overrides ------------------------------------------------------------ */

static void read_wants(struct policy_reader *r, const struct node *node,
		       void *into)
{
	struct label_wants *wants = into;
	struct arena *arena = policy_arena(r->policy);

	if (!node_is_map(node)) {
		problem(r, node, "expected a map of labels, found %s",
			node_noun(node));
		return;
	}
	if (!node->len)
		problem(r, node, "the map is empty");
	FOR_EACH_CHILD(node, child) {
		const char *key = arena_strdup(arena, child->key);
		const char *value = read_text(r, child);

		if (value)
			*VEC_PUSH(arena, wants->items, wants->n, wants->size) =
				(struct label_want){key, value};
	}
}

static void read_override_mode(struct policy_reader *r, const struct node *node,
			       void *into)
{
	struct policy_override *override = into;

	override->has_mode = read_mode(r, node, &override->mode);
}

static void read_override_preset(struct policy_reader *r,
				 const struct node *node, void *into)
{
	struct policy_override *override = into;

	override->has_preset = read_preset(r, node, false, &override->preset);
}

static void read_override_rules(struct policy_reader *r,
				const struct node *node, void *into)
{
	r->in_override = true;
	read_rules(r, node, into);
	r->in_override = false;
}

static bool has_any(const struct node *map, const char *const *keys)
{
	for (; *keys; keys++)
		if (!node_is_unset(node_get(map, *keys)))
			return true;
	return false;
}

#define IN_OVERRIDE(member) offsetof(struct policy_override, member)

static void read_override(struct policy_reader *r, const struct node *node,
			  void *unused)
{
	static const struct policy_field fields[] = {
		{"namespaces", field_patterns, 0, IN_OVERRIDE(namespaces)},
		{"namespaceLabels", read_wants, 0,
		 IN_OVERRIDE(namespace_labels)},
		{"kinds", field_patterns, 0, IN_OVERRIDE(kinds)},
		{"labels", read_wants, 0, IN_OVERRIDE(labels)},
		{"mode", read_override_mode, 0, 0},
		{"preset", read_override_preset, 0, 0},
		{"rules", read_override_rules, 0, IN_OVERRIDE(rules)},
		{0},
	};
	static const char *const selectors[] = {"namespaces", "namespaceLabels",
						"kinds", "labels", NULL};
	static const char *const effects[] = {"mode", "preset", "rules", NULL};
	struct policy *policy = r->policy;
	struct policy_override override = {.from = read_from(r, node)};

	read_fields(r, node, fields, &override);
	if (node_is_map(node) && !has_any(node, selectors))
		problem(r, node,
			"an override needs namespaces, namespaceLabels, "
			"kinds or labels");
	if (node_is_map(node) && !has_any(node, effects))
		problem(r, node, "an override needs a mode, a preset or rules");
	*VEC_PUSH(policy_arena(policy), policy->overrides, policy->noverrides,
		  policy->overrides_size) = override;
}

void read_overrides(struct policy_reader *r, const struct node *node,
		    void *unused)
{
	if (node_is_seq(node) && node->len > OVERRIDES_MAX) {
		problem(r, node, "more than %d overrides", OVERRIDES_MAX);
		return;
	}
	read_list(r, node, read_override, NULL);
}

/* --- paths ---------------------------------------------------------------- */

static void read_path_glob(struct policy_reader *r, const struct node *node,
			   void *into)
{
	read_pattern(r, node, 0, into);
}

static void read_path_cluster(struct policy_reader *r, const struct node *node,
			      void *into)
{
	const char **path = into, *why = NULL;

	*path = read_text(r, node);
	if (*path && r->options.refuse_path)
		why = r->options.refuse_path(r->options.context, *path);
	if (why)
		problem(r, node, "`cluster`: %s", why);
}

static void read_path_preset(struct policy_reader *r, const struct node *node,
			     void *into)
{
	struct preset_ref preset;

	if (read_preset(r, node, false, &preset))
		*(const char **)into = preset.name;
}

#define IN_PATH(member) offsetof(struct path_entry, member)

void read_path(struct policy_reader *r, const struct node *node, void *unused)
{
	static const struct policy_field fields[] = {
		{"glob", read_path_glob, REQUIRED, IN_PATH(pattern)},
		{"set", field_text, 0, IN_PATH(out.set)},
		{"cluster", read_path_cluster, 0, IN_PATH(out.cluster)},
		{"namespace", field_text, 0, IN_PATH(out.namespace)},
		{"preset", read_path_preset, 0, IN_PATH(out.preset)},
		{0},
	};
	struct policy *policy = r->policy;
	struct path_entry entry = {0};

	read_fields(r, node, fields, &entry);
	*VEC_PUSH(policy_arena(policy), policy->paths, policy->npaths,
		  policy->paths_size) = entry;
}
