/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the facts of a request (whether its object may be patched, whether a
 * controller sends it, a valid ticket, an object that is being deleted), and
 * decides the outcome of a finding. Each step can only lower the outcome, so
 * the order of the steps does not matter, except that the mode comes last:
 * "would" is the outcome without the mode.
 *
 * A rule whose action is `patch` has already run when a Pod reaches /validate.
 * A finding that remains there could not be patched, and its severity decides.
 * In a mode weaker than enforce nothing was patched, so the finding shows what
 * enforce would patch.
 */
#include "decide.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "judge.h"

const char *outcome_name(enum outcome outcome)
{
	static const char *const names[] = {
		[OUTCOME_NONE] = "allow", [OUTCOME_AUDIT] = "audit",
		[OUTCOME_WARN] = "warn",  [OUTCOME_PATCH] = "patch",
		[OUTCOME_DENY] = "deny",
	};

	return names[outcome];
}

/* --- facts of the request ------------------------------------------------- */

/*
 * Returns true for accounts that create Pods for owners: service accounts of
 * kube-system, the controller manager's user if it does not use service
 * accounts, and accounts that the policy lists.
 */
static bool is_controller(const struct policy *policy, const char *user)
{
	return text_starts(user, "system:serviceaccount:kube-system:") ||
	       !strcmp(user, "system:kube-controller-manager") ||
	       policy_is_controller(policy, user);
}

/* Returns true if the object has a controller of a kind that gpugate checks. */
static bool has_judged_owner(const struct policy *policy,
			     const struct node *object)
{
	const struct node *owners =
		node_get(node_get(object, "metadata"), "ownerReferences");

	FOR_EACH_CHILD(owners, owner) {
		const char *version = node_str(node_get(owner, "apiVersion"));
		const char *kind = node_str(node_get(owner, "kind"));

		if (version && kind &&
		    node_is_true(node_get(owner, "controller")))
			return kind_makes_pods(policy_kube(policy), version,
					       kind);
	}
	return false;
}

static void read_ticket(struct request_context *c, const struct review *review,
			const struct policy *policy)
{
	const struct policy_break_glass *glass = policy_break_glass(policy);
	const struct node *annotations;
	const char *text;

	if (!glass)
		return;
	annotations = node_path(review->object.root, "metadata.annotations");
	text = node_str(node_get(annotations, glass->annotation));
	if (!text)
		return;
	if (!text[strspn(text, " \t\r\n")]) {
		c->ticket_problem = "it is empty; it must name a ticket";
		return;
	}
	for (size_t i = 0; i < glass->ngroups; i++)
		if (review_in_group(review, glass->groups[i])) {
			c->ticket = text;
			return;
		}
	c->ticket_problem = "you are in none of the groups that may use it";
}

/* Returns true if Argo CD or Flux manages the object; both revert patches. */
static bool is_kept_in_git(const struct review *review)
{
	static const char *const labels[] = {
		"argocd.argoproj.io/instance",
		"kustomize.toolkit.fluxcd.io/name",
		"helm.toolkit.fluxcd.io/name",
	};
	static const char *const accounts[] = {
		"argocd-application-controller",
		":kustomize-controller",
		":helm-controller",
	};
	const struct node *meta = node_get(review->object.root, "metadata");

	if (node_get(node_get(meta, "annotations"),
		     "argocd.argoproj.io/tracking-id"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		if (node_get(node_get(meta, "labels"), labels[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(accounts); i++)
		if (text_ends(review->user, accounts[i]))
			return true;
	return false;
}

static bool is_patchable(const struct request_context *c,
			 const struct review *review,
			 const struct policy *policy)
{
	const struct node *meta = node_get(review->object.root, "metadata");

	if (review->operation != OPERATION_CREATE || *review->subresource)
		return false;
	/* Pods with the mirror annotation are excluded: the kubelet creates
	 * them. */
	if (c->pod)
		return !node_get(node_get(meta, "annotations"),
				 "kubernetes.io/config.mirror");
	return policy_patches_owners(policy) && !is_kept_in_git(review);
}

/* Returns true if every field of a, except metadata and status, has the same
 * value in b. */
static bool same_fields(const struct node *a, const struct node *b)
{
	FOR_EACH_CHILD(a, child) {
		const struct node *other;

		if (!strcmp(child->key, "metadata") ||
		    !strcmp(child->key, "status"))
			continue;
		other = node_get(b, child->key);
		if (!other || !node_same(child, other))
			return false;
	}
	return true;
}

bool update_is_metadata(const struct node *now, const struct node *before)
{
	return now && before && same_fields(now, before) &&
	       same_fields(before, now);
}

void request_context_read(struct request_context *c,
			  const struct review *review,
			  const struct policy *policy, bool mutate)
{
	const struct node *object = review->object.root;

	memset(c, 0, sizeof(*c));
	c->mutate = mutate;
	c->pod = !*review->group && !strcmp(review->kind, "Pod");
	c->update = review->operation == OPERATION_UPDATE;
	c->patchable = is_patchable(c, review, policy);
	c->controller = is_controller(policy, review->user);
	c->controlled = c->controller && ((c->pod && c->update) ||
					  has_judged_owner(policy, object));
	read_ticket(c, review, policy);
	/* The request is lenient if the stored object is being deleted (only
	 * the API server sets deletionTimestamp) and only metadata or status
	 * changes: finalizers must be removable. A finalizer alone does not
	 * bypass the checks. */
	c->lenient = c->update &&
		     !node_is_unset(node_path(review->old.root,
					      "metadata.deletionTimestamp")) &&
		     update_is_metadata(object, review->old.root);
}

/* --- one finding ---------------------------------------------------------- */

static enum outcome outcome_of_action(const struct request_context *c,
				      const struct finding *f)
{
	switch (f->action) {
	case ACTION_DENY:
		return OUTCOME_DENY;
	case ACTION_WARN:
		return OUTCOME_WARN;
	case ACTION_AUDIT:
		return OUTCOME_AUDIT;
	case ACTION_PATCH:
		if (judge_patches(f) && c->patchable &&
		    (c->mutate || f->mode != MODE_ENFORCE))
			return OUTCOME_PATCH;
		/* An owner is not patched here: its Pods are patched when they
		 * are created. */
		if (judge_patches(f) && !c->pod)
			return OUTCOME_WARN;
		return f->severity == SEVERITY_ERROR ? OUTCOME_DENY
						     : OUTCOME_WARN;
	default:
		return OUTCOME_NONE;
	}
}

static enum outcome lowered(const struct request_context *c,
			    const struct finding *f, enum outcome outcome)
{
	if (outcome != OUTCOME_DENY)
		return outcome;
	if (c->mutate)
		return OUTCOME_NONE; /* /validate reports the finding */
	if (c->controlled && !f->controller_pods)
		return OUTCOME_AUDIT;
	if (c->lenient || c->ticket ||
	    (c->update && !c->demand_grew && f->forgiven) ||
	    (c->demand_fell && f->had_before) || f->exempt_lately)
		return OUTCOME_WARN;
	return OUTCOME_DENY;
}

struct decision decide(const struct request_context *c, const struct finding *f)
{
	static const enum outcome ceiling[] = {
		[MODE_AUDIT] = OUTCOME_AUDIT,
		[MODE_WARN] = OUTCOME_WARN,
		[MODE_ENFORCE] = OUTCOME_DENY,
	};
	struct decision decision = {OUTCOME_NONE, OUTCOME_NONE};

	if (f->suppressed)
		return decision;
	decision.would = lowered(c, f, outcome_of_action(c, f));
	/* A controller drops warnings, so the finding is audited instead. */
	if (c->controlled && decision.would == OUTCOME_WARN)
		decision.would = OUTCOME_AUDIT;
	/* /validate decides about every finding, so /mutate only patches. */
	if (c->mutate && decision.would != OUTCOME_PATCH)
		decision.would = OUTCOME_NONE;
	decision.outcome = decision.would > ceiling[f->mode] ? ceiling[f->mode]
							     : decision.would;
	if (c->mutate && decision.outcome == OUTCOME_WARN)
		decision.outcome = OUTCOME_AUDIT;
	return decision;
}
