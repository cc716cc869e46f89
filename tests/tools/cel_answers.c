/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates each line of standard input and prints the result in the format of
 * the oracle's `cel` command (tests/oracle/cel.go). A line is {"expr": "x + 1",
 * "vars": {"x": {"type": "int", "expr": "2"}}}. A variable may also be given as
 * JSON, {"type": "dyn", "json": {}}, in which texts may be placeholders, or as
 * unknown, {"unknown": true}. With "fragment": true, the JSON is only part of a
 * larger value. With an argument N, each expression is evaluated N times, and
 * the answer is the CPU time of one evaluation in nanoseconds. Answers: `refuse
 * TEXT`, `error COST TEXT`, `unknown COST`, `ok COST VALUE`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "cel/cel.h"
#include "doc/load.h"

enum { VARIABLES = 64 };

struct answer {
	struct arena arena;
	struct arena scratch; /* memory of one evaluation, freed after it */
	long times;
	struct buf out;
	struct cel_variable variables[VARIABLES + 1];
	struct cel_value values[VARIABLES];
};

static void value_text(struct answer *answer, struct cel_value value,
		       struct buf *out);

static void quoted(struct cel_text text, struct buf *out)
{
	buf_addc(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		unsigned char b = (unsigned char)text.data[i];

		if (b < ' ' || b > '~' || b == '"' || b == '\\')
			buf_addf(out, "\\x%02x", b);
		else
			buf_addc(out, (char)b);
	}
	buf_addc(out, '"');
}

static void list_text(struct answer *answer, struct cel_value list,
		      struct buf *out)
{
	size_t n = cel_size(list);

	buf_addc(out, '[');
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, i ? ", " : "");
		value_text(answer, cel_list_at(&answer->arena, list, i), out);
	}
	buf_addc(out, ']');
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void map_text(struct answer *answer, struct cel_value map,
		     struct buf *out)
{
	size_t n = cel_size(map);
	char **texts = ARENA_ARRAY(&answer->arena, char *, n + 1);

	for (size_t i = 0; i < n; i++) {
		struct cel_entry entry = cel_map_at(&answer->arena, map, i);
		struct buf text;

		buf_init(&text);
		value_text(answer, entry.key, &text);
		buf_adds(&text, ": ");
		value_text(answer, entry.value, &text);
		texts[i] = arena_strdup(&answer->arena, text.data);
		buf_release(&text);
	}
	qsort(texts, n, sizeof(*texts), by_text);
	buf_addc(out, '{');
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%s", i ? ", " : "", texts[i]);
	buf_addc(out, '}');
}

static void double_text(double d, struct buf *out)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	if (isnan(d))
		buf_adds(out, "d:nan");
	else
		buf_addf(out, "d:%016" PRIx64, bits);
}

static void time_text(struct cel_value v, struct buf *out)
{
	__extension__ __int128 nanos =
		(__int128)v.time.seconds * 1000000000 + v.time.nanos;

	if (v.kind == CEL_TIMESTAMP)
		buf_addf(out, "t:%" PRId64 ".%09" PRId32, v.time.seconds,
			 v.time.nanos);
	else
		buf_addf(out, "n:%" PRId64, (int64_t)nanos);
}

static void optional_text(struct answer *answer, struct cel_value v,
			  struct buf *out)
{
	if (!v.optional) {
		buf_adds(out, "none");
		return;
	}
	buf_adds(out, "some(");
	value_text(answer, *v.optional, out);
	buf_addc(out, ')');
}

static void scalar_text(struct cel_value v, struct buf *out)
{
	switch (v.kind) {
	case CEL_NULL:
		buf_adds(out, "null");
		break;
	case CEL_BOOL:
		buf_adds(out, v.boolean ? "true" : "false");
		break;
	case CEL_INT:
		buf_addf(out, "%" PRId64, v.integer);
		break;
	case CEL_UINT:
		buf_addf(out, "%" PRIu64 "u", v.uinteger);
		break;
	case CEL_DOUBLE:
		double_text(v.real, out);
		break;
	default:
		BUG("kind %d is no scalar", (int)v.kind);
	}
}

static void value_text(struct answer *answer, struct cel_value v,
		       struct buf *out)
{
	switch (v.kind) {
	case CEL_BYTES:
		buf_addc(out, 'b');
		quoted(v.text, out);
		break;
	case CEL_STRING:
		quoted(v.text, out);
		break;
	case CEL_LIST:
		list_text(answer, v, out);
		break;
	case CEL_MAP:
	case CEL_OBJECT:
		map_text(answer, v, out);
		break;
	case CEL_TIMESTAMP:
	case CEL_DURATION:
		time_text(v, out);
		break;
	case CEL_UNKNOWN: /* an element of a list */
		buf_adds(out, "<unknown>");
		break;
	case CEL_TYPE:
		buf_addf(out, "type(%s)", cel_type_name(v.type));
		break;
	case CEL_OPTIONAL:
		optional_text(answer, v, out);
		break;
	case CEL_OPAQUE:
		buf_addf(out, "opaque(%s)", cel_type_name(cel_type_of(v)));
		break;
	default:
		scalar_text(v, out);
	}
}

static struct cel_value read_variable(struct cel_eval *eval, void *context,
				      unsigned index)
{
	struct answer *answer = context;

	return answer->values[index];
}

static const struct cel_program *compile(struct answer *answer,
					 const struct cel_variable *variables,
					 const struct node *text,
					 struct cel_issues *issues)
{
	issues->arena = &answer->arena;
	return cel_compile(&answer->arena,
			   cel_env_new(&answer->arena, variables), text->str,
			   text->len, issues);
}

/* Evaluates the program. given: the input line, or NULL. */
static struct cel_value run(struct answer *answer,
			    const struct cel_program *program,
			    const struct node *given, struct cel_eval *eval)
{
	int64_t budget = CEL_EXPRESSION_BUDGET;
	struct cel_eval_options options = {
		.variable = read_variable,
		.context = answer,
		.fragment = node_get(given, "fragment") != NULL,
	};

	node_int(node_get(given, "budget"), &budget);
	options.budget = (uint64_t)budget;
	cel_eval_init(eval, program, &answer->arena, &options);
	return cel_eval_run(eval);
}

static bool read_value(struct answer *answer, const struct node *given,
		       struct cel_value *out)
{
	static const struct cel_variable none[] = {{0}};
	const struct node *json = node_get(given, "json");
	struct cel_issues issues = {0};
	const struct cel_program *program;
	struct cel_eval eval;

	if (node_get(given, "unknown")) {
		*out = cel_unknown(NULL);
		return true;
	}
	if (json) {
		*out = cel_from_node(&answer->arena, json, NULL);
		return true;
	}
	program = compile(answer, none, node_get(given, "expr"), &issues);
	if (!program)
		return false;
	*out = run(answer, program, NULL, &eval);
	return true;
}

static bool read_variables(struct answer *answer, const struct node *vars)
{
	size_t n = 0;

	FOR_EACH_CHILD(vars, var) {
		const char *type = node_str(node_get(var, "type"));

		if (n == VARIABLES || !type ||
		    !read_value(answer, var, &answer->values[n]))
			return false;
		answer->variables[n].name = var->key;
		answer->variables[n].type =
			cel_type_parse(&answer->arena, &type);
		n++;
	}
	memset(&answer->variables[n], 0, sizeof(answer->variables[n]));
	return true;
}

static void measure(struct answer *answer, const struct cel_program *program)
{
	struct cel_eval_options options = {.variable = read_variable,
					   .context = answer,
					   .budget = CEL_EXPRESSION_BUDGET};
	clock_t start = clock();
	struct cel_eval eval;

	for (long i = 0; i < answer->times; i++) {
		cel_eval_init(&eval, program, &answer->scratch, &options);
		cel_eval_run(&eval);
		arena_reset(&answer->scratch);
	}
	buf_addf(&answer->out, "%.0f",
		 (double)(clock() - start) * 1e9 / CLOCKS_PER_SEC /
			 (double)answer->times);
}

static void decide(struct answer *answer, const struct node *root)
{
	struct cel_issues issues = {0};
	const struct cel_program *program;
	struct cel_value value;
	struct cel_eval eval;

	if (!read_variables(answer, node_get(root, "vars"))) {
		buf_adds(&answer->out, "bad variable");
		return;
	}
	program = compile(answer, answer->variables, node_get(root, "expr"),
			  &issues);
	if (!program) {
		buf_addf(&answer->out, "refuse %s",
			 issues.n ? issues.items[0].text : "(no issue)");
		return;
	}
	if (answer->times) {
		measure(answer, program);
		return;
	}
	value = run(answer, program, root, &eval);
	if (value.kind == CEL_ERROR) {
		buf_addf(&answer->out, "error %" PRIu64 " ", eval.cost);
		buf_add(&answer->out, value.text.data, value.text.len);
	} else if (value.kind == CEL_UNKNOWN) {
		buf_addf(&answer->out, "unknown %" PRIu64, eval.cost);
	} else {
		buf_addf(&answer->out, "ok %" PRIu64 " ", eval.cost);
		value_text(answer, value, &answer->out);
	}
}

static void answer_line(struct answer *answer, char *line, size_t len)
{
	struct source source;
	struct loader loader;
	uint32_t used;
	const struct node *root;
	struct doc doc;

	source_init(&source, &answer->arena, "-", line, len);
	loader_init(&loader, &source, &load_limits_default, &answer->arena);
	root = json_read(&loader, 0, (uint32_t)len, &used);
	doc = (struct doc){.source = &source, .root = root, .json = true};
	if (strstr(line, "{{"))
		placeholder_mark(&doc);
	buf_reset(&answer->out);
	if (root)
		decide(answer, root);
	else
		buf_adds(&answer->out, "bad line");
	for (char *c = answer->out.data; *c; c++) {
		if (*c == '\n')
			fputs("\\n", stdout);
		else
			putchar(*c);
	}
	putchar('\n');
	arena_reset(&answer->arena);
}

int main(int argc, char **argv)
{
	static struct answer answer;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (argc > 1)
		answer.times = strtol(argv[1], NULL, 10);
	buf_init(&answer.out);
	while ((len = getline(&line, &size, stdin)) >= 0)
		answer_line(&answer, line, (size_t)len);
	free(line);
	buf_release(&answer.out);
	arena_release(&answer.scratch);
	arena_release(&answer.arena);
	return 0;
}
