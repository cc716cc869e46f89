/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document of kind Policy: its table of keys, and the readers of the small
 * ones. The order of keys does not matter: values that depend on several keys
 * are computed at the end (policy_build.c).
 */
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "policy_read.h"

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
			     void *into)
{
	read_mode(r, node, into);
}

static void read_contact(struct policy_reader *r, const struct node *node,
			 void *unused)
{
	const char *text = read_text(r, node);

	if (text && strpbrk(text, "\n\r"))
		problem(r, node, "the contact must be one line");
	r->policy->contact = text;
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
	const char *text = read_text(r, node);

	if (text && !text_is_label(text, strlen(text)))
		problem(r, node,
			"`%s` is not the name of a namespace: names are "
			"exact, without `*`",
			shown(r, text));
	else if (text)
		add_text(r, &r->policy->infrastructure, text);
}

static void read_infrastructure_names(struct policy_reader *r,
				      const struct node *node, void *unused)
{
	struct policy *policy = r->policy;

	if (!node_is_seq(node) || node->len)
		read_list(r, node, read_infrastructure_name, NULL);
	add_text(r, &policy->infrastructure, NULL);
	policy->kube.infrastructure = policy->infrastructure.items;
}

static void read_infrastructure(struct policy_reader *r,
				const struct node *node, void *unused)
{
	static const struct policy_field fields[] = {
		{"namespaces", read_infrastructure_names, REQUIRED, 0},
		{0},
	};

	read_fields(r, node, fields, r->policy);
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
	const char **name = into;

	*name = read_text(r, node);
	if (*name && !is_resource(*name))
		problem(r, node,
			"`%s` is not a resource such as `example.com/gpu`",
			shown(r, *name));
}

static void read_class(struct policy_reader *r, const struct node *node,
		       void *into)
{
	static const char *const classes[] = {"whole", "shared", "mig",
					      "virtual", "share"};
	int found = read_choice(r, node, "class", classes, 5);

	if (found >= 0)
		*(enum accel_class *)into = (enum accel_class)found;
}

#define IN_ACCELERATOR(member) offsetof(struct accelerator, member)

static void read_accelerator(struct policy_reader *r, const struct node *node,
			     void *unused)
{
	static const struct policy_field fields[] = {
		{"name", read_name, REQUIRED, IN_ACCELERATOR(name)},
		{"vendor", field_text, REQUIRED, IN_ACCELERATOR(vendor)},
		{"class", read_class, 0, IN_ACCELERATOR(class)},
		{"taint", field_text, 0, IN_ACCELERATOR(taint)},
		{0},
	};
	struct accelerator accelerator = {.class = ACCEL_WHOLE};

	read_fields(r, node, fields, &accelerator);
	*VEC_PUSH(policy_arena(r->policy), r->accelerators, r->naccelerators,
		  r->accelerators_size) = accelerator;
}

/* --- kinds ---------------------------------------------------------------- */

static size_t count_stars(const char *pointer)
{
	size_t n = 0;

	for (const char *s = pointer; (s = strstr(s, "/*")); s += 2)
		n += s[2] == '/' || !s[2];
	return n;
}

static void read_pointer(struct policy_reader *r, const struct node *node,
			 void *into)
{
	const char *text = read_text(r, node);

	if (!text)
		return;
	if (*text == '/' && !strstr(text, "//") && !text_ends(text, "/"))
		*(const char **)into = text;
	else
		problem(r, node,
			"`%s` is not a pointer such as "
			"`/spec/roles/*/template`",
			shown(r, text));
}

/* A group alone would be read as the version of a core kind, and match
 * nothing. */
static void read_api_version(struct policy_reader *r, const struct node *node,
			     void *into)
{
	const char *text = read_text(r, node);
	const char *slash = text ? strchr(text, '/') : NULL;

	if (!text)
		return;
	*(const char **)into = text;
	if (slash ? slash == text || !slash[1] || strchr(slash + 1, '/')
		  : strchr(text, '.') != NULL)
		problem(r, node,
			"`%s` is not an apiVersion such as `example.com/v1`",
			shown(r, text));
}

#define IN_KIND(member) offsetof(struct policy_kind, member)

static void read_kind(struct policy_reader *r, const struct node *node,
		      void *unused)
{
	static const struct policy_field fields[] = {
		{"apiVersion", read_api_version, REQUIRED,
		 IN_KIND(api_version)},
		{"kind", field_text, REQUIRED, IN_KIND(kind)},
		{"pods", read_pointer, REQUIRED, IN_KIND(pods)},
		{"replicas", read_pointer, 0, IN_KIND(replicas)},
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

/* --- the document --------------------------------------------------------- */

#define IN_POLICY(member) offsetof(struct policy, member)

void read_policy_document(struct policy_reader *r, const struct node *root)
{
	static const struct policy_field fields[] = {
		{"apiVersion", read_elsewhere, REQUIRED, 0},
		{"kind", read_elsewhere, REQUIRED, 0},
		{"extends", read_extends, 0, 0},
		{"mode", read_policy_mode, 0, IN_POLICY(mode)},
		{"contact", read_contact, 0, 0},
		{"patchOwners", field_flag, 0, IN_POLICY(patch_owners)},
		{"rules", read_rules, 0, IN_POLICY(entries)},
		{"accelerators", read_accelerator, LIST, 0},
		{"kinds", read_kind, LIST, 0},
		{"overrides", read_overrides, 0, 0},
		{"paths", read_path, LIST, 0},
		{"controllers", read_controller, LIST, 0},
		{"infrastructure", read_infrastructure, 0, 0},
		{"platform", read_platform, 0, IN_POLICY(platform)},
		{"injected", read_injected, LIST, 0},
		{"controllerPods", read_controller_pods, 0, 0},
		{"breakGlass", read_break_glass, 0, 0},
		{"suppressions", read_suppressions, 0, 0},
		{"exempt", read_exemption, LIST, 0},
		{"locked", field_rules, 0, IN_POLICY(locked)},
		{"exclude", read_excluded, LIST, 0},
		{"custom", read_elsewhere, 0, 0} /* before */,
		{"maxAge", read_max_age, 0, 0},
		{0},
	};

	read_fields(r, root, fields, r->policy);
}
