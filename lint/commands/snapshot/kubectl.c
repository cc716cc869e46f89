/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs kubectl as a subprocess and checks that it can be used.
 */
#include "kubectl.h"

#include "base/array.h"
#include "lint/files/subprocess.h"
#include "lint/term/log.h"

enum { ARGUMENTS = 24 };

int kubectl_run(const struct options *o, const char *const *arguments,
		struct buf *out, struct buf *errors, struct err *err)
{
	const char *argv[ARGUMENTS];
	size_t n = 0;

	argv[n++] = o->kubectl ? o->kubectl : "kubectl";
	if (o->context) {
		argv[n++] = "--context";
		argv[n++] = o->context;
	}
	if (o->kubeconfig) {
		argv[n++] = "--kubeconfig";
		argv[n++] = o->kubeconfig;
	}
	while (*arguments && n < ARGUMENTS - 1)
		argv[n++] = *arguments++;
	argv[n] = NULL;
	return program_run(argv, NULL, out, errors, err);
}

int kubectl_check(const struct options *o, const char *command)
{
	const struct {
		const char *name, *value;
	} values[] = {{"kubectl", o->kubectl},
		      {"context", o->context},
		      {"kubeconfig", o->kubeconfig}};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (values[i].value &&
		    (!*values[i].value || *values[i].value == '-'))
			return log_usage(command,
					 "--%s: `%s` is empty or begins with -",
					 values[i].name, values[i].value);
	return 0;
}
