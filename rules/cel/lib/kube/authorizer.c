/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares the authorizer functions (apiserver pkg/cel/library/authz.go), so
 * that expressions type-check. gpugate cannot ask an authorizer: the value of
 * the variable is unknown, so that the evaluator never calls these functions.
 */
#include "rules/cel/lib/lib_internal.h"

#define A(type) "kubernetes.authorization." type

static struct cel_value unknown(struct cel_call *call)
{
	return cel_unknown(NULL);
}

static uint64_t check_cost(const struct cel_call *call, struct cel_value result)
{
	return 350000;
}

#define METHOD(name, of, args, result)                                         \
	{                                                                      \
		name, A(of) ".(" args ") " result, unknown, NULL               \
	}

const struct cel_overload cel_authorizer_library[] = {
	METHOD("path", "Authorizer", "string", A("PathCheck")),
	METHOD("group", "Authorizer", "string", A("GroupCheck")),
	METHOD("serviceAccount", "Authorizer", "string, string",
	       A("Authorizer")),
	METHOD("resource", "GroupCheck", "string", A("ResourceCheck")),
	METHOD("subresource", "ResourceCheck", "string", A("ResourceCheck")),
	METHOD("namespace", "ResourceCheck", "string", A("ResourceCheck")),
	METHOD("name", "ResourceCheck", "string", A("ResourceCheck")),
	METHOD("fieldSelector", "ResourceCheck", "string", A("ResourceCheck")),
	METHOD("labelSelector", "ResourceCheck", "string", A("ResourceCheck")),
	{"check", A("PathCheck") ".(string) " A("Decision"), unknown,
	 check_cost},
	{"check", A("ResourceCheck") ".(string) " A("Decision"), unknown,
	 check_cost},
	METHOD("errored", "Decision", "", "bool"),
	METHOD("error", "Decision", "", "string"),
	METHOD("allowed", "Decision", "", "bool"),
	METHOD("reason", "Decision", "", "string"),
	{0},
};
