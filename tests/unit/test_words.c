/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of commands: what a shell would split, what stays unknown, and flags
 * with their values.
 */
#include "object_fixture.h"

/* Words joined with '|'; "?" for unknown ones, "..=?" for unknown values. */
static void join_words(const struct words *words, struct buf *out)
{
	for (size_t i = 0; i < words->n; i++) {
		const struct word *word = &words->items[i];

		assert_non_null(word->node);
		if (i)
			buf_addc(out, '|');
		buf_adds(out, word->text ? word->text : "?");
		if (word->unknown)
			buf_addc(out, '?');
	}
	if (words->unknown)
		buf_adds(out, " any");
}

static struct words read_words(struct fixture *fixture, const char *fields)
{
	char *yaml = arena_printf(&fixture->arena,
				  "apiVersion: v1\nkind: Pod\nspec:\n"
				  "  containers:\n  - image: i\n%s",
				  fields);
	const struct pod *pod = fixture_pod(fixture, yaml);

	assert_int_equal(pod->ncontainers, 1);
	return container_words(&fixture->arena, &pod->containers[0]);
}

static void test_split(void **state)
{
	static const struct {
		const char *fields, *words;
	} rows[] = {
		{"", ""},
		{"    command: [torchrun, --nnodes=2, train.py]\n",
		 "torchrun|--nnodes=2|train.py"},
		{"    command: [python]\n    args: [-m, a b]\n",
		 "python|-m|a b"},
		{"    args: [--n, 4, true]\n", "--n|4|true"},
		{"    command: [sh, -c]\n    args: ['a b && c; d|e & f']\n",
		 "sh|-c|a|b|c|d|e|f"},
		{"    command: [/bin/bash, -lc, 'a \"b c\" ''d ''e']\n",
		 "/bin/bash|-lc|a|b c|d e"},
		{"    command: [bash, -euxo, pipefail, -c, 'a b']\n",
		 "bash|-euxo|pipefail|-c|a|b"},
		/* A shell within: its words come behind. */
		{"    command: [sh, -c, \"bash -c 'a b' c\"]\n",
		 "sh|-c|bash|-c|a b|c|a|b"},
		{"    command: [sh, -c, \"bash -c a c\"]\n",
		 "sh|-c|bash|-c|a|c"},
		{"    command: [sh, -c, \"echo -c 'a b'\"]\n",
		 "sh|-c|echo|-c|a b"},
		{"    command: [bash, -c, --]\n    args: ['a b']\n",
		 "bash|-c|--|a|b"},
		{"    command: [env, A=1, sh, -c, 'x y', 'z z']\n",
		 "env|A=1|sh|-c|x|y|z z"},
		{"    command: [sh, -c]\n    args:\n    - |\n"
		 "      # comment\n      a \\\n        --b 1\n      c#d\n",
		 "sh|-c|a|--b|1|c#d"},
		{"    command: [sh, -c]\n    args:\n    - |\n"
		 "      cat <<EOF > f\n      it's a 'text\n      EOF\n"
		 "      run --x=1\n",
		 "sh|-c|cat|f|run|--x=1"},
		/* No shell, no splitting; a shell without -c runs a file. */
		{"    command: [python, -c, 'import a; b']\n",
		 "python|-c|import a; b"},
		{"    command: [bash, run me.sh]\n", "bash|run me.sh"},
		{"    command: [sh, -c, 'a \"unclosed b']\n",
		 "sh|-c|a|unclosed b"},
		{"    command: [sh, -c, 'a \\']\n", "sh|-c|a"},
		{"    command: [sh, -c, '']\n", "sh|-c"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		struct words words = read_words(&fixture, rows[i].fields);
		struct buf out;

		buf_init(&out);
		join_words(&words, &out);
		assert_string_equal(out.data, rows[i].words);
		buf_release(&out);
		fixture_release(&fixture);
	}
}

static void test_unknown(void **state)
{
	static const struct {
		const char *fields, *words;
	} rows[] = {
		{"    args: [--a=$(N), $(N), --b, $(N)]\n",
		 "--a=?|?|--b|? any"},
		{"    args: [--b, $(N)]\n", "--b|?"},
		{"    args: ['${X}', a]\n", "?|a any"},
		{"    args: ['--x={{inputs.parameters.y}}']\n", "--x=?"},
		{"    command: [sh, -c, 'run --n=$N --m ${M} \"$X\" $@']\n",
		 "sh|-c|run|--n=?|--m|?|?|? any"},
		{"    command: [sh, -c, 'run $(nproc --all) `x y` z']\n",
		 "sh|-c|run|?|?|z any"},
		{"    command: [sh, -c, 'run --p $((1 + 2)) --q 2']\n",
		 "sh|-c|run|--p|?|--q|2"},
		{"    command: [sh, -c, 'A=$B run a$C $5 $']\n",
		 "sh|-c|A=?|run|?|?|$ any"},
		{"    command: [sh, -c, 'run ''$N'' {{x}}/y']\n",
		 "sh|-c|run|?|? any"},
		{"    command: [sh, -c, \"run 'a$n' '$N'\"]\n",
		 "sh|-c|run|a$n|?"},
		{"    command: [sh, -c, 'run --m <MODEL> --n=<N> __NAME__ <in']\n",
		 "sh|-c|run|--m|?|--n=?|?|in"},
		{"    args: '${ARGS}'\n", " any"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		struct words words = read_words(&fixture, rows[i].fields);
		struct buf out;

		buf_init(&out);
		join_words(&words, &out);
		if (strcmp(out.data, rows[i].words))
			print_error("row %zu\n", i);
		assert_string_equal(out.data, rows[i].words);
		buf_release(&out);
		fixture_release(&fixture);
	}
}

static void test_flags(void **state)
{
	static const char fields[] =
		"    command: [sh, -c]\n    args:\n    - |\n"
		"      vllm serve m --tensor_parallel_size 4 -tp=2 \\\n"
		"        --gpu-util=0.9 --nodes $N --last --trust-remote-code\\\n"
		"        --off -1 --twice=1 --twice 2 --x= /bin/torchrun\n";
	static const struct {
		const char *flag, *value;
		bool found;
	} rows[] = {
		{"--tensor-parallel-size", "4", true},
		{"--tensor_parallel_size", "4", true},
		{"tensor-parallel-size", "4", true},
		{"-tp", "2", true},
		{"tp", "2", true},
		{"--gpu-util", "0.9", true},
		{"--nodes", NULL, true},
		{"--off", "-1", true},
		{"--twice", "2", true},
		{"--x", "", true},
		/* Absent, a switch, part of a name, other dashes. */
		{"--node", NULL, false},
		{"--last", NULL, false},
		{"--tp", NULL, false},
		{"-tensor-parallel-size", NULL, false},
		{"serve", NULL, false},
	};
	struct fixture fixture = {0};
	struct words words = read_words(&fixture, fields);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct word *found = NULL;
		const char *value = words_flag(&words, rows[i].flag, &found);

		if (!!found != rows[i].found)
			print_error("flag %s\n", rows[i].flag);
		assert_int_equal(!!found, rows[i].found);
		if (rows[i].value)
			assert_string_equal(value, rows[i].value);
		else
			assert_null(value);
	}
	assert_null(words_flag(&words, "--nodes", NULL));
	fixture_release(&fixture);
}

static void test_have(void **state)
{
	struct fixture fixture = {0};
	struct words words = read_words(
		&fixture, "    command: [/opt/conda/bin/torchrun, "
			  "--trust_remote_code, --n=$(X), train.py]\n");

	assert_true(words_have(&words, "torchrun"));
	assert_true(words_have(&words, "/opt/conda/bin/torchrun"));
	assert_true(words_have(&words, "--trust-remote-code"));
	assert_true(words_have(&words, "--n"));
	assert_true(words_have(&words, "train.py"));
	assert_false(words_have(&words, "torch"));
	assert_false(words_have(&words, "bin/torchrun"));
	assert_false(words_have(&words, "trust-remote"));
	assert_false(words_have(&words, "--trust"));
	assert_false(words_have(&words, "train"));
	fixture_release(&fixture);
}

/* The source of an Argo script is its command's, when that is a shell. */
static void test_script(void **state)
{
	static const char head[] =
		"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec:\n"
		"  templates:\n  - name: t\n    script:\n      image: i\n";
	struct fixture fixture = {0};
	const struct pod *pod;
	struct words words;

	pod = fixture_pod(&fixture,
			  arena_printf(&fixture.arena,
				       "%s      command: [bash]\n"
				       "      source: |\n        run --a 1\n",
				       head));
	words = container_words(&fixture.arena, &pod->containers[0]);
	assert_string_equal(words_flag(&words, "--a", NULL), "1");
	fixture_release(&fixture);
	pod = fixture_pod(&fixture,
			  arena_printf(&fixture.arena,
				       "%s      command: [python]\n"
				       "      source: |\n        run --a 1\n",
				       head));
	words = container_words(&fixture.arena, &pod->containers[0]);
	assert_int_equal(words.n, 1);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),  cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_flags),  cmocka_unit_test(test_have),
		cmocka_unit_test(test_script),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
