/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label selectors, node selectors and tolerations, as apimachinery's pkg/labels
 * and component-helpers match them. Unknown (placeholder) keys or values make
 * the result TRI_UNKNOWN.
 */
#ifndef KUBE_SELECTOR_H
#define KUBE_SELECTOR_H

#include "doc/node.h"
#include "kube/tri.h"

/* Matches a plain map of labels (Service.spec.selector); an empty one selects
 * nothing. */
enum tri label_map_matches(const struct node *want, const struct node *labels);
/* Labels besides the known ones. */
enum more_labels {
	LABELS_NO_MORE,
	/*
	 * Labels that operators set: names with a domain, or of jobs and ranks.
	 */
	LABELS_OF_OPERATOR,
	LABELS_ANY_MORE,
};
/* Matches a whole metav1.LabelSelector; an empty one selects everything, a
 * missing one (NULL) nothing. */
enum tri label_selector_matches(const struct node *selector,
				const struct node *labels,
				enum more_labels more);
/* Matches corev1.NodeSelector terms (ORed; an empty term matches nothing). */
enum tri node_selector_matches(const struct node *node_selector,
			       const struct node *node_labels);
/*
 * Returns whether this list of tolerations tolerates the taint. effect NULL:
 * any.
 */
enum tri tolerations_tolerate(const struct node *tolerations, const char *key,
			      const char *value, const char *effect);

#endif
