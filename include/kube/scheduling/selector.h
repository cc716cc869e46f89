/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches label selectors, node selectors and tolerations, as apimachinery's
 * pkg/labels and component-helpers match them. Unknown (placeholder) keys or
 * values make the result TRI_UNKNOWN.
 */
#ifndef KUBE_SELECTOR_H
#define KUBE_SELECTOR_H

#include "doc/node.h"
#include "kube/quantity.h"

/* Matches a plain map of labels (Service.spec.selector). An empty one matches
 * nothing. */
enum tri label_map_matches(const struct node *want, const struct node *labels);
/* Labels that an object may have in addition to the known ones. */
enum more_labels {
	LABELS_NO_MORE,
	/*
	 * Labels that operators add: keys with a domain, and labels for jobs
	 * and ranks.
	 */
	LABELS_OF_OPERATOR,
	LABELS_ANY_MORE,
};
/* True if `more` includes labels with this key. */
bool label_may_be_added(const char *key, enum more_labels more);
/* Matches a metav1.LabelSelector. An empty one matches everything, a missing
 * one (NULL) nothing. */
enum tri label_selector_matches(const struct node *selector,
				const struct node *labels,
				enum more_labels more);
/* Returns the labels of a namespace with kubernetes.io/metadata.name, which the
 * API server sets in every namespace. labels may be NULL. */
const struct node *labels_with_namespace(struct arena *arena,
					 const struct node *labels,
					 const char *name);
/* Matches corev1.NodeSelector terms (ORed; an empty term matches nothing). */
enum tri node_selector_matches(const struct node *node_selector,
			       const struct node *node_labels);
/*
 * Returns whether this list of tolerations tolerates the taint. value is NULL
 * for a taint with any value, effect is NULL for one with any effect.
 */
enum tri tolerations_tolerate(const struct node *tolerations, const char *key,
			      const char *value, const char *effect);

#endif
