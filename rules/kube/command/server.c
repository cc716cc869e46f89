/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the model and the port of a model server from its command line and its
 * variables. Without them, the port is the default of the program or image.
 */
#include "kube/command/server.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "command_internal.h"
#include "kube/command/command.h"
#include "kube/command/env.h"

/* --- the model ------------------------------------------------------------ */

/* True for owner/name, the form of ids on a hub, and not for a path or an
 * address. */
static bool is_hub_id(const char *text)
{
	const char *slash = text ? strchr(text, '/') : NULL;

	if (!slash || slash == text || !slash[1] || strchr(slash + 1, '/') ||
	    strpbrk(text, ":$ ~{="))
		return false;
	return isalnum((unsigned char)text[0]) && !text_ends(text, ".py");
}

const char *container_hub_model(const struct argv *argv,
				const struct container *c)
{
	static const char *const flags[] = {"--model", "--model-id",
					    "--model-path",
					    "--model-name-or-path", NULL};
	const char *id;

	for (const char *const *flag = flags; *flag; flag++) {
		id = argv_flag(argv, *flag, NULL);
		if (is_hub_id(id))
			return id;
	}
	for (size_t i = 0; i + 1 < argv->n; i++)
		if (text_eq(argv->items[i].text, "serve") &&
		    is_hub_id(argv->items[i + 1].text))
			return argv->items[i + 1].text;
	id = container_env_text(c, "MODEL_ID");
	return text_contains(c->image, "text-generation-inference") &&
			       is_hub_id(id)
		       ? id
		       : NULL;
}

/* --- the port ------------------------------------------------------------- */

const struct container *pod_only_container(const struct pod *pod)
{
	const struct container *found = NULL;

	FOR_EACH_CONTAINER(pod, c) {
		if (c->role == CONTAINER_INIT)
			continue;
		if (found)
			return NULL;
		found = c;
	}
	return found;
}

/* A model server whose port is known without a flag. */
struct model_server {
	const char *name;
	/* End of the name of its published image, or a name with the start of
	 * the tag; NULL if the image starts something else. */
	const char *image;
	const char *command;	/* starts the server in any image; or NULL */
	const char *subcommand; /* follows the command; or NULL */
	const char *variable;	/* sets the port; or NULL */
	int64_t port;		/* the default */
};

/*
 * Sources: vllm v0.11.0 vllm/entrypoints/openai/cli_args.py; sglang v0.5.3
 * server_args.py; ollama v0.12.0 envconfig/config.go, Host; the Dockerfiles of
 * text-generation-inference v3.3.4, text-embeddings-inference v1.8.0 and
 * llama.cpp b6700, whose programs have other defaults in other images.
 */
static const struct model_server servers[] = {
	{"vLLM", "vllm-openai", "vllm", "serve", NULL, 8000},
	{"vLLM", NULL, "vllm.entrypoints.openai.api_server", NULL, NULL, 8000},
	{"SGLang", NULL, "sglang.launch_server", NULL, NULL, 30000},
	{"Ollama", "ollama/ollama", "ollama", "serve", "OLLAMA_HOST", 11434},
	{"TGI", "huggingface/text-generation-inference", NULL, NULL, "PORT",
	 80},
	{"TEI", "huggingface/text-embeddings-inference", NULL, NULL, "PORT",
	 80},
	{"llama.cpp", "ggml-org/llama.cpp:server", NULL, NULL, "LLAMA_ARG_PORT",
	 8080},
};

/* True if the image has this name, after any registry and before any tag. The
 * image for TensorRT-LLM, a tag of text-generation-inference, sets no PORT. */
static bool image_is(const char *image, const char *name)
{
	const char *found = image && name ? strstr(image, name) : NULL;
	const char *end = found ? found + strlen(name) : NULL;

	return found && !strstr(end, "trtllm") &&
	       (found == image || found[-1] == '/') &&
	       (!*end || *end == ':' || *end == '@' || strchr(name, ':'));
}

/* Returns the word of the command that starts the server, or NULL. */
static const struct arg *start_of(const struct argv *argv,
				  const struct model_server *s)
{
	for (size_t i = 0; s->command && i < argv->n; i++)
		if (text_eq(argv->items[i].base, s->command) &&
		    (!s->subcommand ||
		     (i + 1 < argv->n &&
		      text_eq(argv->items[i + 1].text, s->subcommand))))
			return &argv->items[i];
	return NULL;
}

/* Returns the container's server, or NULL, and sets *at to the value that names
 * it: a word of the command, or the image. */
static const struct model_server *find_server(const struct container *c,
					      const struct argv *argv,
					      const struct node **at)
{
	const char *first = argv->n ? argv->items[0].text : NULL;
	bool entrypoint = !node_get(c->node, "command") &&
			  (!first || *first == '-' || text_eq(first, "serve"));

	for (size_t i = 0; i < ARRAY_SIZE(servers); i++) {
		const struct arg *start = start_of(argv, &servers[i]);

		*at = start ? start->node : node_get(c->node, "image");
		if (start ||
		    (entrypoint && image_is(c->image, servers[i].image)))
			return &servers[i];
	}
	*at = NULL;
	return NULL;
}

const char *container_server(const struct container *c)
{
	struct argv argv = container_argv(c);
	const struct node *at;
	const struct model_server *s = find_server(c, &argv, &at);

	return s ? s->name : NULL;
}

static int64_t port_number(const char *text)
{
	return *text && strlen(text) <= 5 &&
			       strspn(text, "0123456789") == strlen(text)
		       ? strtol(text, NULL, 10)
		       : 0;
}

/* Returns the port in a variable, which may follow an address
 * (`0.0.0.0:8080`), the default without a port, or 0 if it is unknown. */
static int64_t variable_port(const char *text, int64_t otherwise)
{
	const char *colon = text ? strrchr(text, ':') : NULL;

	if (!text || strstr(text, "://"))
		return 0;
	if (colon)
		return port_number(colon + 1);
	return strpbrk(text, ".[") ? otherwise : port_number(text);
}

/* True if a flag may be unknown. A variable of the container, which no script
 * assigns, is none if its value is one word. */
static bool may_have_more_flags(const struct argv *argv,
				const struct container *c)
{
	bool explained = false;

	for (size_t i = 0; i < argv->n; i++) {
		const struct arg *arg = &argv->items[i];
		const char *value;
		bool set;

		if (!arg->any)
			continue;
		if (!arg->variable)
			return true;
		assigned_value(c, arg->variable, &set);
		if (set)
			return true;
		value = container_env_text(c, arg->variable);
		if (!value || *value == '-' || strpbrk(value, " \t\n"))
			return true;
		explained = true;
	}
	return argv->unknown && !explained;
}

struct listen_port container_listens_on(const struct container *c)
{
	static const char *const other_sources[] = {
		"-p",
		"--config",
		"--uds",
		"--headless",
		"--data-parallel-multi-port-external-lb",
		"-dpm",
		NULL};
	struct argv argv = container_argv(c);
	const struct arg *found = NULL;
	const char *flag = argv_flag(&argv, "--port", &found);
	struct listen_port port = {.by_default = !found};
	const struct model_server *s = find_server(c, &argv, &port.at);
	struct env_value value;

	if (!s || may_have_more_flags(&argv, c) ||
	    argv_have_any(&argv, other_sources))
		return (struct listen_port){0};
	if (found) {
		port.at = found->node;
		port.number = flag ? port_number(flag) : 0;
		return port;
	}
	port.number = s->port;
	if (!s->variable)
		return port;
	value = container_env_value(c, s->variable);
	if (value.state != ENV_UNSET) {
		port = (struct listen_port){
			.number = variable_port(value.text, s->port),
			.at = value.at};
	} else if (container_env_from(c, s->variable) ||
		   container_says(c, s->variable)) {
		port.number = 0;
	}
	return port;
}

/*
 * Probes with the defaults of pkg/apis/core/v1/defaults.go SetDefaults_Probe:
 * periodSeconds 10, failureThreshold 3, timeoutSeconds 1. A zero counts as
 * unset.
 */

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
