/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens and keys written as literals into the environment of GPU pods: model
 * hubs, experiment trackers, object stores. Anyone who can read the object or
 * the repository has them. kube/secret.h decides what is a secret; reports hide
 * such values by it, too.
 *
 * Source: Kubernetes documentation, Good practices for Kubernetes Secrets.
 */
#include "engine/rule.h"
#include "kube/secret/secret.h"

static void check_entry(struct rule_run *run, const struct container *c,
			const struct env_entry *entry)
{
	const char *name = entry->name->str, *text = node_str(entry->value);

	if (text && secret_is(name, text))
		report_container(run, c, entry->value,
				 "`%s` is in plain text: use a Secret and "
				 "`valueFrom.secretKeyRef`",
				 name);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const bool *last = secret_last_letters();

	if (pod_uses_gpu(pod) != TRI_YES)
		return;
	FOR_EACH_CONTAINER(pod, c)
		for (size_t i = 0; i < c->nenv; i++) {
			const struct node *name = c->env[i].name;

			if (name->len &&
			    last[(unsigned char)name->str[name->len - 1]])
				check_entry(run, c, &c->env[i]);
		}
}

const struct rule rule_secret_in_gpu_env = {
	.name = "secret-in-gpu-env",
	.category = "env",
	.severity = SEVERITY_ERROR,
	.wants = FACT_GPU | FACT_ENV | FACT_NEW,
	.since = "1.0",
	.summary = "a token or key in plain text in a manifest",
	.why = "Anyone who can read the object or the repository can use it.",
	.remedy =
		"Put it into a Secret, refer to it with secretKeyRef, and revoke the one that was exposed.",
	.evidence =
		"https://kubernetes.io/docs/concepts/security/secrets-good-practices/",
	.check_pod = check,
};
