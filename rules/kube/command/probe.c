/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes with the defaults of pkg/apis/core/v1/defaults.go SetDefaults_Probe:
 * periodSeconds 10, failureThreshold 3, timeoutSeconds 1. A zero counts as
 * unset.
 */
#include "kube/command/server.h"

#include "base/array.h"
#include "kube/command/command.h"
#include "kube/command/env.h"

static int64_t field(struct container_probe *probe, const char *name,
		     int64_t unset)
{
	const struct node *node = node_get(probe->node, name);
	int64_t value;

	if (node_is_unset(node))
		return unset;
	if (!node_int(node, &value)) {
		probe->unknown = true;
		return unset;
	}
	return value > 0 && value <= INT32_MAX ? value : unset;
}

bool container_probe(const struct container *c, const char *name,
		     struct container_probe *out)
{
	*out = (struct container_probe){.node = node_get(c->node, name)};
	if (node_is_unknown(out->node)) {
		out->unknown = true;
		return true;
	}
	if (!node_is_map(out->node))
		return false;
	out->delay = field(out, "initialDelaySeconds", 0);
	out->period = field(out, "periodSeconds", 10);
	out->failures = field(out, "failureThreshold", 3);
	out->timeout = field(out, "timeoutSeconds", 1);
	out->exec = !node_is_unset(node_get(out->node, "exec"));
	out->tcp = !node_is_unset(node_get(out->node, "tcpSocket"));
	return true;
}

int64_t probe_budget(const struct container_probe *probe)
{
	return probe->delay + probe->period * probe->failures;
}

/* -- the size of a model ------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* True if a number may start here: at the start of a word, or after "8x". */
static bool starts_number(const char *text, const char *s)
{
	return is_digit(*s) &&
	       (s == text || s[-1] == 'x' || (!is_word(s[-1]) && s[-1] != '.'));
}

/* Converts tenths of this unit to tenths of billions, at least one unless n is
 * 0; returns `unset` for an unknown unit. */
static int64_t in_billions(char unit, int64_t n, int64_t unset)
{
	if (unit == 'b' || unit == 'B')
		return n;
	if ((unit == 'm' || unit == 'M') && n)
		return n < 1000 ? 1 : n / 1000;
	return unset;
}

/* Returns ten times the last number of billions in a name, or 0:
 * "Llama-3.1-70B-Instruct", "1.5b", "8x7B", "125m". The text after '@' is a
 * digest. */
static int64_t size_in(const char *text)
{
	int64_t best = 0;

	for (const char *s = text; s && *s && *s != '@'; s++) {
		int64_t n = 0;

		if (!starts_number(text, s))
			continue;
		for (; is_digit(*s) && n < 10000; s++)
			n = n * 10 + (*s - '0');
		n *= 10;
		if (*s == '.' && is_digit(s[1])) {
			n += s[1] - '0';
			for (s++; is_digit(*s); s++)
				;
		}
		if (*s && !is_word(s[1]))
			best = in_billions(*s, n, best);
		s--; /* the loop increments it */
	}
	return best;
}

/* Returns the number by which the size of 16-bit weights is divided: 3 for 4
 * bits, because some layers are not quantized, and 2 for 8 bits. Returns 1 if
 * the model's name mentions neither. */
static int64_t shrink_factor(const char *text)
{
	static const char *const four[] = {"awq",  "gptq",  "int4", "w4a",
					   "4bit", "4-bit", "fp4",  NULL};
	static const char *const eight[] = {"fp8",  "int8",  "w8a",
					    "8bit", "8-bit", NULL};

	if (text_any(text, four, text_contains_ci))
		return 3;
	return text_any(text, eight, text_contains_ci) ? 2 : 1;
}

/* Returns the size of a well-known model whose name does not contain it, or
 * 0. */
static int64_t known_size(const char *text)
{
	static const struct {
		const char *name;
		int64_t size;
	} models[] = {
		{"phi-2", 27},
		{"phi-3-mini", 38},
		{"phi-3.5-mini", 38},
		{"phi-4-mini", 38},
	};

	for (size_t i = 0; i < ARRAY_SIZE(models); i++)
		if (text_contains_ci(text, models[i].name))
			return models[i].size;
	return 0;
}

/* Returns the size of the model in a name, with quantized weights converted to
 * 16 bits; 0 if it is unknown. */
static int64_t stored_size_in(const char *text)
{
	int64_t size = size_in(text) ? size_in(text) : known_size(text);
	int64_t stored = text ? size / shrink_factor(text) : 0;

	return size && !stored ? 1 : stored;
}

static int64_t env_size(const struct container *c)
{
	static const char *const names[] = {
		"MODEL",      "MODEL_ID",    "MODEL_NAME",
		"MODEL_PATH", "model_id",    "model_name",
		"HF_MODEL",   "HF_MODEL_ID", NULL};

	for (const char *const *name = names; *name; name++) {
		int64_t size = stored_size_in(container_env_text(c, *name));

		if (size)
			return size;
	}
	return 0;
}

int64_t container_model_size(const struct container *c)
{
	static const char *const flags[] = {"model",	  "model-id",
					    "model-path", "served-model-name",
					    "model-name", NULL};
	struct argv argv = container_argv(c);
	int64_t size = 0;

	for (const char *const *flag = flags; *flag && !size; flag++)
		size = stored_size_in(argv_flag(&argv, *flag, NULL));
	/* The model follows the word in `vllm serve MODEL`. */
	for (size_t i = 0; i + 1 < argv.n && !size; i++)
		if (text_eq(argv.items[i].text, "serve"))
			size = stored_size_in(argv.items[i + 1].text);
	/* The command of newer images is `vllm serve`. */
	if (!size && argv.n && node_is_unset(node_get(c->node, "command")) &&
	    text_contains(c->image, "vllm-openai"))
		size = stored_size_in(argv.items[0].text);
	if (!size)
		size = env_size(c);
	if (!size)
		size = stored_size_in(c->image);
	/* Embedding models are small. */
	if (!size && (text_contains(c->image, "text-embeddings") ||
		      argv_have(&argv, "text-embeddings-router") ||
		      argv_have(&argv, "infinity_emb")))
		size = 10;
	return size;
}
