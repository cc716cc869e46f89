/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate snapshot`: reads the facts about a cluster that rules need through
 * kubectl (with the user's credentials, proxies and plugins), page by page with
 * `get --raw`. Owners of GPU pods are read last, kind by kind.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/replace.h"
#include "base/text.h"
#include "lint/options/options.h"
#include "lint/term/log.h"
#include "snapshot.h"

/* --- lists ---------------------------------------------------------------- */

static void path_of(const struct cluster_resource *r, const char *version,
		    size_t len, const char *namespace, struct buf *out)
{
	buf_reset(out);
	if (*r->group)
		buf_addf(out, "/apis/%s/%.*s", r->group, (int)len, version);
	else
		buf_addf(out, "/api/%.*s", (int)len, version);
	if (namespace && !strcmp(r->kind, "Namespace")) {
		buf_addf(out, "/namespaces/%s", namespace);
		return;
	}
	if (namespace)
		buf_addf(out, "/namespaces/%s", namespace);
	buf_addf(out, "/%s", r->plural);
	if (r->query)
		buf_addf(out, "?%s", r->query);
	if (!strcmp(r->kind, "Pod"))
		buf_adds(out, "?fieldSelector=status.phase!=Succeeded,"
			      "status.phase!=Failed");
}

/* Lists the kind in the first of its versions that the server has. */
static enum asked list_version(struct snapshot *s, enum cluster_kind kind,
			       const char *namespace)
{
	const struct cluster_resource *r = cluster_resource(kind);
	const char *version = r->versions;
	enum asked asked = ASKED_ABSENT;
	struct buf path;

	buf_init(&path);
	while (*version && asked == ASKED_ABSENT) {
		size_t len = strcspn(version, " ");

		path_of(r, version, len, namespace, &path);
		asked = namespace && kind == CLUSTER_NAMESPACE
				? snapshot_one(s, path.data)
				: snapshot_list(s, kind, path.data);
		version += len;
		version += strspn(version, " ");
	}
	buf_release(&path);
	return asked;
}

static enum asked list_kind(struct snapshot *s, enum cluster_kind kind)
{
	const struct list *only = &s->options->namespaces;
	enum asked asked = ASKED_WELL;

	if (!only->n || !cluster_kind_is_namespaced(kind))
		return list_version(s, kind, NULL);
	for (size_t i = 0; i < only->n && asked == ASKED_WELL; i++)
		asked = list_version(s, kind, only->items[i]);
	return asked;
}

/* --- all kinds ------------------------------------------------------------ */

/* Number of threads. Several requests run in parallel, because each needs a
 * kubectl process and a round trip. */
enum { ASKERS = 4 };

struct asking {
	struct snapshot *snapshot;
	pthread_mutex_t lock;
	int next, done; /* next kind, and number of kinds that are done */
	struct progress progress;
	struct {
		enum asked asked;
		struct buf reason;
	} kinds[CLUSTER_KINDS];
};

static int take_kind(struct asking *a)
{
	int kind;

	pthread_mutex_lock(&a->lock);
	kind = a->next < CLUSTER_KINDS ? a->next++ : -1;
	pthread_mutex_unlock(&a->lock);
	return kind;
}

static void ask_kind(struct asking *a, struct snapshot *s, int kind)
{
	enum asked asked = list_kind(s, kind);

	pthread_mutex_lock(&a->lock);
	a->kinds[kind].asked = asked;
	buf_adds(&a->kinds[kind].reason, s->reason.data);
	a->done++;
	progress_show(&a->progress, (size_t)a->done, CLUSTER_KINDS);
	pthread_mutex_unlock(&a->lock);
}

static void *ask_kinds(void *context)
{
	struct asking *a = context;
	struct snapshot own = {.options = a->snapshot->options,
			       .builder = a->snapshot->builder,
			       .lock = a->snapshot->lock};
	int kind;

	buf_init(&own.answer);
	buf_init(&own.reason);
	while ((kind = take_kind(a)) >= 0)
		ask_kind(a, &own, kind);
	buf_release(&own.answer);
	buf_release(&own.reason);
	return NULL;
}

static void ask_all(struct asking *a)
{
	pthread_t threads[ASKERS];
	size_t n = 0;

	/* Send the first request alone: it shows whether the server can be
	 * reached. */
	ask_kind(a, a->snapshot, a->next++);
	if (a->kinds[0].asked == ASKED_NOBODY)
		return;
	while (n < ASKERS - 1 &&
	       !pthread_create(&threads[n], NULL, ask_kinds, a))
		n++;
	ask_kinds(a);
	while (n)
		pthread_join(threads[--n], NULL);
}

static void tell_unreadable(struct snapshot *s, enum cluster_kind kind,
			    struct buf *reason)
{
	const struct cluster_resource *r = cluster_resource(kind);
	char *user;

	if (!reason->len)
		buf_adds(reason, "no answer");
	if (!s->options->quiet)
		log_line("cannot read %s%s%s: %s", r->plural,
			 *r->group ? "." : "", r->group, reason->data);
	/* Do not store the name of the user who takes the snapshot. */
	user = strstr(reason->data, ": User ");
	if (user)
		*user = '\0';
	/* Drop an incomplete list, because it would be taken for complete. */
	cluster_builder_clear(s->builder, kind);
	cluster_builder_unreadable(s->builder, kind, reason->data);
}

/* Reports the results in the order of the kinds, not of the requests. Returns
 * 0, or 2 after a message if no kind could be read. */
static int judge_all(struct asking *a)
{
	struct snapshot *s = a->snapshot;

	for (int kind = 0; kind < a->done; kind++) {
		enum asked asked = a->kinds[kind].asked;

		if (asked == ASKED_WELL) {
			s->read++;
			continue;
		}
		if (asked == ASKED_NOBODY && !s->read) {
			log_line("%s", a->kinds[kind].reason.data);
			return 2;
		}
		if (asked == ASKED_ABSENT && cluster_resource(kind)->optional)
			continue;
		tell_unreadable(s, kind, &a->kinds[kind].reason);
	}
	if (s->read)
		return 0;
	log_line("nothing could be read");
	return 2;
}

static int list_all(struct snapshot *s)
{
	struct asking a = {.snapshot = s};
	int rc;

	pthread_mutex_init(&a.lock, NULL);
	progress_init(&a.progress, s->options->quiet || s->options->verbose);
	a.progress.unit = "kinds";
	for (int kind = 0; kind < CLUSTER_KINDS; kind++)
		buf_init(&a.kinds[kind].reason);
	ask_all(&a);
	progress_end(&a.progress);
	rc = judge_all(&a);
	for (int kind = 0; kind < CLUSTER_KINDS; kind++)
		buf_release(&a.kinds[kind].reason);
	pthread_mutex_destroy(&a.lock);
	return rc;
}

/* Reads the server's address and the admission policy. */
static int ask_origin(struct snapshot *s)
{
	const char *const arguments[] = {
		"config",
		"view",
		"--minify",
		"-o",
		"jsonpath={.clusters[0].cluster.server}",
		NULL};
	struct buf policy;
	int rc;

	buf_init(&policy);
	rc = snapshot_policy(s, &policy);
	if (snapshot_run(s, arguments) != ASKED_WELL || s->answer.len >= 500 ||
	    strpbrk(s->answer.data, "\r\n{}"))
		buf_reset(&s->answer);
	cluster_builder_origin(s->builder, s->answer.data,
			       policy.len ? policy.data : NULL);
	buf_release(&policy);
	return rc;
}

static int write_file(const struct options *options,
		      const struct cluster *cluster)
{
	const char *path = options->output ? options->output : "-";
	struct replace replace;
	int error;

	if (!strcmp(path, "-")) {
		errno = 0;
		cluster_write(cluster, stdout);
		error = fflush(stdout) || ferror(stdout) ? errno : 0;
		path = "standard output";
	} else {
		error = replace_open(&replace, path);
		if (!error) {
			cluster_write(cluster, replace.out);
			error = replace_finish(&replace,
					       ferror(replace.out) ? EIO : 0);
		}
	}
	if (error)
		log_line("%s: %s", path, strerror(error));
	return error ? 2 : 0;
}

static void tell_counts(const struct cluster *c)
{
	size_t groups;

	cluster_nodes(c, &groups);
	log_line("%zu namespaces, %zu quotas, %zu nodes (%zu kinds), "
		 "%zu GPU pods%s",
		 cluster_count(c, CLUSTER_NAMESPACE),
		 cluster_count(c, CLUSTER_QUOTA),
		 cluster_count(c, CLUSTER_NODE), groups,
		 cluster_count(c, CLUSTER_POD),
		 cluster_policy(c) ? ", the admission policy" : "");
}

int snapshot_take(const struct options *options, struct cluster **cluster)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct snapshot s = {.options = options, .lock = &lock};
	int64_t now = (int64_t)time(NULL);
	int rc;

	s.builder = cluster_builder_new();
	buf_init(&s.answer);
	buf_init(&s.reason);
	rc = list_all(&s);
	if (!rc) {
		snapshot_owners(&s);
		snapshot_admission(&s);
		rc = ask_origin(&s);
	}
	if (!rc)
		*cluster = cluster_builder_finish(s.builder, now);
	cluster_builder_free(s.builder);
	buf_release(&s.answer);
	buf_release(&s.reason);
	return rc;
}

int snapshot_command(struct options *options)
{
	struct cluster *cluster = NULL;
	int rc = kubectl_check(options, "snapshot");

	if (rc)
		return rc;
	if (options->all_namespaces && options->namespaces.n)
		return log_usage("snapshot", "--namespace and --all-namespaces "
					     "cannot be combined");
	if (options->paths.n)
		return log_usage(
			"snapshot",
			"snapshot takes no arguments; name the file with -o");
	rc = snapshot_take(options, &cluster);
	if (!rc)
		rc = write_file(options, cluster);
	if (!rc && !options->quiet)
		tell_counts(cluster);
	cluster_put(cluster);
	return rc;
}
