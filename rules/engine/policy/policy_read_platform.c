/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `platform:`, facts of the cluster where no state is given (kube/platform.h).
 * An empty list says that there are none.
 */
#include "base/vec.h"
#include "policy_read.h"

struct names {
	const char **items;
	size_t n, size;
};

static void read_name(struct policy_reader *r, const struct node *node,
		      void *into)
{
	const char *text = read_text(r, node);
	struct names *names = into;

	if (text)
		*VEC_PUSH(policy_arena(r->policy), names->items, names->n,
			  names->size) = text;
}

static const char *const *read_names(struct policy_reader *r,
				     const struct node *node)
{
	struct names names = {0};

	if (!node_is_seq(node) || node->len)
		read_list(r, node, read_name, &names);
	*VEC_PUSH(policy_arena(r->policy), names.items, names.n, names.size) =
		NULL;
	return names.items;
}

static void read_taints(struct policy_reader *r, const struct node *node,
			void *into)
{
	((struct platform *)into)->gpu_taints = read_names(r, node);
}

static void read_products(struct policy_reader *r, const struct node *node,
			  void *into)
{
	((struct platform *)into)->gpu_products = read_names(r, node);
}

static void read_classes(struct policy_reader *r, const struct node *node,
			 void *into)
{
	((struct platform *)into)->priority_classes = read_names(r, node);
}

static void read_default_class(struct policy_reader *r, const struct node *node,
			       void *into)
{
	((struct platform *)into)->default_priority_class = read_text(r, node);
}

static void read_limit_defaults(struct policy_reader *r,
				const struct node *node, void *into)
{
	struct platform *platform = into;
	bool given;

	if (read_bool(r, node, &given))
		platform->limit_defaults = given ? TRI_YES : TRI_NO;
}

void read_platform(struct policy_reader *r, const struct node *node,
		   void *unused)
{
	static const struct policy_field fields[] = {
		{"gpuTaints", read_taints, false},
		{"gpuProducts", read_products, false},
		{"priorityClasses", read_classes, false},
		{"defaultPriorityClass", read_default_class, false},
		{"limitRangeDefaults", read_limit_defaults, false},
		{0},
	};

	read_fields(r, node, fields, &r->policy->platform);
}
