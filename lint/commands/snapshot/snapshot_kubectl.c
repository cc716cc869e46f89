/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs kubectl, sends requests through it, and adds the returned objects to
 * the builder.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "lint/files/subprocess.h"
#include "lint/term/log.h"
#include "snapshot.h"

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

enum { PAGE = 250 };

/* --- kubectl -------------------------------------------------------------- */

/* Classifies a message of kubectl ("Error from server (Forbidden): ..."), or
 * a missing response; the message becomes the reason. */
static enum asked why(struct buf *reason)
{
	static const char from[] = "Error from server";
	const char *colon;

	if (!text_starts(reason->data, from))
		return reason->len ? ASKED_NOBODY : ASKED_REFUSED;
	if (text_contains(reason->data, "(NotFound)"))
		return ASKED_ABSENT;
	if (text_contains(reason->data, "(Expired)") ||
	    text_contains(reason->data, "continue parameter is too old"))
		return ASKED_TOO_LATE;
	colon = strchr(reason->data, ':');
	if (colon && colon[1] == ' ') {
		size_t rest = (size_t)(colon + 2 - reason->data);

		memmove(reason->data, reason->data + rest,
			reason->len - rest + 1);
		reason->len -= rest;
	}
	return ASKED_REFUSED;
}

enum asked snapshot_run(struct snapshot *s, const char *const *arguments)
{
	struct err err = {0};
	struct buf errors;
	int rc;

	buf_init(&errors);
	buf_reset(&s->answer);
	buf_reset(&s->reason);
	rc = kubectl_run(s->options, arguments, &s->answer, &errors, &err);
	if (rc < 0)
		buf_adds(&s->reason, err.text);
	else if (rc)
		buf_add(&s->reason, errors.data, strcspn(errors.data, "\n"));
	buf_release(&errors);
	if (rc < 0)
		return ASKED_NOBODY;
	return rc ? why(&s->reason) : ASKED_WELL;
}

enum asked snapshot_get(struct snapshot *s, const char *path)
{
	const char *const arguments[] = {"--request-timeout=60s", "get",
					 "--raw", path, NULL};

	if (s->options->verbose)
		log_line("GET %s", path);
	return snapshot_run(s, arguments);
}

static void left_out(void *context, const char *text)
{
	const struct snapshot *s = context;

	if (!s->options->quiet)
		log_line("left out: %s", text);
}

/* --- lists ---------------------------------------------------------------- */

static int add_list(struct snapshot *s, struct cluster_list *list,
		    struct err *err)
{
	int rc;

	pthread_mutex_lock(s->lock);
	rc = cluster_builder_list(s->builder, s->answer.data, s->answer.len,
				  list, err);
	pthread_mutex_unlock(s->lock);
	return rc;
}

enum asked snapshot_one(struct snapshot *s, const char *path)
{
	struct cluster_list list = {.warn = left_out, .context = s};
	enum asked asked = snapshot_get(s, path);
	struct err err = {0};

	buf_init(&list.next);
	buf_init(&list.version);
	if (asked == ASKED_WELL)
		add_list(s, &list, &err);
	buf_release(&list.next);
	buf_release(&list.version);
	return asked;
}

/* Reads one page after the other. If the list expires meanwhile, it is read
 * again in one piece. */
enum asked snapshot_list(struct snapshot *s, enum cluster_kind kind,
			 const char *path)
{
	struct cluster_list list = {
		.kind = kind, .warn = left_out, .context = s};
	enum asked asked;
	struct err err = {0};
	struct buf url;
	bool whole = false;

	buf_init(&url);
	buf_init(&list.next);
	buf_init(&list.version);
	do {
		buf_reset(&url);
		buf_adds(&url, path);
		if (!whole)
			buf_addf(&url, "%climit=%d",
				 strchr(path, '?') ? '&' : '?', PAGE);
		if (list.next.len)
			buf_addf(&url, "&continue=%s", list.next.data);
		asked = snapshot_get(s, url.data);
		if (asked == ASKED_TOO_LATE && !whole) {
			whole = true;
			buf_reset(&list.next);
			pthread_mutex_lock(s->lock);
			cluster_builder_clear(s->builder, kind);
			pthread_mutex_unlock(s->lock);
			asked = ASKED_AGAIN;
			continue;
		}
		if (asked == ASKED_WELL && add_list(s, &list, &err)) {
			buf_reset(&s->reason);
			buf_adds(&s->reason, err.text);
			asked = ASKED_REFUSED;
		}
	} while (asked == ASKED_AGAIN ||
		 (asked == ASKED_WELL && list.next.len));
	buf_release(&list.next);
	buf_release(&list.version);
	buf_release(&url);
	if (asked == ASKED_WELL && s->options->verbose)
		log_line("%zu objects", list.items);
	return asked;
}
