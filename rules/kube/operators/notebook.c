/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubeflow Notebooks: an annotation stops a notebook.
 */
#include "rules/kube/operator.h"

COUNT_FORMULA(notebook)
{
	return amount_of(
		!object_annotation(place->object, "kubeflow-resource-stopped"));
}
