/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filters `gpugate krm` and `gpugate post-render`, which fix manifests on
 * standard input and write them to standard output.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/text.h"
#include "doc/splice.h"
#include "lint/run/filter.h"
#include "lint/term/log.h"

/*
 * `gpugate krm`: a KRM function (config.kubernetes.io/v1 ResourceList on
 * standard input and output) for kustomize transformers and kpt. Items are
 * fixed in place in the text, so that comments and order stay; findings are
 * returned as results. A functionConfig of kind Policy is used as the policy; a
 * ConfigMap may set `fix: none|safe|unsafe`.
 */

struct krm {
	struct filter filter;
	struct policy *own; /* made from the functionConfig, or NULL */
	struct policy *policy;
	const char *fix;
};

/* --- the list ------------------------------------------------------------ */

static int read_list(struct krm *krm, struct arena *arena, struct doc *doc)
{
	struct filter *f = &krm->filter;
	struct source *source = ARENA_NEW(arena, struct source);
	struct loader loader;

	source_init(source, arena, f->texts->name, f->texts->text.data,
		    f->texts->text.len);
	loader_init(&loader, source, &load_limits_default, arena);
	if (loader_next(&loader, doc) > 0 &&
	    node_eq(node_get(doc->root, "kind"), "ResourceList"))
		return 0;
	log_line("standard input is not a ResourceList");
	return 2;
}

static int use_policy(struct krm *krm, const struct node *config)
{
	struct filter *f = &krm->filter;
	struct policy_problems problems = {0};
	struct policy_text text;
	struct buf json;

	buf_init(&json);
	node_json(config, &json);
	text = (struct policy_text){"functionConfig", json.data, json.len};
	krm->own = policy_parse(&f->rules, &text, NULL, &problems);
	for (size_t i = 0; i < problems.n; i++)
		log_line("functionConfig: %s", problems.items[i].text);
	policy_problems_release(&problems);
	buf_release(&json);
	if (krm->own)
		krm->policy = policies_adjust(&f->policies, krm->own, NULL);
	f->policy = krm->policy;
	return krm->policy ? 0 : 2;
}

static int configure(struct krm *krm, struct arena *arena)
{
	const struct node *config;
	const char *fix;
	struct doc doc;

	if (read_list(krm, arena, &doc))
		return 2;
	config = node_get(doc.root, "functionConfig");
	krm->fix = krm->filter.options->unsafe_fixes ? "unsafe" : "safe";
	if (node_eq(node_get(config, "kind"), "Policy"))
		return use_policy(krm, config);
	fix = node_str(node_path(config, "data.fix"));
	if (!fix)
		return 0;
	if (!text_eq(fix, "none") && !text_eq(fix, "safe") &&
	    !text_eq(fix, "unsafe")) {
		log_line("functionConfig: fix: expected none, safe or "
			 "unsafe, found `%s`",
			 fix);
		return 2;
	}
	krm->fix = arena_strdup(arena, fix);
	return 0;
}

/* --- results ------------------------------------------------------------- */

static void put_reference(struct arena *arena, struct node *result,
			  const struct finding *finding)
{
	struct node *ref = edit_map(arena);

	edit_member_string(arena, ref, "apiVersion", finding->id.api_version);
	edit_member_string(arena, ref, "kind", finding->id.kind);
	edit_member_string(arena, ref, "name", finding->id.name);
	if (*finding->id.namespace)
		edit_member_string(arena, ref, "namespace",
				   finding->id.namespace);
	edit_member(arena, result, "resourceRef", ref);
}

/* Splits "/items/3/spec/x" into the item and "spec.x". */
static const struct node *split_path(struct arena *arena,
				     const struct node *root,
				     const char *pointer, const char **field)
{
	const char *at = pointer;
	unsigned long index = 0;
	char *path;

	*field = "";
	if (!text_starts(at, "/items/"))
		return NULL;
	for (at += strlen("/items/"); *at >= '0' && *at <= '9'; at++)
		index = index * 10 + (unsigned long)(*at - '0');
	path = arena_strdup(arena, *at == '/' ? at + 1 : at);
	for (char *c = path; *c; c++)
		if (*c == '/')
			*c = '.';
	*field = path;
	return node_at(node_get(root, "items"), index);
}

static const char *annotation(const struct node *item, const char *key)
{
	const struct node *all = node_path(item, "metadata.annotations");
	struct buf internal;
	const char *value;

	buf_init(&internal);
	buf_addf(&internal, "internal.config.kubernetes.io/%s", key);
	value = node_str(node_get(all, internal.data));
	if (!value)
		value = node_str(node_get(all, internal.data + 9));
	buf_release(&internal);
	return value;
}

static void put_proposal(struct arena *arena, struct node *field,
			 const struct finding *finding)
{
	if (finding->repair && !finding->repair->masked &&
	    *finding->repair->patch)
		edit_member_string(arena, field, "proposedValue",
				   finding->repair->patch);
}

static struct node *result_of(struct arena *arena, const struct node *root,
			      const struct finding *finding)
{
	struct node *result = edit_map(arena), *field = edit_map(arena);
	struct node *tags = edit_map(arena), *file = edit_map(arena);
	const char *path;
	const struct node *item =
		split_path(arena, root, finding->place.pointer, &path);
	const char *name = annotation(item, "path");

	edit_member_string(arena, result, "message", finding->message);
	edit_member_string(arena, result, "severity",
			   severity_name(finding->severity));
	put_reference(arena, result, finding);
	edit_member_string(arena, field, "path", path);
	put_proposal(arena, field, finding);
	edit_member(arena, result, "field", field);
	if (name) {
		edit_member_string(arena, file, "path", name);
		edit_member(arena, result, "file", file);
	}
	edit_member_string(arena, tags, "rule", finding->rule->name);
	edit_member(arena, result, "tags", tags);
	return result;
}

/* Adds `results` to the text. The bytes of the items do not change. */
static int add_results(struct krm *krm, struct arena *arena)
{
	struct filter *f = &krm->filter;
	struct node *results = edit_seq(arena);
	struct splice_list splices = {0};
	struct edit_list edits;
	struct edit_path path;
	struct buf text;
	struct doc doc;

	if (read_list(krm, arena, &doc))
		return 2;
	for (size_t i = 0; i < f->n; i++)
		if (!f->findings[i].suppressed)
			edit_item(results,
				  result_of(arena, doc.root, &f->findings[i]));
	edit_list_init(&edits, arena);
	edit_group(&edits);
	edit_path_to(&path, arena, NULL);
	edit_path_key(&path, "results");
	edit_set(&edits, &path, results);
	edits_splice(&edits, &doc, arena, &splices);
	buf_init(&text);
	splices_apply(doc.source->text, doc.source->len, &splices, &text);
	if (print_out(&text))
		return 2;
	return edits.groups[0].outcome == EDIT_REFUSED ? 2 : 0;
}

static int krm_run(struct krm *krm, struct arena *arena)
{
	struct filter *f = &krm->filter;
	int rc = configure(krm, arena);

	if (rc)
		return rc;
	if (!text_eq(krm->fix, "none"))
		rc = filter_repair(f, text_eq(krm->fix, "unsafe"));
	filter_lint(f);
	if (f->n && f->options->quiet < 2)
		filter_report(f, &report_concise, stderr);
	if (add_results(krm, arena))
		rc = 2;
	return rc ? rc : filter_failures(f) != 0;
}

int krm_command(struct options *options)
{
	struct krm krm = {0};
	struct arena arena = ARENA_INIT;
	int rc = filter_open(&krm.filter, options, "<ResourceList>");

	if (!rc)
		rc = filter_add_stdin(&krm.filter, "<ResourceList>");
	if (!rc)
		rc = krm_run(&krm, &arena);
	filter_release(&krm.filter);
	policy_free(krm.policy);
	policy_free(krm.own);
	arena_release(&arena);
	return rc;
}

/*
 * `gpugate post-render`: a Helm post-renderer. Helm 3 calls it as an
 * executable, Helm 4 as a plugin; both pass the rendered manifests, including
 * hooks, on standard input, and read the result from standard output. Helm 4
 * drops a plugin's standard error, so the report also goes to --report-file or
 * $GPUGATE_REPORT. If the check fails, nothing is written to standard output,
 * so that the release stops.
 */

static void write_report_file(struct filter *f, const char *path)
{
	struct replace replace;
	int error = replace_open(&replace, path);

	if (!error) {
		filter_report(f, &report_full, replace.out);
		error = replace_finish(&replace, 0);
	}
	if (error)
		log_line("%s: %s", path, strerror(error));
}

static void write_reports(struct filter *f)
{
	const char *path = f->options->report_file;

	if (!path)
		path = getenv("GPUGATE_REPORT");
	if (path && *path)
		write_report_file(f, path);
	if (f->options->quiet < 2 && f->n)
		filter_report(f, &report_full, stderr);
}

static int post_render(struct filter *f)
{
	int rc = filter_repair(f, f->options->unsafe_fixes);

	filter_lint(f);
	write_reports(f);
	if (rc || filter_failures(f))
		return rc ? rc : 1;
	return print_out(&f->texts->text);
}

int post_render_command(struct options *options)
{
	struct filter filter;
	int rc = filter_open(&filter, options, "<rendered>");

	if (!rc)
		rc = filter_add_stdin(&filter, "<rendered>");
	if (!rc)
		rc = post_render(&filter);
	filter_release(&filter);
	return rc;
}
