/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts with a placeholder, nodes marked because of it, and files that are
 * templates. The forms are from public repositories; the corpus in
 * GPUGATE_SHARED must contain no template.
 */
#include <fts.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "doc/build.h"
#include "doc/load.h"

static const char *const placeholders[] = {
	"${JOB_NAME}",
	"ENC[AES256_GCM,data:vK5Xn8nT,iv:RuoxV+ol9,tag:hWCSGtbE==,type:str]",
	"job-${ID}",
	"$GPU_PER_NODE",
	"$N",
	"s3a://$BUCKET/x",
	"$REGISTRY/img:$TAG",
	"${REGISTRY}${IMAGE}:${TAG}",
	"${values}",
	"${trialParameters.learningRate}",
	"${trialSpec.Labels[custom-key]}",
	"--nodes=${NODES}",
	"${GPUS:-8}",
	"$HOME/data",
	"${_X}",
	"<BUCKET>",
	"<your-project-id>",
	"<CHANGE ME>",
	"<input your s3 endpoint>",
	"<account>.dkr.ecr.<region>.example",
	"network-job-<jobUID>",
	"region <BUCKET_REGION>",
	"<REGION>-docker.pkg.dev/$PROJECT/x",
	"s3://<bucket name>/<your path>",
	"<job-name>-<hash>",
	"prefix<NAME>",
	"{{inputs.parameters.x}}",
	"{{.Name}}",
	"{{ workflow.name }}",
	"job-{{item}}",
	"{{=sprig.int(x)}}",
	"{{- .x }}",
	"{{ if .TLS }}HTTPS{{ else }}HTTP{{ end }}",
	"PLACEHOLDER",
	"PLACEHOLDER_IMAGE",
	"https://PLACEHOLDER_ACCOUNT.x/",
	"IMAGE_PLACEHOLDER",
	"REPLACE_ME",
	"REPLACE_WITH_TOKEN",
	"CHANGE_ME",
	"CHANGEME",
	"changeme",
	"replace-me",
	"replaced-by-kustomize",
	"replace-with-image",
	"to-be-replaced",
	"your-node-name",
	"your-bucket-name",
	"YOUR_PROJECT",
	"gcr.io/YOUR_PROJECT/x",
	"FILLED BY THE OPERATOR",
	"FILLED_BY_OPERATOR",
	"TODO",
	"TODO: set the image",
	"FIXME",
	"xxx",
	"XXXXXXXX",
	"fs-xxxx",
	"arn:aws:iam::XXXXXXXXXXXX:role/r",
	"__PVC_NAME__",
	"/data/__NAME__/x",
	"@IMAGE@",
	"img:@TAG@",
	"tfjob-%ID%",
	"%IMAGE_NAME%:%TAG%",
	"run%JOB_NUMBER%a",
	"...",
	"\u2026",
	"($node_gpus)",
	"($values.gpus)",
};

static const char *const ordinary[] = {
	"..",
	"....",
	"%C3%A9",
	"x%2FAB%20c",
	"100%",
	"50%-60%",
	"%H%M%S",
	"%Y-%m-%d",
	"%%NAME%%",
	"%name%",
	"your",
	"your-name",
	"replaced",
	"for your-team",
	"your-registry.example.com/train:1",
	"./...",
	"wait...",
	"",
	"$",
	"$$",
	"$(POD_NAME)",
	"$(POD_NAME).$(NAMESPACE)",
	"$(hostname -I)",
	"$ref",
	"$request",
	"$patch",
	"$1",
	"${1}:9100",
	"${#list[@]}",
	"$$NAME",
	"$${NAME}",
	"\\$NAME",
	"pa$$word",
	"pa$W0rd",
	"US$5",
	"costs $5",
	"^[a-z]+$",
	"^(foo|bar)$",
	"(node_gpus)",
	"($node gpus)",
	"($)",
	"a ($node_gpus)",
	"a$",
	"${",
	"${A",
	"${}",
	"{}",
	"{{}}",
	"{{ $labels.gpu }}",
	"{{\"x\"}}",
	"{{a",
	"{\"a\":{\"b\":{}}}",
	"<",
	"<>",
	"a < b",
	"a<b",
	"a < b && c > d",
	"savings=<500",
	"x <- y",
	"1  <- the weight of this",
	"<=5",
	"vector<int>",
	"#include <stdio.h>",
	"<b>bold</b>",
	"</a>",
	"Foo <foo@example.com>",
	"<https://example.com>",
	"write to <file> and exit",
	"file:///data/models",
	"gs://bucket/x",
	"UPPER_CASE_WORD",
	"NCCL_DEBUG",
	"INFO",
	"IfNotPresent",
	"Replace",
	"replace",
	"placeholder",
	"MAX_PREFILL_TOKENS",
	"TODOS",
	"todo",
	"your-bucket",
	"filled",
	"PLACE",
	"xx",
	"xxl",
	"xXx",
	"maxxx",
	"__init__",
	"__name__",
	"a__B__",
	"__A__",
	"_",
	"@",
	"user@host",
	"img@sha256:0123",
	"@A@",
	"a@IMAGE@b",
	"nvidia.com/gpu",
	"8",
	"8Gi",
	"device.attributes['gpu'].memory.compareTo(quantity('40Gi')) >= 0",
};

static void placeholders_are_seen_in_texts(void **state)
{
	for (size_t i = 0; i < sizeof(placeholders) / sizeof(char *); i++)
		if (!placeholder_in(placeholders[i], strlen(placeholders[i])))
			fail_msg("not seen: %s", placeholders[i]);
	for (size_t i = 0; i < sizeof(ordinary) / sizeof(char *); i++)
		if (placeholder_in(ordinary[i], strlen(ordinary[i])))
			fail_msg("seen: %s", ordinary[i]);
}

/* A token truncated by the end of the text must not be read past it. */
static void cut_texts_are_read_to_their_end(void **state)
{
	for (size_t i = 0; i < sizeof(placeholders) / sizeof(char *); i++)
		for (size_t n = 0; n <= strlen(placeholders[i]); n++) {
			char *copy = malloc(n + !n);

			memcpy(copy, placeholders[i], n);
			placeholder_in(copy, n);
			free(copy);
		}
}

/* Openings without an end over a megabyte: must stay linear. */
static void long_texts_stay_linear(void **state)
{
	static const char *const units[] = {"${A", "{{a",  "<a ", "<A",
					    "@AB", "__AB", "</<a"};
	struct buf buf;

	buf_init(&buf);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		buf_reset(&buf);
		while (buf.len < 1 << 20)
			buf_adds(&buf, units[i]);
		assert_false(placeholder_in(buf.data, buf.len));
	}
	buf_release(&buf);
}

static struct node *put(struct arena *arena, struct node *parent,
			const char *key, const char *text)
{
	struct node *node = node_new(arena, NODE_STRING);

	node->str = text;
	node->len = (uint32_t)strlen(text);
	node->key = key;
	node->key_len = key ? (uint32_t)strlen(key) : 0;
	node_append(parent, node);
	return node;
}

static struct node *hold(struct arena *arena, struct node *parent,
			 const char *key, enum node_type type)
{
	struct node *node = put(arena, parent, key, "");

	node->type = (uint8_t)type;
	return node;
}

static void nodes_with_placeholders_are_marked(void **state)
{
	struct arena arena = ARENA_INIT;
	struct node *root = node_new(&arena, NODE_MAP), *args, *env, *entry;
	struct node *block, *alias, *name, *filled;
	struct doc doc = {.root = root};

	name = put(&arena, root, "name", "job-${ID}");
	put(&arena, root, "image", "nvidia/cuda");
	put(&arena, root, "long", "first $LINE\nsecond");
	args = hold(&arena, root, "args", NODE_SEQ);
	put(&arena, args, NULL, "--gpus=$GPUS");
	put(&arena, args, NULL, "$ALL");
	put(&arena, root, "command", "$RUN");
	entry = hold(&arena, root, "container", NODE_MAP);
	filled = put(&arena, entry, "command", "${RUN}");
	put(&arena, entry, "args", "python ${RUN}");
	env = hold(&arena, root, "env", NODE_SEQ);
	entry = hold(&arena, env, NULL, NODE_MAP);
	put(&arena, entry, "value", "/lib:$LD_LIBRARY_PATH");
	entry = hold(&arena, env, NULL, NODE_MAP);
	put(&arena, entry, "value", "${IFNAME}");
	block = put(&arena, root, "script", "echo ${A}\n");
	block->flags |= NODE_BLOCK;
	block = put(&arena, root, "folded", "${B}\n");
	block->flags |= NODE_BLOCK;
	alias = put(&arena, root, "again", "job-${ID}");
	alias->flags |= NODE_ALIASED;
	put(&arena, root, "${KEY}", "plain");
	put(&arena, root, "replicas", "$num_workers");
	entry = hold(&arena, env, NULL, NODE_MAP);
	put(&arena, entry, "value", "$hf_token");
	put(&arena, root, "tag", "v1-$tag");
	put(&arena, root, "price", "$5");
	put(&arena, root, "short", "$a");

	assert_int_equal(placeholder_mark(&doc), 6);
	assert_true(doc.placeholders);
	assert_true(node_is_unknown(filled));
	assert_true(node_is_unknown(name));
	assert_true(node_is_unknown(alias));
	assert_false(node_is_unknown(node_get(root, "image")));
	assert_false(node_is_unknown(node_get(root, "long")));
	assert_non_null(node_str(node_at(args, 0)));
	assert_non_null(node_str(node_at(args, 1)));
	assert_non_null(node_str(node_get(root, "command")));
	assert_non_null(node_str(node_get(node_at(env, 0), "value")));
	assert_true(node_is_unknown(node_get(node_at(env, 1), "value")));
	assert_false(node_is_unknown(node_get(root, "script")));
	assert_true(node_is_unknown(node_get(root, "folded")));
	assert_false(node_is_unknown(node_get(root, "${KEY}")));
	/* lower case counts only as the whole value */
	assert_true(node_is_unknown(node_get(root, "replicas")));
	assert_true(node_is_unknown(node_get(node_at(env, 2), "value")));
	assert_false(node_is_unknown(node_get(root, "tag")));
	assert_false(node_is_unknown(node_get(root, "price")));
	assert_false(node_is_unknown(node_get(root, "short")));
	arena_release(&arena);
}

static void capital_names_instead_of_numbers_are_placeholders(void **state)
{
	struct arena arena = ARENA_INIT;
	struct node *root = node_new(&arena, NODE_MAP), *limits, *env;
	struct doc doc = {.root = root};

	limits = hold(&arena, root, "limits", NODE_MAP);
	put(&arena, limits, "nvidia.com/gpu", "GPU_COUNT");
	put(&arena, limits, "memory", "MEM");
	put(&arena, limits, "cpu", "OK");
	put(&arena, limits, "ephemeral-storage", "1G");
	put(&arena, limits, "hugepages-2Mi", "Pages");
	put(&arena, root, "replicas", "WORKERS");
	env = hold(&arena, root, "env", NODE_MAP);
	put(&arena, env, "value", "GPU_COUNT");
	put(&arena, root, "mode", "FULL_ACCESS");

	assert_int_equal(placeholder_mark(&doc), 3);
	assert_true(node_is_unknown(node_get(limits, "nvidia.com/gpu")));
	assert_true(node_is_unknown(node_get(limits, "memory")));
	assert_true(node_is_unknown(node_get(root, "replicas")));
	assert_non_null(node_str(node_get(limits, "cpu")));
	assert_non_null(node_str(node_get(limits, "hugepages-2Mi")));
	assert_non_null(node_str(node_get(env, "value")));
	assert_non_null(node_str(node_get(root, "mode")));
	arena_release(&arena);
	(void)state;
}

static void nothing_to_mark(void **state)
{
	struct arena arena = ARENA_INIT;
	struct node *root = node_new(&arena, NODE_MAP), *number;
	struct doc doc = {.root = NULL};

	assert_int_equal(placeholder_mark(&doc), 0);
	doc.root = root;
	assert_int_equal(placeholder_mark(&doc), 0);
	number = put(&arena, root, "replicas", "8");
	number->type = NODE_INT;
	put(&arena, root, "name", "train");
	assert_int_equal(placeholder_mark(&doc), 0);
	assert_false(doc.placeholders);
	arena_release(&arena);
}

static const char *const templates[] = {
	"{{- if .Values.on }}\na: 1\n{{- end }}\n",
	"a: {{ .Values.a }}\n",
	"a: \"{{ .Values.a }}\"\n",
	"a: x-{{ $.Values.a | quote }}\n",
	"a: {{ include \"chart.name\" . }}\n",
	"a:\n  {{- toYaml .x | nindent 2 }}\n",
	"{{ if eq .a 1 }}\na: 1\n{{ end }}\n",
	"  {{range .items}}\n- a\n",
	"{{/* comment */}}\na: 1\n",
	"{{ define \"x\" }}\n",
	"name: {{ .Release.Name }}-x\n",
	"args: [\"--x={{ .Release.Name }}\"]\n",
	"a: {{ name }}\n",
	"- {{ name }}\n",
	"- name: {{.Name}}\n",
	"{% if gpu %}\na: 1\n{% endif %}\n",
	"a: {% if gpu %}1{% endif %}\n",
	"{# a comment #}\na: 1\n",
	"data:\n  x: |\n    a: {{ .Values.a }}\n",
	"data:\n  x: |\n    a\n{{- if .b }}\n    c\n{{- end }}\n",
	"a: |\n  text\nb: {{ c }}\n",
	"a: \"first\n  second\"\nb: {{ c }}\n",
	"a: 1\r\n{{- end }}\r\n",
};

static const char *const manifests[] = {
	"",
	"a: 1\n",
	"a: \"{{inputs.parameters.x}}\"\n",
	"a: '{{.Name}}'\n",
	"- --model={{.Name}}\n",
	"a: \"{{ workflow.name }}\"\n",
	"a: '{{ if .GlobalConfig.EnableTLS }}HTTPS{{else}}HTTP{{- end }}'\n",
	"- '{{ if .GlobalConfig.EnableTLS }}--secure{{- end }}'\n",
	"# {{ .Values.a }}\na: 1\n",
	"  # {{- if .x }}\na: 1\n",
	"args:\n- |\n  {{- if .Spec.x }}\n  {{ if .y }}--z{{ end }}\n",
	"args:\n  - |-\n    {{- if .Spec.x }}\n",
	"a: !!str |2-  # text\n   {{ if .y }}\nb: 1\n",
	"a: >+\n  {% for m in messages %}\n",
	"a: 'first\n  {{ if .x }}\n  it''s'\nb: 1\n",
	"a: \"first \\\"\n  k: {{x}}\"\n",
	"script: \"[ ${#list[@]} -gt 0 ]\"\n",
	"a: {b: {c: 1}}\n",
	"{\"a\": {\"b\": {}}}\n",
	"a: ${VAR}\n",
	"a: \"{% chat %}\"\n",
	"a: x {{ end }}\n",
};

static void templates_are_seen_in_files(void **state)
{
	for (size_t i = 0; i < sizeof(templates) / sizeof(char *); i++)
		if (!template_in(templates[i], strlen(templates[i])))
			fail_msg("no template: %s", templates[i]);
	for (size_t i = 0; i < sizeof(manifests) / sizeof(char *); i++)
		if (template_in(manifests[i], strlen(manifests[i])))
			fail_msg("template: %s", manifests[i]);
}

static void cut_files_are_read_to_their_end(void **state)
{
	for (size_t i = 0; i < sizeof(templates) / sizeof(char *); i++)
		for (size_t n = 0; n <= strlen(templates[i]); n++) {
			char *copy = malloc(n + !n);

			memcpy(copy, templates[i], n);
			template_in(copy, n);
			free(copy);
		}
}

static void read_whole(const char *path, struct buf *buf)
{
	FILE *file = fopen(path, "rb");
	char block[8192];
	size_t n;

	buf_reset(buf);
	assert_non_null(file);
	while ((n = fread(block, 1, sizeof(block), file)))
		buf_add(buf, block, n);
	fclose(file);
}

static void corpus_holds_no_template(void **state)
{
	const char *shared = getenv("GPUGATE_SHARED");
	char path[4096];
	char *roots[] = {path, NULL};
	unsigned files_read = 0;
	FTSENT *entry;
	struct buf buf;
	FTS *fts;

	snprintf(path, sizeof(path), "%s/corpus",
		 shared ? shared : "../shared");
	buf_init(&buf);
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while ((entry = fts_read(fts))) {
		if (entry->fts_info != FTS_F)
			continue;
		read_whole(entry->fts_path, &buf);
		if (template_in(buf.data, buf.len))
			fail_msg("template: %s", entry->fts_path);
		files_read++;
	}
	fts_close(fts);
	buf_release(&buf);
	if (!files_read) {
		puts("skip: no corpus, set GPUGATE_SHARED");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(placeholders_are_seen_in_texts),
		cmocka_unit_test(cut_texts_are_read_to_their_end),
		cmocka_unit_test(long_texts_stay_linear),
		cmocka_unit_test(nodes_with_placeholders_are_marked),
		cmocka_unit_test(
			capital_names_instead_of_numbers_are_placeholders),
		cmocka_unit_test(nothing_to_mark),
		cmocka_unit_test(templates_are_seen_in_files),
		cmocka_unit_test(cut_files_are_read_to_their_end),
		cmocka_unit_test(corpus_holds_no_template),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
