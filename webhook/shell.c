/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manual page gpugated(8) and shell completion, from the table of options.
 */
#include "shell.h"

#include <stdio.h>

#include "base/array.h"
#include "certs_command.h"
#include "cli/complete.h"
#include "cli/roff.h"
#include "options.h"
#include "serve.h"

enum { CERTS = 1, ARGUMENT = 1 << 8 };

static const struct complete_command commands[] = {
	{"certs", "", "issue a CA and a serving certificate", CERTS,
	 &certs_options},
	{"selftest", "", "ask a server over TLS, and check its answer",
	 OPTION_SELFTEST, NULL},
	{"completion", "bash|zsh|fish", "print a shell completion script",
	 ARGUMENT, NULL},
	{"version", "", "print the version", 0, NULL},
	{"help", "", "print help", 0, NULL},
};

int shell_script(const char *shell, struct buf *out)
{
	static const struct complete_words words[] = {
		{"bash|zsh|fish", "bash zsh fish"},
		{0},
	};
	static const struct complete_set set = {
		.names = "gpugated",
		.options = &option_set,
		.commands = commands,
		.n = ARRAY_SIZE(commands),
		.without = OPTION_SERVE,
		.words = words,
	};

	if (complete_script(&set, shell, out))
		return 0;
	fputs("gpugated: completion needs a shell: bash, zsh or fish\n",
	      stderr);
	return 2;
}

void shell_manpage(struct buf *out)
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
		"Answers a Kubernetes API server that asks whether a GPU "
		"workload may be created: POST /mutate and /validate "
		"(admission.k8s.io/v1) over TLS, and /healthz, /readyz and "
		"/metrics over plain HTTP. The rules and the policy are those "
		"of gpugate.\n\n"
		"SIGTERM drains and ends with 0, a second one ends at once. "
		"SIGHUP loads the policy and the certificate again.");
	buf_adds(out, ".SH OPTIONS\n");
	roff_options(out, &option_set, OPTION_SERVE);
	buf_adds(out, ".SH CERTS\n");
	roff_line(out, "Issues a CA and a serving certificate (ECDSA P-256).");
	roff_options(out, &certs_options, CERTS);
	buf_adds(out, ".SH SELFTEST\n");
	roff_line(
		out,
		"Starts a separate server on the loopback address, with new "
		"certificates and the preset recommended, and checks that a "
		"bad Pod is denied and a good one allowed. With --address it asks the server there, and accepts any verdict, because the policy of that server is unknown.");
	roff_options(out, &option_set, OPTION_SELFTEST);
	buf_adds(out, ".SH EXIT STATUS\n"
		      ".TP\n0\nended by a signal; the self-test passed\n"
		      ".TP\n1\nserving or the self-test failed\n"
		      ".TP\n2\nusage, or a broken policy\n"
		      ".SH SEE ALSO\n"
		      ".BR gpugate (1),\n.BR gpugate\\-policy (5)\n");
}
