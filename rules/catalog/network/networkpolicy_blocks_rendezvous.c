/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports training jobs whose ranks cannot reach each other because of network
 * policies. Policies add up, so that a policy of the cluster that is not in the
 * input may still allow the traffic.
 *
 * Pods are isolated if some policy selects them, and no rule of these policies
 * allows a pod of the workload. Rules for certain ports or addresses, and rules
 * of policies that only may select the pods, count as allowing it. Sources:
 * networking/v1 NetworkPolicySpec; pkg/apis/networking/v1/defaults.go: without
 * policyTypes, a policy applies to Ingress, and to Egress if it has egress
 * rules.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/set/index_find.h"

/* Pods that no pod of their workload can reach (Ingress), or that can reach
 * none (Egress). */
struct isolation {
	const struct pod *pods;
	const struct found_object
		*policy; /* first policy that selects the pods */
	const char *type;
};

/* Workloads with more pod templates, or whose policies have more peers in their
 * rules, are skipped. */
enum { MOST_PODS = 32, MOST_PEERS = 10000 };

struct direction {
	const char *type, *rules, *peers;
};

struct peer_search {
	const struct workload *w;
	const struct node *labels[MOST_PODS]; /* labels of its pods */
	const struct found_object *items;
	size_t n;
	size_t peers; /* number of peers examined so far */
};

static enum tri has_type(const struct node *spec, const struct direction *d)
{
	const struct node *types = node_get(spec, "policyTypes");

	if (node_is_unknown(types))
		return TRI_UNKNOWN;
	if (!node_count(types))
		return tri_from(d->rules[0] == 'i' ||
				node_count(node_get(spec, "egress")));
	FOR_EACH_CHILD(types, type)
		if (node_is_unknown(type) || node_eq(type, d->type))
			return node_is_unknown(type) ? TRI_UNKNOWN : TRI_YES;
	return TRI_NO;
}

/* True if the selector names another namespace. Other labels of namespaces are
 * unknown here. */
static bool is_other_namespace(const struct peer_search *all,
			       const struct node *selector)
{
	const struct node *name = node_get(node_get(selector, "matchLabels"),
					   "kubernetes.io/metadata.name");

	return node_str(name) && *all->w->id.namespace &&
	       !node_eq(name, all->w->id.namespace);
}

static bool may_be_peer(const struct peer_search *all, const struct node *peer,
			size_t pod)
{
	const struct node *pods = node_get(peer, "podSelector");

	if (is_other_namespace(all, node_get(peer, "namespaceSelector")))
		return false;
	return node_is_unset(pods) ||
	       label_selector_matches(pods, all->labels[pod],
				      all->w->pods[pod].more_labels) != TRI_NO;
}

static bool may_admit(struct peer_search *all, const struct node *rule,
		      const struct direction *d)
{
	const struct node *peers = node_get(rule, d->peers);

	FOR_EACH_CHILD(peers, peer) {
		if (all->peers++ > MOST_PEERS)
			return true;
		for (size_t i = 0; i < all->w->npods; i++)
			if (may_be_peer(all, peer, i))
				return true;
	}
	/* A rule without peers allows all traffic. */
	return !node_count(peers);
}

static bool one_may_admit(struct peer_search *all, const struct node *rules,
			  const struct direction *d)
{
	FOR_EACH_CHILD(rules, rule)
		if (may_admit(all, rule, d))
			return true;
	return node_is_unknown(rules);
}

/* Returns the first policy that isolates the pods, or NULL. */
static const struct found_object *isolates(struct peer_search *all, size_t pod,
					   const struct direction *d)
{
	const struct found_object *first = NULL;

	for (size_t i = 0; i < all->n; i++) {
		const struct found_object *policy = &all->items[i];
		const struct node *spec = node_get(policy->root, "spec");
		const struct node *selector = node_get(spec, "podSelector");
		enum tri selects, type = has_type(spec, d);

		if (!selector)
			return NULL; /* several definitions, or only a patch */
		selects = label_selector_matches(selector, all->labels[pod],
						 all->w->pods[pod].more_labels);
		if (selects == TRI_NO || type == TRI_NO)
			continue;
		if (one_may_admit(all, node_get(spec, d->rules), d))
			return NULL;
		if (!first && selects == TRI_YES && type == TRI_YES &&
		    !policy->maybe)
			first = policy;
	}
	return first;
}

/* True if the pod may use the host's network, so that network policies do not
 * apply. */
static bool may_use_host(const struct pod *pod)
{
	const struct node *host = pod_field(pod, "hostNetwork");

	return pod->flat || !(node_is_unset(host) || node_is_false(host));
}

/* Reads the labels of the pods. Returns false if there are more than MOST_PODS
 * or one may use the host's network. */
static bool read_pods(struct peer_search *all, const struct object *object,
		      struct arena *arena)
{
	for (size_t i = 0; i < all->w->npods; i++) {
		if (i >= MOST_PODS || may_use_host(&object->pods[i]))
			return false;
		all->labels[i] = workload_pod_labels(&all->w->pods[i], arena);
	}
	return true;
}

/* True if the known policies certainly isolate GPU pods of the workload. Sets
 * *out to the first such pods. */
static bool workload_isolated(struct rule_run *run, const struct workload *w,
			      struct isolation *out)
{
	static const struct direction directions[] = {
		{"Ingress", "ingress", "from"}, {"Egress", "egress", "to"}};
	struct peer_search all = {.w = w};
	const struct object *object;

	all.items = index_selecting(rule_index(run), w, CLUSTER_NETWORK_POLICY,
				    rule_arena(run), &all.n);
	object = all.n ? rule_object(run, w) : NULL;
	if (!object || !read_pods(&all, object, rule_arena(run)))
		return false;
	for (size_t i = 0; i < w->npods; i++)
		for (size_t d = 0; d < 2 && w->pods[i].gpu; d++) {
			out->pods = &object->pods[i];
			out->type = directions[d].type;
			out->policy = isolates(&all, i, &directions[d]);
			if (out->policy && w->pods[i].steady.n)
				return true;
		}
	return false;
}

static bool has_ranks(const struct workload *w)
{
	struct amount pods = {0};

	for (size_t i = 0; i < w->npods; i++)
		pods = amount_add(pods, w->pods[i].steady);
	/* Pods of a kind that is not made for training may be independent
	 * trials of a sweep, if they are not a gang or if Kueue queues them.
	 * Volcano creates a policy that allows its ranks
	 * (plugins/svc/svc.go). */
	if (w->class != KIND_TRAINING &&
	    (w->gang_kind == GANG_NONE || w->kueue))
		return false;
	return w->training && !w->child && pods.n > 1 &&
	       !text_starts(w->id.api_version, "batch.volcano.sh/");
}

/* True if a snapshot has the network policies of the cluster. */
static bool knows_all(struct rule_run *run, const struct workload *w)
{
	const struct cluster *cluster = rule_cluster(run);

	return cluster && *w->id.namespace &&
	       cluster_count(cluster, CLUSTER_NETWORK_POLICY);
}

static void check(struct rule_run *run, const struct workload *w)
{
	struct isolation alone;
	struct finding *f;
	bool in;

	if (!has_ranks(w) || rule_cluster_lacks(run, CLUSTER_NETWORK_POLICY) ||
	    (!index_keeps(rule_index(run), CLUSTER_NETWORK_POLICY) &&
	     rule_cluster_lost(run)) ||
	    !workload_isolated(run, w, &alone))
		return;
	in = *alone.type == 'I';
	f = report_place(
		run, &w->id, rule_place(run, alone.pods->spec),
		knows_all(run, w)
			? "NetworkPolicy `%s` blocks %s: unless a policy of another kind allows it, the ranks of %s cannot connect"
			: "NetworkPolicy `%s` blocks %s: unless another policy allows it, the ranks of %s cannot connect",
		alone.policy->name,
		in ? "traffic from other ranks to these pods"
		   : "traffic from these pods to other ranks",
		rule_title(run, w->id.kind, w->id.name));
	finding_cause(run, f, alone.type);
	finding_label_place(run, f, &alone.policy->place, "the policy");
	if (!knows_all(run, w))
		finding_severity(f, SEVERITY_INFO);
}

const struct rule rule_networkpolicy_blocks_rendezvous = {
	.name = "networkpolicy-blocks-rendezvous",
	.category = "network",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.summary =
		"network policies block traffic between the ranks of a training job",
	.why = "If no other policy allows the traffic, the ranks cannot connect: they hold their GPUs until the rendezvous times out.",
	.remedy =
		"Add a NetworkPolicy that allows traffic between the pods of the job (a podSelector with the job's label, in ingress and egress).",
	.evidence =
		"https://kubernetes.io/docs/concepts/services-networking/network-policies/",
	.check_workload = check,
};
