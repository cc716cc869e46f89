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

struct flagged_server {
	const char *title;
	const char *const *flags;
};
static const struct flagged_server vllm = {"vLLM", vllm_flags};
static const struct flagged_server sglang = {"SGLang", sglang_flags};

/* Returns the server that the image starts with `args`, or NULL. */
static const struct flagged_server *image_server(const struct container *c)
{
	const char *name = container_server(c);

	if (!node_is_unset(node_get(c->node, "command")))
		return NULL;
	if (text_eq(name, vllm.title))
		return &vllm;
	return text_eq(name, sglang.title) ? &sglang : NULL;
}

/* Returns the server that word i names, or NULL. */
static const struct flagged_server *named_server(const struct argv *argv,
						 size_t i)
{
	const char *text = argv->items[i].text;

	if (text_eq(text, "vllm.entrypoints.openai.api_server") ||
	    (i > 0 && text_eq(text, "serve") &&
	     text_eq(argv->items[i - 1].base, "vllm")))
		return &vllm;
	return text_eq(text, "sglang.launch_server") ? &sglang : NULL;
}

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

static void check_word(struct rule_run *run, const struct container *c,
		       const struct arg *arg,
		       const struct flagged_server *server)
{
	static const char *const values[] = {"true", "True", "false", "False",
					     NULL};
	const char *equals = arg->text ? strchr(arg->text, '=') : NULL;
	const char *value = equals ? equals + 1 : arg->text;
	const char *word = equals ? arg->text : arg[-1].text, *flag;

	if (!word || !text_any(value, values, text_eq))
		return;
	flag = find_flag(word, equals ? (size_t)(equals - word) : strlen(word),
			 server->flags);
	if (flag)
		report_container(
			run, c, arg->node,
			"`%s` takes no value: %s rejects `%s`, and container `%s` never starts",
			flag, server->title, value, container_title(c));
}

/* Checks the words after the name of the server up to the next command of the
 * script, such as `true` in `--flag || true`. */
static void check_container(struct rule_run *run, const struct container *c)
{
	struct argv argv = container_argv(c);
	const struct flagged_server *server = image_server(c);

	for (size_t i = 0; i < argv.n; i++) {
		const struct flagged_server *named = named_server(&argv, i);

		if (argv.items[i].first)
			server = NULL;
		if (named)
			server = named;
		else if (server && i > 0)
			check_word(run, c, &argv.items[i], server);
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (!pod_is_serving(pod))
		return;
	FOR_EACH_CONTAINER(pod, c)
		check_container(run, c);
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
