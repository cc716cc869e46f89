/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether torchrun uses its default address. Source: torch
 * distributed/run.py at 010929fd (--master-addr, --node-rank),
 * argparse_util.py (PET_* variables).
 */
#include <string.h>

#include "kube/command/env.h"
#include "kube/command/parallel.h"

/* True if a flag, or a variable of torchrun, may give it an address or a
 * rank. */
static bool may_have_address(const struct container *c)
{
	static const char *const texts[] = {
		"--rdzv", "--master", "--node", "--standalone", "PET_", NULL};
	static const char *const names[] = {
		"PET_RDZV_ENDPOINT", "PET_RDZV_BACKEND", "PET_MASTER_ADDR",
		"PET_NODE_RANK",     "PET_STANDALONE",	 NULL};

	for (const char *const *text = texts; *text; text++)
		if (container_says(c, *text))
			return true;
	for (const char *const *name = names; *name; name++)
		if (container_env(c, *name) || container_env_from(c, *name))
			return true;
	return false;
}

const struct degree *torchrun_without_address(struct parallel_list list,
					      const struct container *c)
{
	const struct degree *nodes;

	if (list.n != 1 || strcmp(list.items[0].program, "torchrun") != 0 ||
	    list.items[0].unknown)
		return NULL;
	nodes = &list.items[0].degrees[DEGREE_NODES];
	return nodes->given && !nodes->unknown && nodes->n > 1 &&
			       !may_have_address(c)
		       ? nodes
		       : NULL;
}
