/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports servers and trainers that run Python files of a model repository,
 * without a fixed revision, because a flag makes them trust it.
 */
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/command/server.h"

static bool says_no(const char *value)
{
	return value && (!strcasecmp(value, "false") ||
			 !strcasecmp(value, "no") || !strcmp(value, "0"));
}

/* Returns the flag that trusts the code, or NULL. */
static const struct arg *trusting(const struct argv *argv)
{
	if (!argv_have(argv, "--trust-remote-code"))
		return NULL;
	for (size_t i = 0; i < argv->n; i++) {
		const char *text = argv->items[i].text;

		if (text_eq(text, "--trust-remote-code") ||
		    text_eq(text, "--trust_remote_code") ||
		    text_eq(text, "--trust-remote-code=true"))
			/* The flag may be followed by a value, because of
			 * HfArgumentParser. */
			return i + 1 < argv->n &&
					       says_no(argv->items[i + 1].text)
				       ? NULL
				       : &argv->items[i];
	}
	return NULL;
}

static bool is_on(const struct container *c, const char *name)
{
	const char *value = container_env_text(c, name);

	return value && !says_no(value);
}

/* True if the revision of the code is fixed, or the code comes from the
 * cache. */
static bool is_fixed(const struct argv *argv, const struct container *c)
{
	return argv_have(argv, "--revision") ||
	       argv_have(argv, "--code-revision") ||
	       container_env(c, "REVISION") || is_on(c, "HF_HUB_OFFLINE") ||
	       is_on(c, "TRANSFORMERS_OFFLINE");
}

/* True if KServe copies the model from the hub when the pod starts, without a
 * revision: `hf://owner/name`, and not `hf://owner/name:revision`. An
 * LLMInferenceService names the model in its spec, an InferenceService in the
 * model server's field (kserve python/storage, _download_hf). */
static bool is_hub_copy(const struct container *c)
{
	const struct node *uri = node_get(c->node, "storageUri");
	const char *text;

	if (object_is(c->pod->object, "serving.kserve.io",
		      "LLMInferenceService"))
		uri = node_path(c->pod->object->root, "spec.model.uri");
	text = node_str(uri);
	return text && text_starts(text, "hf://") &&
	       !strpbrk(text + strlen("hf://"), ":@$<{");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct argv argv;
		const struct arg *arg;

		if (c->gpus.n < 1)
			continue;
		argv = container_argv(c);
		arg = trusting(&argv);
		/* The code in a local path does not change by itself. */
		if (arg && (container_hub_model(&argv, c) || is_hub_copy(c)) &&
		    !is_fixed(&argv, c))
			report_container(
				run, c, arg->node,
				"container `%s` runs code from the model's repository without pinning its version",
				container_title(c));
	}
}

const struct rule rule_trust_remote_code = {
	.name = "trust-remote-code",
	.category = "governance",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.summary =
		"a server or a trainer runs code from a model repository without a fixed revision",
	.why = "Anyone who can write to the model repository can run code in the container, with its secrets and devices.",
	.remedy =
		"Pin the revision of the model (--revision, or hf://ORGANIZATION/MODEL:REVISION in KServe), or remove the flag if the program itself supports the model.",
	.evidence = "https://huggingface.co/docs/transformers/custom_models",
	.check_pod = check,
};
