/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the service; after that, the main thread waits for signals and changes
 * of files and answers no requests. Signals are blocked before the first thread
 * starts, so that only the thread that waits for signals receives them.
 *
 * Shutdown: on SIGTERM, /readyz fails at once, but reviews are answered until
 * every connection is closed, and for at least LAG_SECONDS, because the API
 * server notices the shutdown late. Each connection is closed with its next
 * reply; new connections are served. After --drain seconds, or at a second
 * signal, the remaining connections are cut. SIGINT comes from a user at a
 * terminal: the shutdown then does not wait LAG_SECONDS.
 */
#include "commands.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "serve.h"
#include "webhook/api/api.h"
#include "webhook/cluster/state.h"
#include "webhook/observe/monotonic.h"
#include "webhook/observe/process.h"
#include "webhook/server/server.h"
#include "webhook/tls/self_managed.h"

enum {
	/* longer than the 90 s of the API server's http.Transport */
	IDLE_SECONDS = 300,
	FLUSH_SECONDS = 10,
	LAG_SECONDS = 10,
	/* Default maximum age of a live state: it is normally a few seconds
	 * old, and an older one may be wrong. The age of a file's state is not
	 * limited by default. */
	LIVE_MAX_AGE = 900,
	KEPT_SIZE = 256 << 10,
	THREADS_MAX = 8, /* default limit of the number of threads */
};

struct service {
	const struct serve_options *options;
	struct log *log;
	struct metrics *metrics;
	struct admission *admission;
	struct key_store *keys;
	/* NULL: client certificates are not required */
	struct client_ca *client_ca;
	struct server *server;
	struct probe *probe;
	struct reload reload;
	struct state state;
	/* client of the API server for --self-managed, if state has none */
	struct api *own_api;
	struct self_managed *managed; /* may be NULL */
	struct rule_set rules;
	struct signals signals;
	_Atomic bool up, draining;
	int64_t deadline; /* end of draining; monotonic seconds */
	/* earliest end if all connections are closed; monotonic seconds */
	int64_t earliest;
	int64_t next_flush; /* time of the next log of repeats */
	bool logged_ready;  /* readiness that was logged last */
	bool logged_waiting;
};

unsigned serve_threads(const struct serve_options *options)
{
	unsigned limit, n = 1;
	cpu_set_t set;

	if (options->threads)
		return options->threads;
	if (!sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) > 0)
		n = (unsigned)CPU_COUNT(&set);
	/* More threads would use up a container's share of CPU time at once,
	 * and all would then wait. */
	limit = process_cpu_limit(NULL);
	if (limit && limit < n)
		n = limit;
	return n > THREADS_MAX ? THREADS_MAX : n;
}

/* Returns the reason why the server is not ready, or NULL. Called by the thread
 * for probes. */
static const char *not_ready(void *context)
{
	struct service *s = context;
	const char *reason = NULL;

	if (atomic_load(&s->draining))
		return "draining: this instance is being stopped";
	if (!admission_has_policy(s->admission))
		return "policy: none is loaded";
	if (s->managed)
		reason = self_managed_not_ready(s->managed);
	if (reason)
		return reason;
	if (!key_store_ready(s->keys))
		return "certificates: none is valid now";
	if (!atomic_load(&s->up))
		return "starting";
	return state_not_ready(&s->state);
}

/* Describes the cluster state, on the thread for probes. A state that is not
 * used does not make the server unready: all other rules run. */
static void describe(void *context, struct buf *out)
{
	const struct service *s = context;
	const char *unused = state_unused(&s->state);

	if (!s->state.file && !s->state.live)
		buf_adds(out, "[-]cluster state: not configured\n");
	else if (unused)
		buf_addf(out,
			 "[-]cluster state: rules that need it are skipped: "
			 "%s\n",
			 unused);
	else
		buf_adds(out, "[+]cluster state: rules that need it run\n");
}

/* --- start ---------------------------------------------------------------- */

/* Raises the limit of descriptors: each connection needs one, and the soft
 * limit is often 1024. */
static void raise_limit(struct service *s)
{
	rlim_t wanted = (rlim_t)s->options->max_connections + SERVER_SPARE_FDS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < wanted)
		log_say(s->log, LOG_WARN,
			"only %llu files may be open: not enough for "
			"--max-connections %u",
			(unsigned long long)limit.rlim_cur,
			s->options->max_connections);
}

/* Returns the memory for reviews. The remaining memory is for the program, its
 * connections and small reviews. */
static size_t memory_for_reviews(const struct service *s)
{
	enum { SHARE = 8, OF_IT = 5, NO_LIMIT = 160 << 20 };
	size_t least = server_memory_least(s->options->max_body);
	size_t bytes = s->options->max_memory, limit;

	if (!bytes) {
		limit = process_memory_limit(NULL);
		bytes = limit ? limit / SHARE * OF_IT : NO_LIMIT;
	}
	if (bytes >= least)
		return bytes;
	log_say(s->log, LOG_WARN,
		"--max-body takes %zu bytes of memory: more than the %zu of "
		"--max-memory or the container's limit",
		least, bytes);
	return least;
}

static int start_server(struct service *s)
{
	const struct serve_options *o = s->options;
	struct server_options options = {
		.listen = o->listen,
		.threads = serve_threads(o),
		.max_body = o->max_body,
		.max_memory = memory_for_reviews(s),
		.max_in_flight = o->max_in_flight,
		.max_connections = o->max_connections,
		.handshake_seconds = o->timeout,
		.header_seconds = o->timeout,
		.body_seconds = o->timeout,
		.idle_seconds = IDLE_SECONDS,
		.client_ca = s->client_ca,
		.client_names = o->client_names.items,
		.keys = s->keys,
		.admission = s->admission,
		.metrics = s->metrics,
		.log = s->log,
	};
	struct err err = {0};

	s->server = server_start(&options, &err);
	if (!s->server) {
		log_say(s->log, LOG_ERROR, "%s", err.text);
		return -1;
	}
	log_event(s->log, LOG_INFO, "listening",
		  (struct log_field[]){
			  {"address", o->listen, 0},
			  {"port", NULL, server_port(s->server)},
			  {"threads", NULL, options.threads},
			  {"version", program_build, 0},
		  },
		  4);
	return 0;
}

static int start_probe(struct service *s)
{
	struct probe_options options = {
		.listen = s->options->probe_listen,
		.metrics = s->metrics,
		.not_ready = not_ready,
		.describe = describe,
		.context = s,
	};
	struct err err = {0};

	s->probe = probe_start(&options, &err);
	if (!s->probe) {
		log_say(s->log, LOG_ERROR, "%s", err.text);
		return -1;
	}
	log_event(s->log, LOG_INFO, "probes listening",
		  (struct log_field[]){
			  {"address", options.listen, 0},
			  {"port", NULL, probe_port(s->probe)},
		  },
		  2);
	return 0;
}

static bool wants_sandbox(const struct service *s)
{
	return sandbox_available() && text_eq(s->options->sandbox, "on");
}

/* Installs the filter. If the kernel lacks or forbids filters, the server runs
 * without one. */
static void enter_sandbox(struct service *s)
{
	bool json = text_eq(s->options->log_format, "json");
	struct err err = {0};

	if (!wants_sandbox(s))
		log_say(s->log, LOG_WARN, "the sandbox is off");
	else if (sandbox_enter(STDERR_FILENO, json,
			       state_asks(&s->state) || s->managed, &err))
		log_say(s->log, LOG_WARN, "the sandbox is off: %s", err.text);
}

static int prepare(struct service *s)
{
	struct err err = {0};

	signal(SIGPIPE, SIG_IGN);
	if (signals_block(&s->signals)) {
		log_say(s->log, LOG_ERROR, "signals: %s", strerror(errno));
		return -1;
	}
	if (geteuid() == 0)
		log_say(s->log, LOG_WARN,
			"running as root; a dedicated user is enough");
	if (wants_sandbox(s) && sandbox_prepare(&err))
		log_say(s->log, LOG_WARN, "%s", err.text);
	raise_limit(s);
	return 0;
}

/* Opens a client of the API server for --self-managed, unless the cluster state
 * has one. Must be called before there are threads. */
static int open_api(struct service *s)
{
	struct err err = {0};

	if (!s->options->self_managed || s->state.api)
		return 0;
	s->own_api = api_open(s->options->kubeconfig, &err);
	if (s->own_api && api_warm_up(s->own_api, &err))
		log_say(s->log, LOG_WARN, "%s", err.text);
	else if (!s->own_api)
		log_say(s->log, LOG_ERROR, "--self-managed: %s", err.text);
	return s->own_api ? 0 : -1;
}

static int start_self_managed(struct service *s)
{
	const struct serve_options *o = s->options;
	struct self_managed_options options = {
		.api = s->own_api ? s->own_api : s->state.api,
		.keys = s->keys,
		.log = s->log,
		.metrics = s->metrics,
		.namespace = o->namespace,
		.secret = o->secret,
		.webhook_config = o->webhook_config,
		.names = o->dns.items,
		.ca_life = self_managed_life(o->ca_life),
		.leaf_life = self_managed_life(o->leaf_life),
		.settle = (unsigned)self_managed_life(o->ca_settle),
	};
	struct err err = {0};

	if (!o->self_managed)
		return 0;
	s->managed = self_managed_start(&options, &err);
	if (!s->managed)
		log_say(s->log, LOG_ERROR, "--self-managed: %s", err.text);
	return s->managed ? 0 : -1;
}

static int start(struct service *s)
{
	struct admission_options admission = {
		.rules = &s->rules,
		.metrics = s->metrics,
		.log = s->log,
		.reservations = !strcmp(s->options->reservations, "on"),
	};

	s->state = (struct state){
		.file = s->options->cluster,
		.kubeconfig = s->options->kubeconfig,
		.live_wanted = s->options->live,
		.log = s->log,
		.metrics = s->metrics,
	};
	if (state_open(&s->state) || open_api(s))
		return -1;
	admission.state_max_age = state_asks(&s->state) ? LIVE_MAX_AGE : 0;
	s->state.admission = s->admission = admission_new(&admission);
	s->keys = key_store_new();
	if (s->options->client_ca)
		s->client_ca = client_ca_new();
	s->reload = (struct reload){
		.rules = s->rules,
		.policy = s->options->policy,
		.knows_namespaces = s->state.file || s->state.api,
		.cert = s->options->tls_cert,
		.key = s->options->tls_key,
		.ca = s->options->client_ca,
		.log = s->log,
		.metrics = s->metrics,
		.admission = s->admission,
		.keys = s->keys,
		.client_ca = s->client_ca,
	};
	if (reload_start(&s->reload) || state_start(&s->state) ||
	    start_self_managed(s) || start_probe(s) || start_server(s) ||
	    signals_start(&s->signals))
		return -1;
	enter_sandbox(s);
	atomic_store(&s->up, true);
	return 0;
}

static void stop(struct service *s)
{
	signals_release(&s->signals);
	server_stop(s->server);
	probe_stop(s->probe);
	reload_release(&s->reload);
	self_managed_stop(s->managed);
	state_release(&s->state);
	api_close(s->own_api);
	admission_free(s->admission);
	key_store_free(s->keys);
	client_ca_free(s->client_ca);
	metrics_free(s->metrics);
	log_free(s->log);
}

/* --- until the end -------------------------------------------------------- */

/* Starts draining. Called, like say_stopping(), on the thread for signals. */
static void drain(void *context, unsigned signal)
{
	struct service *s = context;
	int64_t now = monotonic_seconds();

	s->deadline = now + s->options->drain;
	s->earliest = now + (signal == SIGINT ? 0 : LAG_SECONDS);
	atomic_store(&s->draining, true);
	server_drain(s->server);
	log_event(s->log, LOG_INFO, "draining",
		  (struct log_field[]){
			  {"signal", NULL, signal},
			  {"connections", NULL, server_connections(s->server)},
			  {"seconds", NULL, s->options->drain},
		  },
		  3);
}

static void say_stopping(void *context)
{
	const struct service *s = context;

	log_say(s->log, LOG_WARN, "second signal: stopping");
}

/* Handles signals. Returns true if the server may end now. */
static bool heed_signals(struct service *s)
{
	signals_clear(&s->signals);
	if (atomic_load(&s->signals.stop))
		return true;
	if (atomic_exchange(&s->signals.reload, false)) {
		log_say(s->log, LOG_INFO, "reloading");
		reload_now(&s->reload);
	}
	return false;
}

static bool is_drained(const struct service *s)
{
	int64_t now = monotonic_seconds();

	if (!atomic_load(&s->draining))
		return false;
	return now >= s->deadline ||
	       (now >= s->earliest && !server_connections(s->server));
}

/* Logs the status of /readyz whenever it changes. */
static void report_readiness(struct service *s)
{
	const char *reason = not_ready(s);

	if (!reason && !s->logged_ready) {
		log_say(s->log, LOG_INFO, "ready");
		s->logged_ready = true;
	} else if (reason && (s->logged_ready || !s->logged_waiting) &&
		   !atomic_load(&s->draining)) {
		log_say(s->log, s->logged_ready ? LOG_WARN : LOG_INFO,
			"not ready: %s", reason);
		s->logged_ready = false;
		s->logged_waiting = true;
	}
}

static void wait_for_something(struct service *s)
{
	enum { SOON_MS = 50 };
	struct pollfd fd = {.fd = signals_fd(&s->signals), .events = POLLIN};
	int wait = reload_wait(&s->reload);

	if ((atomic_load(&s->draining) || !s->logged_ready) && wait > SOON_MS)
		wait = SOON_MS;
	poll(&fd, 1, wait);
}

static void serve_until_signal(struct service *s)
{
	while (!heed_signals(s) && !is_drained(s)) {
		int64_t now = monotonic_seconds();

		reload_poll(&s->reload);
		state_poll(&s->state);
		report_readiness(s);
		if (now >= s->next_flush) {
			log_flush_repeats(s->log);
			s->next_flush = now + FLUSH_SECONDS;
		}
		wait_for_something(s);
	}
	log_event(s->log, LOG_INFO, "stopped",
		  &(struct log_field){"connections", NULL,
				      server_connections(s->server)},
		  1);
}

int serve(const struct serve_options *options)
{
	struct service s = {
		.options = options,
		.rules = {.items = all_rules, .n = all_rules_count},
		.signals = {.first = drain,
			    .second = say_stopping,
			    .context = &s},
	};
	enum log_level level = LOG_INFO;
	int rc = 2;

	/* Each arena of malloc takes address space and, once used, memory. Few
	 * are needed, because most reviews use only memory that their thread
	 * keeps. */
	mallopt(M_ARENA_MAX, 2);
	/* The memory of a large review is returned to the system at its end. */
	mallopt(M_MMAP_THRESHOLD, KEPT_SIZE);
	mallopt(M_TRIM_THRESHOLD, 2 * KEPT_SIZE);
	log_level_parse(options->log_level, &level);
	s.log = log_new(STDERR_FILENO, level,
			text_eq(options->log_format, "json"));
	log_bugs(STDERR_FILENO, text_eq(options->log_format, "json"));
	s.metrics = metrics_new();
	if (!s.log || !s.metrics)
		return rc;
	metrics_set_build(s.metrics, program_version);
	metrics_know_rules(s.metrics, &s.rules);
	if (!prepare(&s) && !start(&s)) {
		serve_until_signal(&s);
		rc = 0;
	}
	stop(&s);
	return rc;
}
