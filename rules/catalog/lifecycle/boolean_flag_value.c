/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports `true` and `false` after flags of model servers that take no value.
 * argparse rejects the rest as "unrecognized arguments", or the value in
 * `--flag=true`; `vllm serve` treats it as the model. Flags that accept a
 * value in some release, such as vLLM's --enable-chunked-prefill, are not
 * listed. Sources: vllm v0.4.0 to v0.9, v0.11.0 and at 95af7009 of
 * HabanaAI/vllm-fork, vllm/engine/arg_utils.py and
 * entrypoints/openai/cli_args.py (store_true or BooleanOptionalAction); sglang
 * 0.3.0, 0.4.6 and 0.5.3 srt/server_args.py (store_true); CPython 3.12
 * Lib/argparse.py.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/command/server.h"
#include "kube/purpose/purpose.h"

static const char *const vllm_flags[] = {"--enable-prefix-caching",
					 "--trust-remote-code",
					 "--enforce-eager",
					 "--enable-lora",
					 "--enable-auto-tool-choice",
					 "--enable-expert-parallel",
					 "--enable-reasoning",
					 "--enable-sleep-mode",
					 "--enable-prompt-tokens-details",
					 "--disable-custom-all-reduce",
					 "--disable-log-requests",
					 "--disable-log-stats",
					 "--disable-sliding-window",
					 "--fully-sharded-loras",
					 NULL};
static const char *const sglang_flags[] = {"--trust-remote-code",
					   "--enable-dp-attention",
					   "--enable-mixed-chunk",
					   "--enable-torch-compile",
					   "--enable-metrics",
					   "--disable-cuda-graph",
					   "--disable-custom-all-reduce",
					   "--disable-radix-cache",
					   "--is-embedding",
					   "--log-requests",
					   "--skip-tokenizer-init",
					   NULL};

/* Returns the flag of the list that the word sets, with - and _ alike; or
 * NULL. */
static const char *find_flag(const char *text, size_t len,
			     const char *const *flags)
{
	for (; *flags; flags++) {
		size_t n = 0;

		while (n < len &&
		       (text[n] == '_' ? '-' : text[n]) == (*flags)[n])
			n++;
		if (n == len && !(*flags)[n])
			return *flags;
	}
	return NULL;
}

static void check_flags(struct rule_run *run, const struct container *c,
			const struct argv *argv, const char *server,
			const char *const *flags)
{
	static const char *const values[] = {"true", "True", "false", "False",
					     NULL};

	for (size_t i = 1; i < argv->n; i++) {
		const struct arg *arg = &argv->items[i];
		const char *equals = arg->text ? strchr(arg->text, '=') : NULL;
		const char *value = equals ? equals + 1 : arg->text;
		const char *word = equals ? arg->text : arg[-1].text, *flag;

		/* The value of `--flag || true` starts another command. */
		if (!word || arg->first || !text_any(value, values, text_eq))
			continue;
		flag = find_flag(
			word, equals ? (size_t)(equals - word) : strlen(word),
			flags);
		if (flag)
			report_container(
				run, c, arg->node,
				"`%s` takes no value: %s rejects `%s`, and container `%s` never starts",
				flag, server, value, container_title(c));
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (!pod_is_serving(pod))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		struct argv argv = container_argv(c);
		const char *server = container_server(c);

		if (text_eq(server, "vLLM"))
			check_flags(run, c, &argv, server, vllm_flags);
		else if (text_eq(server, "SGLang"))
			check_flags(run, c, &argv, server, sglang_flags);
	}
}

const struct rule rule_boolean_flag_value = {
	.name = "boolean-flag-value",
	.category = "lifecycle",
	.severity = SEVERITY_ERROR,
	.scope = GPU_PODS,
	.summary =
		"`true` or `false` after a flag of a model server that takes no value",
	.why = "The server rejects its command line: the container crashes repeatedly while the pod holds its GPUs.",
	.remedy = "Remove the value, or the whole flag if it should be off.",
	.evidence =
		"https://docs.python.org/3/library/argparse.html#action (store_true)",
	.check_pod = check,
};
