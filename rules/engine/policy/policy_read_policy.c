/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document of kind Policy: its table of keys, and the readers of the smaller
 * ones. The order of keys does not matter: values that depend on several keys
 * are computed at the end (policy_build.c).
 */
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "doc/build.h"
#include "doc/edit.h"
#include "policy_read.h"

/* --- injected ------------------------------------------------------------- */

/* Fields that webhooks and admission policies of the cluster add to pods
 * (kube/object.h). */

enum { NODES_MAX = 10000 };

struct injection_reading {
	struct patterns namespaces;
	struct node *fields;
};

/* Copies the texts of a tree, so that it does not depend on the document. */
static void own_texts(struct arena *arena, struct node *node)
{
	if (node->str)
		node->str = arena_strndup(arena, node->str, node->len);
	if (node->key)
		node->key = arena_strndup(arena, node->key, node->key_len);
	for (struct node *child = node->first; child; child = child->next)
		own_texts(arena, child);
}

static void keep_injection(struct policy_reader *r, const struct node *node,
			   struct injection_reading *reading)
{
	uint32_t budget = NODES_MAX;
	struct arena *arena = policy_arena(r->policy);
	struct node *copy = node_copy(arena, node, 0, &budget);

	if (!copy) {
		problem(r, node, "too many values");
		return;
	}
	own_texts(arena, copy);
	edit_member(arena, reading->fields, arena_strdup(arena, node->key),
		    copy);
}

static void read_injected_name(struct policy_reader *r, const struct node *node,
			       void *into)
{
	if (read_text(r, node))
		keep_injection(r, node, into);
}

static void read_items(struct policy_reader *r, const struct node *node,
		       void *into)
{
	if (!node_is_seq(node))
		problem(r, node, "expected a list, found %s", node_noun(node));
	else
		keep_injection(r, node, into);
}

static void read_labels(struct policy_reader *r, const struct node *node,
			void *into)
{
	if (!node_is_map(node))
		problem(r, node, "expected a map, found %s", node_noun(node));
	else
		keep_injection(r, node, into);
}

static const struct glob *const *globs_of(struct policy_reader *r,
					  const struct patterns *patterns)
{
	const struct glob **globs;

	if (!patterns->n)
		return NULL;
	globs = ARENA_ARRAY(policy_arena(r->policy), const struct glob *,
			    patterns->n + 1);
	for (size_t i = 0; i < patterns->n; i++)
		globs[i] = patterns->items[i].glob;
	return globs;
}

static void read_injected(struct policy_reader *r, const struct node *node,
			  void *unused)
{
	static const struct policy_field fields[] = {
		{"namespaces", field_patterns, 0,
		 offsetof(struct injection_reading, namespaces)},
		{"tolerations", read_items, 0, 0},
		{"schedulerName", read_injected_name, 0, 0},
		{"runtimeClassName", read_injected_name, 0, 0},
		{"env", read_items, 0, 0},
		{"volumes", read_items, 0, 0},
		{"labels", read_labels, 0, 0},
		{0},
	};
	struct arena *arena = policy_arena(r->policy);
	struct injection_reading reading = {.fields =
						    node_new(arena, NODE_MAP)};

	(void)unused;
	read_fields(r, node, fields, &reading);
	*VEC_PUSH(arena, r->injected, r->ninjected, r->injected_size) =
		(struct pod_injection){globs_of(r, &reading.namespaces),
				       reading.fields};
}

/* --- platform ------------------------------------------------------------- */

/* Facts about the cluster for runs without a snapshot (kube/platform.h). An
 * empty list means that there are none. */

static void read_names(struct policy_reader *r, const struct node *node,
		       void *into)
{
	struct text_list names = {0};

	if (!node_is_seq(node) || node->len)
		field_texts(r, node, &names);
	add_text(r, &names, NULL);
	*(const char *const **)into = names.items;
}

static void read_limit_defaults(struct policy_reader *r,
				const struct node *node, void *into)
{
	enum tri *defaults = into;
	bool given;

	if (read_bool(r, node, &given))
		*defaults = given ? TRI_YES : TRI_NO;
}

static void read_injection(struct policy_reader *r, const struct node *node,
			   void *into)
{
	static const char *const names[] = {"envvar", "volume-mounts", "cdi"};
	static const enum device_injection meant[] = {
		INJECTION_ENVVAR, INJECTION_VOLUME_MOUNTS, INJECTION_CDI};
	int found = read_choice(r, node, "device injection", names, 3);

	if (found >= 0)
		*(enum device_injection *)into = meant[found];
}

/* Reads "1.37" or "v1.37.2", for Kubernetes and Karpenter, which have major
 * version 1. */
static void read_minor(struct policy_reader *r, const struct node *node,
		       void *into)
{
	const char *text = read_text(r, node);
	int version[2];

	if (!text)
		return;
	text = text_version(text, version, 2);
	if (version[0] == 1 && version[1] > 0 && (!*text || *text == '.'))
		*(int *)into = version[1];
	else
		problem(r, node, "expected a version such as \"1.37\"");
}

/* Reads "0.17", "v1.4.0" or "1.4.0-rc.1". */
static void read_version(struct policy_reader *r, const struct node *node,
			 void *into)
{
	const char *text = read_text(r, node);
	int version[2];

	if (!text)
		return;
	if (strchr(".-+", *text_version(text, version, 2)) && version[1] >= 0)
		*(const char **)into = text;
	else
		problem(r, node,
			"expected a version such as \"0.17\" or \"v1.4.0\"");
}

#define IN_PLATFORM(member) offsetof(struct platform, member)

/* Reads `operators:` into a struct platform. */
static void read_operators(struct policy_reader *r, const struct node *node,
			   void *into)
{
	static const struct policy_field fields[] = {
		{"jobset", read_version, 0,
		 IN_PLATFORM(operators[OPERATOR_JOBSET])},
		{"kai", read_version, 0, IN_PLATFORM(operators[OPERATOR_KAI])},
		{"katib", read_version, 0,
		 IN_PLATFORM(operators[OPERATOR_KATIB])},
		{"kserve", read_version, 0,
		 IN_PLATFORM(operators[OPERATOR_KSERVE])},
		{"kuberay", read_version, 0,
		 IN_PLATFORM(operators[OPERATOR_KUBERAY])},
		{"kueue", read_version, 0,
		 IN_PLATFORM(operators[OPERATOR_KUEUE])},
		{"lws", read_version, 0, IN_PLATFORM(operators[OPERATOR_LWS])},
		{"mpi", read_version, 0, IN_PLATFORM(operators[OPERATOR_MPI])},
		{"spark", read_version, 0,
		 IN_PLATFORM(operators[OPERATOR_SPARK])},
		{"trainer", read_version, 0,
		 IN_PLATFORM(operators[OPERATOR_TRAINER])},
		{"volcano", read_version, 0,
		 IN_PLATFORM(operators[OPERATOR_VOLCANO])},
		{0},
	};

	read_fields(r, node, fields, into);
}

/* Reads `platform:` into a struct platform. */
static void read_platform(struct policy_reader *r, const struct node *node,
			  void *into)
{
	static const struct policy_field fields[] = {
		{"gpuTaints", read_names, 0, IN_PLATFORM(gpu_taints)},
		{"gpuProducts", read_names, 0, IN_PLATFORM(gpu_products)},
		{"priorityClasses", read_names, 0,
		 IN_PLATFORM(priority_classes)},
		{"defaultPriorityClass", field_text, 0,
		 IN_PLATFORM(default_priority_class)},
		{"limitRangeDefaults", read_limit_defaults, 0,
		 IN_PLATFORM(limit_defaults)},
		{"deviceInjection", read_injection, 0, IN_PLATFORM(injection)},
		{"kubernetes", read_minor, 0, IN_PLATFORM(kubernetes)},
		{"karpenter", read_minor, 0, IN_PLATFORM(karpenter)},
		{0},
	};

	read_fields(r, node, fields, into);
}

/* --- small keys ----------------------------------------------------------- */

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

/* Reads an apiVersion. A group without a version is rejected, because it would
 * count as the version of a core kind and match nothing. */
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

/* --- locked --------------------------------------------------------------- */

/* Reads a rule or one of its checks. */
static void read_locked_word(struct policy_reader *r, const struct node *node,
			     void *unused)
{
	struct policy *policy = r->policy;
	struct rule_word word = {0};

	if (node_str(node) && rule_word_parse(r->rules, node->str, &word) &&
	    word.check)
		*VEC_PUSH(policy_arena(policy), policy->locked_checks,
			  policy->nlocked_checks, policy->locked_checks_size) =
			word;
	else
		read_rule_word(r, node, policy->locked);
}

static void read_locked(struct policy_reader *r, const struct node *node,
			void *unused)
{
	read_list(r, node, read_locked_word, NULL);
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
		{"kubernetesVersion", read_minor, 0,
		 IN_POLICY(platform.kubernetes)},
		{"operators", read_operators, 0, IN_POLICY(platform)},
		{"injected", read_injected, LIST, 0},
		{"controllerPods", read_controller_pods, 0, 0},
		{"breakGlass", read_break_glass, 0, 0},
		{"suppressions", read_suppressions, 0, 0},
		{"exempt", read_exemption, LIST, 0},
		{"locked", read_locked, 0, 0},
		{"exclude", read_excluded, LIST, 0},
		{"custom", read_elsewhere, 0, 0} /* read before */,
		{"maxAge", read_max_age, 0, 0},
		{0},
	};

	read_fields(r, root, fields, r->policy);
}
