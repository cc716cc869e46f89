/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpugated: the table of commands, their help, the manual page and shell
 * completion. Runs the command that the first argument names, or serves if the
 * first argument is missing or an option.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "cli/options.h"
#include "commands.h"

/*
 * Memory for libcrypto. libcrypto 3 handles a failed allocation, except that of
 * a lock, which it uses without a check. If memory runs out, locks are
 * therefore taken from a reserve that suffices for many connections.
 * Interrupting libcrypto's functions by escape.h is not possible, because they
 * may hold other locks.
 */

enum { LOCKS = 1024 };

static struct reserved {
	_Alignas(max_align_t) char memory[sizeof(pthread_rwlock_t)];
	atomic_flag taken;
} reserve[LOCKS];

static struct reserved *reserved_at(const void *memory)
{
	uintptr_t at = (uintptr_t)memory, first = (uintptr_t)reserve;

	return at >= first && at < first + sizeof(reserve)
		       ? &reserve[(at - first) / sizeof(*reserve)]
		       : NULL;
}

static void *take_reserved(size_t size)
{
	for (int i = 0; size <= sizeof(reserve->memory) && i < LOCKS; i++)
		if (!atomic_flag_test_and_set(&reserve[i].taken))
			return reserve[i].memory;
	BUG("out of memory for a lock of libcrypto");
}

static void *allocate(size_t size, const char *file, int line)
{
	void *memory = malloc(size);

	if (!memory && size && file && text_ends(file, "threads_pthread.c"))
		memory = take_reserved(size);
	return memory;
}

/* Resizes memory. Locks are never resized. */
static void *retake(void *memory, size_t size, const char *file, int line)
{
	return realloc(memory, size);
}

static void give_back(void *memory, const char *file, int line)
{
	struct reserved *lock = reserved_at(memory);

	if (lock)
		atomic_flag_clear(&lock->taken);
	else
		free(memory);
}

/* Installs the functions. Must be called before other functions use
 * libcrypto. */
static void crypto_memory_use(void)
{
	CRYPTO_set_mem_functions(allocate, retake, give_back);
}

/* --- completion and the manual page --------------------------------------- */

enum { CERTS = 1, ARGUMENT = 1 << 8 };

static const struct complete_command completed[] = {
	{"certs", "", "issue a CA and a serving certificate", CERTS,
	 &certs_options},
	{"selftest", "", "send reviews to a test server, or to a running one",
	 OPTION_SELFTEST, NULL},
	{"completion", "bash|zsh|fish", "print a shell completion script",
	 ARGUMENT, NULL},
	{"version", "", "print the version", 0, NULL},
	{"help", "", "print help", 0, NULL},
};

/* Returns 0, or 2 after a message for an unknown shell. */
static int shell_script(const char *shell, struct buf *out)
{
	static const struct complete_words words[] = {
		{"bash|zsh|fish", "bash zsh fish"},
		{0},
	};
	static const struct complete_set set = {
		.names = "gpugated",
		.options = &option_set,
		.commands = completed,
		.n = ARRAY_SIZE(completed),
		.without = OPTION_SERVE,
		.words = words,
	};

	if (complete_script(&set, shell, out))
		return 0;
	fputs("gpugated: completion needs a shell: bash, zsh or fish\n",
	      stderr);
	return 2;
}

/* Writes gpugated(8) as roff. */
static void shell_manpage(struct buf *out)
{
	const struct roff_page page = {"GPUGATED", "8", "gpugated",
				       "admission webhook for GPU workloads",
				       program_version};

	roff_header(out, &page);
	buf_adds(out,
		 ".SH SYNOPSIS\n"
		 ".B gpugated\n\\-\\-tls\\-cert FILE \\-\\-tls\\-key FILE "
		 "[OPTIONS]\n.br\n"
		 ".B gpugated certs\n\\-\\-dir DIR \\-\\-dns NAME...\n.br\n"
		 ".B gpugated selftest\n[OPTIONS]\n.br\n"
		 ".B gpugated completion\nbash|zsh|fish\n"
		 ".SH DESCRIPTION\n");
	roff_line(
		out,
		"Validates and patches GPU workloads on behalf of a Kubernetes API server: serves POST /mutate and /validate (admission.k8s.io/v1) over TLS, and /healthz, /readyz and /metrics over plain HTTP. The rules and the policy are those of gpugate.\n\n"
		"SIGTERM drains connections and exits with status 0; a second SIGTERM exits at once. SIGHUP reloads the policy, the certificate and the client CA.");
	buf_adds(out, ".SH OPTIONS\n");
	roff_options(out, &option_set, OPTION_SERVE);
	buf_adds(out, ".SH CERTS\n");
	roff_line(out, "Issues a CA and a serving certificate (ECDSA P-256).");
	roff_options(out, &certs_options, CERTS);
	buf_adds(out, ".SH SELFTEST\n");
	roff_line(
		out,
		"Starts a separate server on the loopback address, with new "
		"certificates and the preset recommended, and checks that it "
		"denies a bad Pod and allows a good one. With --address, it tests the server there and accepts any verdict, because the policy of that server is unknown.");
	roff_options(out, &option_set, OPTION_SELFTEST);
	buf_adds(out,
		 ".SH EXIT STATUS\n"
		 ".TP\n0\nthe service was ended by a signal, or the command "
		 "succeeded\n"
		 ".TP\n1\nthe self-test failed\n"
		 ".TP\n2\nwrong usage, a command that failed, or a service "
		 "that cannot start, for example because the policy is "
		 "invalid\n"
		 ".TP\n70\na defect of gpugated, or lack of memory; "
		 "the last line of the log gives the place\n"
		 ".SH SEE ALSO\n"
		 ".BR gpugate (1),\n.BR gpugate\\-policy (5)\n");
}

/* One command; argv[0] is the name of the command, or of the program. */
struct gpugated_command {
	const char *name, *arguments;
	int (*run)(int argc, char **argv);
};

static int certs(int argc, char **argv)
{
	return certs_command(argv, stdout, stderr);
}

static int print(struct buf *out)
{
	int failed = fwrite(out->data, 1, out->len, stdout) < out->len;

	buf_release(out);
	if (!fflush(stdout) && !failed)
		return 0;
	perror("gpugated: standard output");
	return 2;
}

static int version(int argc, char **argv)
{
	struct buf out;

	buf_init(&out);
	buf_addf(&out, "gpugated %s\n", program_build);
	return print(&out);
}

static int completion(int argc, char **argv)
{
	struct buf out;
	int rc;

	buf_init(&out);
	rc = shell_script(argc == 2 ? argv[1] : NULL, &out);
	return rc ? rc : print(&out);
}

static int manpage(void)
{
	struct buf out;

	buf_init(&out);
	shell_manpage(&out);
	return print(&out);
}

static int selftest_command(int argc, char **argv);
static int help(int argc, char **argv);

static const struct gpugated_command commands[] = {
	{"certs", "--dir DIR --dns NAME...", certs},
	{"selftest", "[OPTIONS]", selftest_command},
	{"completion", "bash|zsh|fish", completion},
	{"version", "", version},
	{"help", "[COMMAND]", help},
};

enum { COMMANDS = ARRAY_SIZE(commands) };

static const struct gpugated_command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int unknown_command(const char *word)
{
	const char *names[COMMANDS], *near;

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	near = text_nearest(word, names, COMMANDS);
	fprintf(stderr, "gpugated: unknown command `%s`", word);
	if (near)
		fprintf(stderr, "; did you mean `%s`?", near);
	fputs("\ntry: gpugated help\n", stderr);
	return 2;
}

/* --- help ----------------------------------------------------------------- */

static int help_serve(void)
{
	struct buf out;

	buf_init(&out);
	buf_adds(&out,
		 "gpugated validates and patches GPU workloads on behalf of a "
		 "Kubernetes API\n"
		 "server.\n\n"
		 "Usage: gpugated --tls-cert FILE --tls-key FILE [OPTIONS]\n");
	for (size_t i = 0; i < COMMANDS; i++)
		buf_addf(&out, "       gpugated %s%s%s\n", commands[i].name,
			 *commands[i].arguments ? " " : "",
			 commands[i].arguments);
	buf_adds(&out,
		 "\nSIGTERM drains connections and exits with status 0; a "
		 "second SIGTERM exits at\nonce. SIGHUP reloads the policy, "
		 "the certificate and the client CA. The exit\nstatus is 2 on "
		 "wrong usage, or if the service cannot start, for example "
		 "because\nof an invalid policy.\n\nOptions (each can also be "
		 "set in the environment, for example --tls-cert "
		 "as\nGPUGATED_TLS_CERT):\n");
	options_print(&option_set, OPTION_SERVE, &out);
	return print(&out);
}

static int help_selftest(void)
{
	struct buf out;

	buf_init(&out);
	buf_adds(
		&out,
		"Usage: gpugated selftest [OPTIONS]\n\n"
		"Starts a separate server on the loopback address, with new "
		"certificates and\n"
		"the preset `recommended`, and checks that it denies a bad Pod "
		"and allows a good\n"
		"one. With --address, it tests the server there and accepts "
		"any verdict, because\n"
		"the policy of that server is unknown. Exits with status 0 "
		"or 1, and with 2\n"
		"on wrong usage.\n\n"
		"Options:\n");
	options_print(&option_set, OPTION_SELFTEST, &out);
	return print(&out);
}

static int help(int argc, char **argv)
{
	static char ask[] = "--help";
	const struct gpugated_command *command;
	char *words[3] = {NULL, ask, NULL};
	struct buf out;

	if (argc < 2)
		return help_serve();
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	if (command->run == version || command->run == completion ||
	    command->run == help) {
		buf_init(&out);
		buf_addf(&out, "Usage: gpugated %s %s\n", command->name,
			 command->arguments);
		return print(&out);
	}
	words[0] = argv[1];
	return command->run(2, words);
}

/* --- options -------------------------------------------------------------- */

static int with_options(enum option_command command, char **argv,
			int (*run)(const struct serve_options *options),
			int (*print_help)(void))
{
	struct serve_options options = {0};
	int rc = serve_options_parse(&options, command, argv, stderr);

	if (!rc)
		rc = options.help ? print_help() : run(&options);
	serve_options_release(&options);
	return rc;
}

static int selftest_command(int argc, char **argv)
{
	return with_options(OPTION_SELFTEST, argv + 1, selftest, help_selftest);
}

int main(int argc, char **argv)
{
	const struct gpugated_command *command;

	crypto_memory_use();
	if (argc > 1 && !strcmp(argv[1], "--version"))
		return version(argc, argv);
	if (argc < 2 || *argv[1] == '-')
		return with_options(OPTION_SERVE, argv + 1, serve, help_serve);
	if (!strcmp(argv[1], "manpage"))
		return manpage();
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return command->run(argc - 1, argv + 1);
}
