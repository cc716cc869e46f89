/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the programs that build roots. kustomize has precedence over kubectl,
 * which contains another version of it, because users who install kustomize
 * want its version. Reports contain the version, because other versions may
 * build other objects.
 */
#include "render.h"

#include <jansson.h>
#include <string.h>

#include "base/text.h"
#include "lint/files/subprocess.h"

enum { SECONDS = 20, ANSWER = 64 * 1024, ARGUMENTS = 8 };

static const char *first_word(struct arena *arena, const char *text)
{
	text += strspn(text, " \t\r\n");
	return arena_strndup(arena, text, strcspn(text, " \t\r\n"));
}

/* Returns the version in the output, which is the text itself for kustomize and
 * a member of an object for kubectl. */
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
	if (!program_run(argv, &limits, &out, &errors, &err))
		version = version_in(arena, out.data);
	buf_release(&out);
	buf_release(&errors);
	return version;
}

/* called is the program's name and its subcommand. Returns false if the program
 * is not in PATH. */
static bool find_program(struct render *r, struct render_tool *tool,
			 const char *called, const char *const *arguments)
{
	size_t len = strcspn(called, " "), n = 1;
	const char *argv[ARGUMENTS] = {NULL};
	struct buf path;
	bool found;

	buf_init(&path);
	found = program_find(arena_strndup(&r->arena, called, len), &path);
	argv[0] = path.data;
	while (*arguments)
		argv[n++] = *arguments++;
	if (found)
		*tool = (struct render_tool){
			arena_strdup(&r->arena, path.data), called,
			r->applied ? "" : ask(&r->arena, argv)};
	buf_release(&path);
	return found;
}

void render_find_tools(struct render *r)
{
	static const char *const kustomize[] = {"version", NULL};
	static const char *const kubectl[] = {"version", "--client", "-o",
					      "json", NULL};
	static const char *const helm[] = {"version", "--short", NULL};
	bool charts = false, kustomizations = false;

	for (size_t i = 0; i < r->nroots; i++) {
		charts |= r->roots[i].chart != NULL;
		kustomizations |= !r->roots[i].chart;
	}
	if (kustomizations && !r->kustomize.path &&
	    !find_program(r, &r->kustomize, "kustomize build", kustomize))
		find_program(r, &r->kustomize, "kubectl kustomize", kubectl);
	if (charts && !r->helm.path)
		find_program(r, &r->helm, "helm template", helm);
}
