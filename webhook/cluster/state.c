/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the cluster state from its file, or starts the live state. A broken
 * file prevents the start, as a broken policy does; if a later version is
 * broken, the last good state stays. An API server that does not respond does
 * not prevent the start, because it may respond later.
 */
#include "state.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/escape.h"
#include "kube/cluster/cluster.h"
#include "webhook/api/api.h"
#include "webhook/observe/monotonic.h"

enum { AGAIN_SECONDS = 30 };

static void receive_cluster(void *context, const struct cluster *cluster)
{
	admission_set_cluster(context, cluster);
}

static void warn(void *context, const char *text)
{
	log_say(context, LOG_WARN, "cluster state: %s", text);
}

/* --- from a file ---------------------------------------------------------- */

/* Sets the metric of the state's age. It is infinity if the state's time is too
 * far in the future, because such a state is not used, and 0 if the time is
 * only slightly ahead. */
static void report_age(struct state *s)
{
	int64_t age = time(NULL) - s->taken_at;

	if (!s->taken_at)
		return;
	if (s->ahead && age > 0)
		s->ahead = false;
	metrics_set(s->metrics, METRICS_CLUSTER_STATE_AGE,
		    s->ahead  ? INFINITY
		    : age > 0 ? (double)age
			      : 0);
}

struct state_load {
	struct state *state;
	struct cluster *cluster;
	struct err err;
};

static void read_file(void *context)
{
	struct state_load *w = context;
	struct state *s = w->state;

	w->cluster = cluster_load(s->file, false, warn, s->log, &w->err);
}

/* Loads the file. Returns NULL after logging the reason; the load is repeated
 * if memory ran out. */
static struct cluster *load_cluster(struct state *s)
{
	struct state_load w = {.state = s};

	s->again = escape_run(read_file, &w, NULL) != ESCAPE_NONE;
	s->next_try = monotonic_seconds() + AGAIN_SECONDS;
	if (s->again)
		log_say(s->log, LOG_ERROR, "%s: out of memory", s->file);
	else if (!w.cluster && w.err.line)
		log_say(s->log, LOG_ERROR, "%s:%u:%u: %s", s->file, w.err.line,
			w.err.column, w.err.text);
	else if (!w.cluster)
		log_say(s->log, LOG_ERROR, "%s", w.err.text);
	return s->again ? NULL : w.cluster;
}

static int load_file(struct state *s)
{
	struct cluster *cluster = load_cluster(s);

	if (!cluster)
		return -1;
	/* Policies of the API server are dropped, because it evaluates them
	 * itself. */
	cluster_drop_admission(cluster);
	s->taken_at = cluster_taken_at(cluster);
	log_event(s->log, LOG_INFO, "cluster state from a file",
		  (struct log_field[]){
			  {"file", s->file, 0},
			  {"server", cluster_server(cluster), 0},
			  {"age_seconds", NULL, time(NULL) - s->taken_at},
		  },
		  3);
	s->ahead = cluster_is_ahead(cluster, time(NULL));
	if (s->ahead)
		log_say(s->log, LOG_ERROR,
			"%s: takenAt is %lld s in the future; rules that need "
			"the snapshot are skipped",
			s->file, (long long)(s->taken_at - time(NULL)));
	admission_set_cluster(s->admission, cluster);
	report_age(s);
	return 0;
}

/* --- use of the state ----------------------------------------------------- */

static void report_unused(struct state *s, const char *reason)
{
	int64_t now = monotonic_seconds();

	if (reason) {
		s->unused_since = now;
		metrics_add(s->metrics, METRICS_STATE_STOPS, 1);
		log_event(s->log, LOG_WARN,
			  "cluster state: rules that need it no longer run",
			  &(struct log_field){"reason", reason, 0}, 1);
	} else {
		log_event(s->log, LOG_INFO,
			  "cluster state: rules that need it run again",
			  &(struct log_field){"seconds", NULL,
					      now - s->unused_since},
			  1);
	}
}

/* Logs when the state starts or stops being used. A change of only the reason
 * is not logged. */
static void look_whether_used(struct state *s)
{
	const char *reason = admission_state_unused(s->admission, time(NULL));
	const char *before = atomic_load(&s->unused);

	if (!reason != !before)
		report_unused(s, reason);
	atomic_store(&s->unused, reason);
	metrics_set(s->metrics, METRICS_STATE_USED, !reason);
}

const char *state_unused(const struct state *s)
{
	return atomic_load(&s->unused);
}

static void poll_file(struct state *s)
{
	bool again = s->again && monotonic_seconds() >= s->next_try;

	if ((watch_changed(s->watch) || again) && load_file(s))
		log_event(s->log, LOG_WARN,
			  "cluster state: the last good one stays",
			  &(struct log_field){"age_seconds", NULL,
					      time(NULL) - s->taken_at},
			  1);
	report_age(s);
}

void state_poll(struct state *s)
{
	if (s->file)
		poll_file(s);
	if (s->live)
		live_set_max_age(s->live, admission_max_age(s->admission));
	/* The first state of an API server is not reported here: see
	 * state_not_ready(). */
	if (s->file || (s->live && live_first_state(s->live)))
		look_whether_used(s);
}

/* --- from an API server --------------------------------------------------- */

int state_open(struct state *s)
{
	struct api_config config;
	struct err err = {0};

	if (s->file || !strcmp(s->live_wanted, "off"))
		return 0;
	if (!s->kubeconfig && !strcmp(s->live_wanted, "auto")) {
		/* A pod without a token does not use an API server. */
		if (api_config_in_cluster(&config, &err))
			return 0;
		api_config_release(&config);
	}
	err = (struct err){0};
	s->api = api_open(s->kubeconfig, &err);
	if (!s->api) {
		log_say(s->log, LOG_ERROR, "%s", err.text);
		return -1;
	}
	if (api_warm_up(s->api, &err))
		log_say(s->log, LOG_WARN, "%s", err.text);
	return 0;
}

static uint32_t ask(void *context, const struct cluster_absence *items,
		    size_t n, unsigned ms)
{
	return live_ask(context, items, n, ms);
}

static int start_live(struct state *s)
{
	struct live_options options = {
		.api = s->api,
		.metrics = s->metrics,
		.log = s->log,
		.publish = receive_cluster,
		.context = s->admission,
		.times = live_times_default,
	};
	struct err err = {0};

	s->live = live_start(&options, &err);
	if (s->live) {
		admission_set_asker(s->admission,
				    &(struct admission_asker){ask, s->live});
		return 0;
	}
	log_say(s->log, LOG_ERROR, "%s", err.text);
	return -1;
}

int state_start(struct state *s)
{
	const char *const paths[] = {s->file, NULL};

	if (s->api)
		return start_live(s);
	if (!s->file)
		return 0;
	s->watch = watch_new(paths);
	return load_file(s);
}

const char *state_not_ready(const struct state *s)
{
	if (s->live && !live_first_state(s->live))
		return "cluster state: waiting for the first one";
	return NULL;
}

bool state_asks(const struct state *s)
{
	return s->api != NULL;
}

void state_release(struct state *s)
{
	live_stop(s->live);
	watch_free(s->watch);
	api_close(s->api);
	s->live = NULL;
	s->watch = NULL;
	s->api = NULL;
}
