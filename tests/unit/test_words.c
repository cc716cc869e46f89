/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of commands: splitting as in a shell, unknown words, and flags with
 * their values.
 */
#include "kube/command/command.h"
#include "object_fixture.h"

/* Joins words with '|'; "?" for unknown words, "..=?" for unknown values. */
static void join_words(const struct argv *argv, struct buf *out)
{
	for (size_t i = 0; i < argv->n; i++) {
		const struct arg *arg = &argv->items[i];

		assert_non_null(arg->node);
		if (i)
			buf_addc(out, '|');
		buf_adds(out, arg->text ? arg->text : "?");
		if (arg->unknown)
			buf_addc(out, '?');
	}
	if (argv->unknown)
		buf_adds(out, " any");
}

static struct argv read_argv(struct fixture *fixture, const char *fields)
{
	char *yaml = arena_printf(&fixture->arena,
				  "apiVersion: v1\nkind: Pod\nspec:\n"
				  "  containers:\n  - image: i\n%s",
				  fields);
	const struct pod *pod = fixture_pod(fixture, yaml);

	assert_int_equal(pod->ncontainers, 1);
	return container_argv(&pod->containers[0]);
}

static void commands_are_split_into_words(void **state)
{
	static const struct {
		const char *fields, *argv;
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
		/* In a nested shell, the words of its command follow. */
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
		/* Without a shell, the command is not split; a shell without -c
		 * runs a file. */
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
		struct argv argv = read_argv(&fixture, rows[i].fields);
		struct buf out;

		buf_init(&out);
		join_words(&argv, &out);
		assert_string_equal(out.data, rows[i].argv);
		buf_release(&out);
		fixture_release(&fixture);
	}
}

static void unknown_words_stay_unknown(void **state)
{
	static const struct {
		const char *fields, *argv;
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
		struct argv argv = read_argv(&fixture, rows[i].fields);
		struct buf out;

		buf_init(&out);
		join_words(&argv, &out);
		if (strcmp(out.data, rows[i].argv))
			print_error("row %zu\n", i);
		assert_string_equal(out.data, rows[i].argv);
		buf_release(&out);
		fixture_release(&fixture);
	}
}

static void flags_have_their_values(void **state)
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
		{"--last", NULL, true}, /* has no value, as a flag follows */
		{"--off", "-1", true},
		{"--twice", "2", true},
		{"--x", "", true},
		/* A flag that is absent, a switch, part of another name, or has
		 * other dashes. */
		{"--node", NULL, false},
		{"--tp", NULL, false},
		{"-tensor-parallel-size", NULL, false},
		{"serve", NULL, false},
	};
	struct fixture fixture = {0};
	struct argv argv = read_argv(&fixture, fields);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct arg *found = NULL;
		const char *value = argv_flag(&argv, rows[i].flag, &found);

		if (!!found != rows[i].found)
			print_error("flag %s\n", rows[i].flag);
		assert_int_equal(!!found, rows[i].found);
		if (rows[i].value)
			assert_string_equal(value, rows[i].value);
		else
			assert_null(value);
	}
	assert_null(argv_flag(&argv, "--nodes", NULL));
	fixture_release(&fixture);
}

static void words_are_found_by_their_last_part(void **state)
{
	struct fixture fixture = {0};
	struct argv argv = read_argv(
		&fixture, "    command: [/opt/conda/bin/torchrun, "
			  "--trust_remote_code, --n=$(X), train.py]\n");

	assert_true(argv_have(&argv, "torchrun"));
	assert_true(argv_have(&argv, "/opt/conda/bin/torchrun"));
	assert_true(argv_have(&argv, "--trust-remote-code"));
	assert_true(argv_have(&argv, "--n"));
	assert_true(argv_have(&argv, "train.py"));
	assert_false(argv_have(&argv, "torch"));
	assert_false(argv_have(&argv, "bin/torchrun"));
	assert_false(argv_have(&argv, "trust-remote"));
	assert_false(argv_have(&argv, "--trust"));
	assert_false(argv_have(&argv, "train"));
	fixture_release(&fixture);
}

/* The source of an Argo script belongs to its command, if that is a shell. */
static void the_source_of_a_script_is_its_command(void **state)
{
	static const char head[] =
		"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec:\n"
		"  templates:\n  - name: t\n    script:\n      image: i\n";
	struct fixture fixture = {0};
	const struct pod *pod;
	struct argv argv;

	pod = fixture_pod(&fixture,
			  arena_printf(&fixture.arena,
				       "%s      command: [bash]\n"
				       "      source: |\n        run --a 1\n",
				       head));
	argv = container_argv(&pod->containers[0]);
	assert_string_equal(argv_flag(&argv, "--a", NULL), "1");
	fixture_release(&fixture);
	pod = fixture_pod(&fixture,
			  arena_printf(&fixture.arena,
				       "%s      command: [python]\n"
				       "      source: |\n        run --a 1\n",
				       head));
	argv = container_argv(&pod->containers[0]);
	assert_int_equal(argv.n, 1);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_split_into_words),
		cmocka_unit_test(unknown_words_stay_unknown),
		cmocka_unit_test(flags_have_their_values),
		cmocka_unit_test(words_are_found_by_their_last_part),
		cmocka_unit_test(the_source_of_a_script_is_its_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
