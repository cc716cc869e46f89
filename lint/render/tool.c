/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kustomize is taken before kubectl, which has one of its own built in: who
 * installs it wants its version. The version is said in reports, because
 * another one may build other objects.
 */
#include "render.h"

#include <jansson.h>
#include <string.h>

#include "base/text.h"
#include "lint/files/subprocess.h"

enum { SECONDS = 20, ANSWER = 64 * 1024 };

static const char *first_word(struct arena *arena, const char *text)
{
	text += strspn(text, " \t\r\n");
	return arena_strndup(arena, text, strcspn(text, " \t\r\n"));
}

/* kustomize prints it, kubectl as a member of an object. */
static const char *version_in(struct arena *arena, const char *answer)
{
	json_t *root = json_loads(answer, 0, NULL);
	const char *text =
		json_string_value(json_object_get(root, "kustomizeVersion"));
	const char *version = first_word(arena, text ? text : "");

	json_decref(root);
	return root ? version : first_word(arena, answer);
}

static const char *ask(struct arena *arena, const char *const *argv)
{
	static const struct program_limits limits = {.seconds = SECONDS,
						     .output = ANSWER};
	struct buf out, errors;
	struct err err = {0};
	const char *version = "";

	buf_init(&out);
	buf_init(&errors);
	if (!program_run_within(argv, &limits, &out, &errors, &err))
		version = version_in(arena, out.data);
	buf_release(&out);
	buf_release(&errors);
	return version;
}

static void find_kustomize(struct render *r)
{
	struct render_tool *tool = &r->kustomize;
	struct buf path;

	buf_init(&path);
	if (program_find("kustomize", &path)) {
		const char *argv[] = {path.data, "version", NULL};

		*tool = (struct render_tool){arena_strdup(&r->arena, path.data),
					     "kustomize build",
					     ask(&r->arena, argv)};
	} else if (program_find("kubectl", &path)) {
		const char *argv[] = {path.data, "version", "--client",
				      "-o",	 "json",    NULL};

		*tool = (struct render_tool){arena_strdup(&r->arena, path.data),
					     "kubectl kustomize",
					     ask(&r->arena, argv)};
	}
	buf_release(&path);
}

static void find_helm(struct render *r)
{
	struct buf path;

	buf_init(&path);
	if (program_find("helm", &path)) {
		const char *argv[] = {path.data, "version", "--short", NULL};

		r->helm = (struct render_tool){
			arena_strdup(&r->arena, path.data), "helm template",
			ask(&r->arena, argv)};
	}
	buf_release(&path);
}

void render_find_tools(struct render *r)
{
	bool charts = false, kustomizations = false;

	for (size_t i = 0; i < r->nroots; i++) {
		charts |= r->roots[i].chart != NULL;
		kustomizations |= !r->roots[i].chart;
	}
	if (kustomizations && !r->kustomize.path)
		find_kustomize(r);
	if (charts && !r->helm.path)
		find_helm(r);
}
