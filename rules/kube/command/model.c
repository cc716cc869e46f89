/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the model in flags of vLLM, SGLang and Text Generation Inference. */
#include "kube/command/model.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "kube/command/argv.h"
#include "kube/command/env.h"

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
