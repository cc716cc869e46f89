/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubeflow Notebooks: a notebook has one pod, or none if an annotation stops
 * it.
 */
#include "rules/kube/operator.h"

COUNT_FORMULA(notebook)
{
	return amount_of(
		!object_annotation(place->object, "kubeflow-resource-stopped"));
}
