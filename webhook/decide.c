/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From findings to deeds. Each circumstance only lowers a deed, so their
 * order does not matter; the mode comes last, because what is told as "would"
 * is the deed without it.
 *
 * A rule whose action is `patch` has done its work when a Pod comes to
 * /validate: what is still there could not be patched, and its severity
 * decides. Below the mode enforce it is what would be patched.
 */
#include "decide.h"

#include <string.h>

#include "base/text.h"
#include "judge.h"

const char *deed_name(enum deed deed)
{
	static const char *const names[] = {
		[DEED_NONE] = "allow", [DEED_AUDIT] = "audit",
		[DEED_WARN] = "warn",  [DEED_PATCH] = "patch",
		[DEED_DENY] = "deny",
	};

	return names[deed];
}

/* --- facts of the request ------------------------------------------------- */

/*
 * Accounts that make Pods for owners: kube-system's service accounts, the
 * controller manager itself where it has none, and those of the policy.
 */
static bool is_controller(const struct policy *policy, const char *user)
{
	return text_starts(user, "system:serviceaccount:kube-system:") ||
	       !strcmp(user, "system:kube-controller-manager") ||
	       policy_is_controller(policy, user);
}

/* Its controller is of a kind that the door judges itself. */
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

static const char *ticket_of(const struct review *review,
			     const struct policy *policy)
{
	const struct policy_break_glass *glass = policy_break_glass(policy);
	const struct node *annotations;
	const char *text;

	if (!glass)
		return NULL;
	annotations = node_path(review->object.root, "metadata.annotations");
	text = node_str(node_get(annotations, glass->annotation));
	if (!text || !text[strspn(text, " \t\r\n")])
		return NULL;
	for (size_t i = 0; i < glass->ngroups; i++)
		if (review_in_group(review, glass->groups[i]))
			return text;
	return NULL;
}

static bool is_mirror_pod(const struct node *object)
{
	const struct node *meta = node_get(object, "metadata");

	return node_get(node_get(meta, "annotations"),
			"kubernetes.io/config.mirror") != NULL;
}

/* Kept by Argo CD or Flux: what we change there, they change back. */
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
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		if (node_get(node_get(meta, "labels"), labels[i]))
			return true;
	for (size_t i = 0; i < sizeof(accounts) / sizeof(*accounts); i++)
		if (text_ends(review->user, accounts[i]))
			return true;
	return false;
}

static bool is_patchable(const struct circumstances *c,
			 const struct review *review,
			 const struct policy *policy)
{
	if (review->operation != OPERATION_CREATE || *review->subresource)
		return false;
	if (c->pod)
		return !is_mirror_pod(review->object.root);
	return policy_patches_owners(policy) && !is_kept_in_git(review);
}

void circumstances_read(struct circumstances *c, const struct review *review,
			const struct policy *policy, bool mutate)
{
	const struct node *object = review->object.root;

	memset(c, 0, sizeof(*c));
	c->mutate = mutate;
	c->pod = !*review->group && !strcmp(review->kind, "Pod");
	c->update = review->operation == OPERATION_UPDATE;
	c->patchable = is_patchable(c, review, policy);
	c->controlled = is_controller(policy, review->user) &&
			has_judged_owner(policy, object);
	c->ticket = ticket_of(review, policy);
	/* Nobody but the API server writes it into the stored object. */
	c->lenient = c->update &&
		     !node_is_unset(node_path(review->old.root,
					      "metadata.deletionTimestamp"));
}

/* Every field of a but metadata is the same in b. */
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

/* --- one finding ---------------------------------------------------------- */

static enum deed deed_of_action(const struct circumstances *c,
				const struct finding *f)
{
	switch (f->action) {
	case ACTION_DENY:
		return DEED_DENY;
	case ACTION_WARN:
		return DEED_WARN;
	case ACTION_AUDIT:
		return DEED_AUDIT;
	case ACTION_PATCH:
		if (judge_patches(f) && c->patchable &&
		    (c->mutate || f->mode != MODE_ENFORCE))
			return DEED_PATCH;
		/* The Pods of an owner are patched when they come. */
		if (judge_patches(f) && !c->pod)
			return DEED_WARN;
		return f->severity == SEVERITY_ERROR ? DEED_DENY : DEED_WARN;
	default:
		return DEED_NONE;
	}
}

static enum deed lower(enum deed deed, enum deed ceiling)
{
	return deed > ceiling ? ceiling : deed;
}

static enum deed lowered(const struct circumstances *c, const struct finding *f,
			 enum deed deed)
{
	if (deed != DEED_DENY)
		return deed;
	if (c->mutate)
		return DEED_NONE; /* /validate sees it too */
	if (c->controlled && !f->controller_pods)
		return DEED_AUDIT;
	if (c->lenient || c->ticket ||
	    (c->update && !c->demand_grew && f->forgiven) || f->exempt_lately)
		return DEED_WARN;
	return DEED_DENY;
}

struct decision decide(const struct circumstances *c, const struct finding *f)
{
	static const enum deed ceiling[] = {
		[MODE_AUDIT] = DEED_AUDIT,
		[MODE_WARN] = DEED_WARN,
		[MODE_ENFORCE] = DEED_DENY,
	};
	struct decision decision = {DEED_NONE, DEED_NONE};

	if (f->suppressed)
		return decision;
	decision.would = lowered(c, f, deed_of_action(c, f));
	/* Who cannot see a warning gets none: it is kept for the audit. */
	if (c->controlled && decision.would == DEED_WARN)
		decision.would = DEED_AUDIT;
	/* Warnings are /validate's: told twice they are noise. */
	if (c->mutate && decision.would != DEED_PATCH)
		decision.would = DEED_NONE;
	decision.deed = lower(decision.would, ceiling[f->mode]);
	if (c->mutate && decision.deed == DEED_WARN)
		decision.deed = DEED_AUDIT;
	return decision;
}
