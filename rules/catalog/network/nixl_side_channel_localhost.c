/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports vLLM servers that give other servers the address `localhost` for the
 * handshake before a transfer of the KV cache. NixlConnector announces
 * VLLM_NIXL_SIDE_CHANNEL_HOST, whose default is localhost in vllm/envs.py of
 * 0.9 to 0.12 and of 2026-08 (vllm-project/vllm#53018). Dynamo and Ray Serve
 * set it. Only a server that produces a cache is reported: consumers connect to
 * it, and servers of both roles in one pod reach each other. Pods with
 * hostNetwork are skipped.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/env.h"
#include "kube/command/parallel.h"
#include "kube/lifecycle/lifecycle.h"

#define NAME "VLLM_NIXL_SIDE_CHANNEL_HOST"

/* Returns the word with the settings of the connector, or NULL. */
static const struct arg *connector(const struct container *c)
{
	const struct argv argv = container_argv(c);

	for (size_t i = 0; i < argv.n; i++)
		if (text_contains(argv.items[i].text, "NixlConnector"))
			return &argv.items[i];
	return NULL;
}

/* True if the pod consumes caches and produces none: its kv_role is
 * kv_consumer, or its role, name or a label contains "decode". */
static bool only_consumes(const struct pod *pod, const struct arg *arg)
{
	bool decodes = text_contains(arg->text, "kv_consumer") ||
		       text_contains_ci(pod->role, "decode") ||
		       text_contains_ci(pod->object->name, "decode");

	FOR_EACH_CHILD(pod->labels, label)
		decodes |= text_contains_ci(node_str(label), "decode");
	return decodes;
}

/* Returns the value of the variable if it is a loopback address, or the word
 * that names the connector if the variable is not set; NULL if another host may
 * be set. */
static const struct node *local_host(const struct container *c,
				     const struct arg *arg)
{
	struct env_value host = container_env_value(c, NAME);

	if (container_says(c, NAME) || container_env_from(c, NAME))
		return NULL;
	if (host.state == ENV_UNSET)
		return arg->node;
	return text_eq(host.text, "localhost") ||
			       text_eq(host.text, "127.0.0.1")
		       ? host.at
		       : NULL;
}

static bool is_vllm(const struct container *c)
{
	const struct argv argv = container_argv(c);
	const struct parallel_list list = container_parallel(c);

	return list.n == 1 && text_eq(list.items[0].program, "vLLM") &&
	       !argv_have(&argv, "dynamo.vllm") && !container_is_merged(c);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct container *only = NULL;
	const struct arg *arg = NULL;
	const struct node *at;

	if (!node_is_unset(pod_field(pod, "hostNetwork")))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		const struct arg *own = connector(c);

		if (own && only)
			return;
		if (own) {
			only = c;
			arg = own;
		}
	}
	if (!only || !is_vllm(only) || only_consumes(pod, arg))
		return;
	at = local_host(only, arg);
	if (at)
		report_container(
			run, only, at,
			at == arg->node
				? "`" NAME
				  "` is not set: vLLM listens on `localhost`, where no other pod can fetch the KV cache of container `%s`"
				: "`" NAME
				  "` is an address of the pod itself: no other pod can fetch the KV cache of container `%s`",
			container_title(only));
}

const struct rule rule_nixl_side_channel_localhost = {
	.name = "nixl-side-channel-localhost",
	.category = "network",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS | PODSPEC,
	.summary = "a vLLM server whose KV cache no other pod can fetch",
	.why = "The decoding servers connect to themselves, the transfer fails, and they compute the prompt again.",
	.remedy =
		"Set " NAME
		" from the pod's address (valueFrom: {fieldRef: {fieldPath: status.podIP}}).",
	.evidence =
		"https://docs.vllm.ai/en/stable/features/nixl_connector_usage/; https://github.com/vllm-project/vllm/issues/27083",
	.check_pod = check,
};
