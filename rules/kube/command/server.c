/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the model and the port of a model server from its command line, or from
 * variables: the model from flags of vLLM, SGLang and Text Generation
 * Inference, the port of vLLM and SGLang, and of Ollama from OLLAMA_HOST
 * (ollama v0.12.0 envconfig/config.go, Host).
 */
#include "kube/command/server.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kube/command/argv.h"
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

static int64_t port_number(const char *text)
{
	return *text && strlen(text) <= 5 &&
			       strspn(text, "0123456789") == strlen(text)
		       ? strtol(text, NULL, 10)
		       : 0;
}

/* Returns the port in OLLAMA_HOST (`0.0.0.0:8080`) of a container with the
 * image of Ollama, and sets *at to its entry; returns 0 without one. */
static int64_t ollama_port(const struct container *c, const struct node **at)
{
	struct env_value host = container_env_value(c, "OLLAMA_HOST");
	const char *colon = host.text ? strrchr(host.text, ':') : NULL;

	if (!colon || !c->image || !strstr(c->image, "ollama/ollama") ||
	    !port_number(colon + 1))
		return 0;
	*at = host.at;
	return port_number(colon + 1);
}

int64_t container_listens_on(const struct container *c, const struct node **at)
{
	static const char *const servers[] = {"vllm.entrypoints.openai."
					      "api_server",
					      "vllm", "sglang.launch_server",
					      NULL};
	struct argv argv = container_argv(c);
	const struct arg *found = NULL;
	const char *text = argv_flag(&argv, "--port", &found);

	*at = NULL;
	if (argv.unknown)
		return 0;
	if (!text)
		return ollama_port(c, at);
	if (!found || !port_number(text))
		return 0;
	if (!argv_have_any(&argv, servers) &&
	    !(c->image && strstr(c->image, "vllm-openai")))
		return 0;
	*at = found->node;
	return port_number(text);
}
