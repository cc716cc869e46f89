/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document of kind Policy: its table of keys, and the readers of the small
 * ones. The order of keys does not matter; what depends on several of them is
 * computed after all are read (policy_build.c).
 */
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "policy_read.h"

static void skip(struct policy_reader *r, const struct node *node, void *unused)
{
}

static void read_extended(struct policy_reader *r, const struct node *node,
			  void *unused)
{
	struct policy *policy = r->policy;
	struct preset_ref ref;

	if (read_preset(r, node, true, &ref))
		*VEC_PUSH(policy_arena(policy), policy->extends,
			  policy->nextends, policy->extends_size) = ref;
}

static void read_extends(struct policy_reader *r, const struct node *node,
			 void *unused)
{
	if (node_str(node))
		read_extended(r, node, NULL);
	else
		read_list(r, node, read_extended, NULL);
}

static void read_policy_mode(struct policy_reader *r, const struct node *node,
			     void *unused)
{
	read_mode(r, node, &r->policy->mode);
}

static void read_contact(struct policy_reader *r, const struct node *node,
			 void *unused)
{
	const char *text = read_text(r, node);

	if (text && strpbrk(text, "\n\r"))
		problem(r, node, "the contact must be one line");
	r->policy->contact = text;
}

static void read_patch_owners(struct policy_reader *r, const struct node *node,
			      void *unused)
{
	read_bool(r, node, &r->policy->patch_owners);
}

static void read_controller_pods(struct policy_reader *r,
				 const struct node *node, void *unused)
{
	static const char *const actions[] = {"audit", "deny"};
	int found = read_choice(r, node, "action", actions, 2);

	r->policy->has_controller_pods = found >= 0;
	r->policy->controller_pods = found == 1;
}

static void read_infrastructure_name(struct policy_reader *r,
				     const struct node *node, void *unused)
{
	struct policy *policy = r->policy;
	const char *text = read_text(r, node);

	if (text && !text_is_label(text, strlen(text)))
		problem(r, node,
			"`%s` is not the name of a namespace: names are "
			"exact, without `*`",
			shown(r, text));
	else if (text)
		*VEC_PUSH(policy_arena(policy), policy->infrastructure,
			  policy->ninfrastructure,
			  policy->infrastructure_size) = text;
}

static void read_infrastructure_names(struct policy_reader *r,
				      const struct node *node, void *unused)
{
	struct policy *policy = r->policy;

	if (!node_is_seq(node) || node->len)
		read_list(r, node, read_infrastructure_name, NULL);
	*VEC_PUSH(policy_arena(policy), policy->infrastructure,
		  policy->ninfrastructure, policy->infrastructure_size) = NULL;
	policy->kube.infrastructure = policy->infrastructure;
}

static void read_infrastructure(struct policy_reader *r,
				const struct node *node, void *unused)
{
	static const struct policy_field fields[] = {
		{"namespaces", read_infrastructure_names, true},
		{0},
	};

	read_fields(r, node, fields, NULL);
}

static void read_policy_rules(struct policy_reader *r, const struct node *node,
			      void *unused)
{
	read_rules(r, node, &r->policy->entries);
}

static void read_locked(struct policy_reader *r, const struct node *node,
			void *unused)
{
	r->policy->locked = read_rule_words(r, node);
}

static void read_excluded(struct policy_reader *r, const struct node *node,
			  void *unused)
{
	struct policy *policy = r->policy;
	struct path_pattern pattern;

	if (read_pattern(r, node, 0, &pattern))
		*VEC_PUSH(policy_arena(policy), policy->exclude.items,
			  policy->exclude.n, policy->exclude.size) = pattern;
}

static void read_exclude(struct policy_reader *r, const struct node *node,
			 void *unused)
{
	read_list(r, node, read_excluded, NULL);
}

static void read_max_age(struct policy_reader *r, const struct node *node,
			 void *unused)
{
	static const char units[] = "smhd";
	static const int seconds[] = {1, 60, 3600, 86400};
	const char *text = node_str(node), *unit;
	int64_t n = 0;
	size_t i = 0;

	for (; text && text[i] >= '0' && text[i] <= '9' && i < 9; i++)
		n = n * 10 + (text[i] - '0');
	unit = i && text[i] ? strchr(units, text[i]) : NULL;
	if (!unit || text[i + 1] || !n) {
		problem(r, node,
			"expected a duration such as 24h (s, m, h or d)");
		return;
	}
	r->policy->max_age = n * seconds[unit - units];
}

/* --- accelerators --------------------------------------------------------- */

static bool is_resource(const char *text)
{
	const char *slash = strchr(text, '/');
	const char *star = strchr(text, '*');

	return slash && slash != text && slash[1] &&
	       !strpbrk(text, " \t\r\n,=") && (!star || !star[1]);
}

static void read_name(struct policy_reader *r, const struct node *node,
		      void *into)
{
	struct accelerator *accelerator = into;

	accelerator->name = read_text(r, node);
	if (accelerator->name && !is_resource(accelerator->name))
		problem(r, node,
			"`%s` is not a resource such as `example.com/gpu`",
			shown(r, accelerator->name));
}

static void read_vendor(struct policy_reader *r, const struct node *node,
			void *into)
{
	struct accelerator *accelerator = into;

	accelerator->vendor = read_text(r, node);
}

static void read_class(struct policy_reader *r, const struct node *node,
		       void *into)
{
	static const char *const classes[] = {"whole", "shared", "mig",
					      "virtual", "share"};
	struct accelerator *accelerator = into;
	int found = read_choice(r, node, "class", classes, 5);

	if (found >= 0)
		accelerator->class = (enum accel_class)found;
}

static void read_taint(struct policy_reader *r, const struct node *node,
		       void *into)
{
	struct accelerator *accelerator = into;

	accelerator->taint = read_text(r, node);
}

static void read_accelerator(struct policy_reader *r, const struct node *node,
			     void *unused)
{
	static const struct policy_field fields[] = {
		{"name", read_name, true},
		{"vendor", read_vendor, true},
		{"class", read_class, false},
		{"taint", read_taint, false},
		{0},
	};
	struct accelerator accelerator = {.class = ACCEL_WHOLE};

	read_fields(r, node, fields, &accelerator);
	*VEC_PUSH(policy_arena(r->policy), r->accelerators, r->naccelerators,
		  r->accelerators_size) = accelerator;
}

static void read_accelerators(struct policy_reader *r, const struct node *node,
			      void *unused)
{
	read_list(r, node, read_accelerator, NULL);
}

/* --- kinds ---------------------------------------------------------------- */

static size_t count_stars(const char *pointer)
{
	size_t n = 0;

	for (const char *s = pointer; (s = strstr(s, "/*")); s += 2)
		n += s[2] == '/' || !s[2];
	return n;
}

static const char *read_pointer(struct policy_reader *r,
				const struct node *node)
{
	const char *text = read_text(r, node);

	if (!text)
		return NULL;
	if (*text == '/' && !strstr(text, "//") && !text_ends(text, "/"))
		return text;
	problem(r, node,
		"`%s` is not a pointer such as "
		"`/spec/roles/*/template`",
		shown(r, text));
	return NULL;
}

static void read_kind_version(struct policy_reader *r, const struct node *node,
			      void *into)
{
	struct policy_kind *kind = into;

	kind->api_version = read_text(r, node);
}

static void read_kind_kind(struct policy_reader *r, const struct node *node,
			   void *into)
{
	struct policy_kind *kind = into;

	kind->kind = read_text(r, node);
}

static void read_kind_pods(struct policy_reader *r, const struct node *node,
			   void *into)
{
	struct policy_kind *kind = into;

	kind->pods = read_pointer(r, node);
}

static void read_kind_replicas(struct policy_reader *r, const struct node *node,
			       void *into)
{
	struct policy_kind *kind = into;

	kind->replicas = read_pointer(r, node);
}

static void read_kind(struct policy_reader *r, const struct node *node,
		      void *unused)
{
	static const struct policy_field fields[] = {
		{"apiVersion", read_kind_version, true},
		{"kind", read_kind_kind, true},
		{"pods", read_kind_pods, true},
		{"replicas", read_kind_replicas, false},
		{0},
	};
	struct policy_kind kind = {0};

	read_fields(r, node, fields, &kind);
	if (kind.pods && kind.replicas &&
	    count_stars(kind.replicas) > count_stars(kind.pods))
		problem(r, node_get(node, "replicas"),
			"`replicas` has more `*` than `pods`");
	*VEC_PUSH(policy_arena(r->policy), r->kinds, r->nkinds, r->kinds_size) =
		kind;
}

static void read_kinds(struct policy_reader *r, const struct node *node,
		       void *unused)
{
	read_list(r, node, read_kind, NULL);
}

void read_policy_document(struct policy_reader *r, const struct node *root)
{
	static const struct policy_field fields[] = {
		{"apiVersion", skip, true},
		{"kind", skip, true},
		{"extends", read_extends, false},
		{"mode", read_policy_mode, false},
		{"contact", read_contact, false},
		{"patchOwners", read_patch_owners, false},
		{"rules", read_policy_rules, false},
		{"accelerators", read_accelerators, false},
		{"kinds", read_kinds, false},
		{"overrides", read_overrides, false},
		{"paths", read_paths, false},
		{"controllers", read_controllers, false},
		{"infrastructure", read_infrastructure, false},
		{"platform", read_platform, false},
		{"controllerPods", read_controller_pods, false},
		{"breakGlass", read_break_glass, false},
		{"suppressions", read_suppressions, false},
		{"exempt", read_exempt, false},
		{"locked", read_locked, false},
		{"exclude", read_exclude, false},
		{"custom", skip, false} /* read before */,
		{"maxAge", read_max_age, false},
		{0},
	};

	read_fields(r, root, fields, NULL);
}
