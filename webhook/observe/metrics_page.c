/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the page in Prometheus' text format 0.0.4. Each family is written with
 * HELP and TYPE, even when it has no series yet. A gauge that was never set has
 * no series: a 0 would be wrong (a certificate that expired in 1970) and would
 * raise alerts.
 *
 * Three families repeat values under the names used by dashboards for
 * controller-runtime's webhooks.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/text.h"
#include "metrics_internal.h"
#include "process.h"

static void family(struct buf *out, const char *name, const char *type,
		   const char *help)
{
	buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Appends the value of a label between its quotes, escaped. */
static void add_value(struct buf *out, const char *text)
{
	size_t len = strlen(text);

	while (len) {
		size_t step = utf8_length(text, len);

		if (!step)
			buf_adds(out, "\xef\xbf\xbd");
		else if (*text == '\n')
			buf_adds(out, "\\n");
		else if (*text == '\\' || *text == '"')
			buf_addf(out, "\\%c", *text);
		else
			buf_add(out, text, step);
		text += step ? step : 1;
		len -= step ? step : 1;
	}
}

static void label(struct buf *out, const char *name, const char *value)
{
	bool first = out->data[out->len - 1] == '{';

	buf_addf(out, "%s%s=\"", first ? "" : ",", name);
	add_value(out, value);
	buf_addc(out, '"');
}

static void end_count(struct buf *out, uint64_t value)
{
	buf_addf(out, "} %" PRIu64 "\n", value);
}

static void add_double(struct buf *out, double value)
{
	if (isinf(value))
		buf_adds(out, "+Inf");
	else
		buf_addf(out, "%.15g", value);
}

/* Writes a family of one series without labels; a negative value is omitted. */
static void figure(struct buf *out, const char *name, const char *type,
		   const char *help, double value)
{
	family(out, name, type, help);
	if (value < 0)
		return;
	buf_addf(out, "%s ", name);
	add_double(out, value);
	buf_addc(out, '\n');
}

static uint64_t get(_Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

/* --- requests ----------------------------------------------------------- */

/* Returns true for series that exist from the start: those of requests that
 * every cluster sends. */
static bool is_known(unsigned kind, unsigned webhook, unsigned operation,
		     unsigned decision)
{
	return kind == 1 && webhook < WEBHOOKS - 1 && operation < 2 &&
	       decision < DECISIONS - 1;
}

static void write_request(struct metrics *m, struct buf *out, unsigned kind,
			  unsigned i)
{
	unsigned dry = i % 2, decision = i / 2 % DECISIONS;
	unsigned operation = i / 2 / DECISIONS % OPERATIONS;
	unsigned webhook = i / 2 / DECISIONS / OPERATIONS;
	uint64_t n = get(
		&m->requests->count[kind][webhook][operation][decision][dry]);

	if (!n && (dry || !is_known(kind, webhook, operation, decision)))
		return;
	buf_adds(out, "gpugate_admission_requests_total{");
	label(out, "webhook", metrics_webhooks[webhook]);
	label(out, "operation", metrics_operations[operation]);
	label(out, "kind", names_text(&m->kinds, kind));
	label(out, "decision", metrics_decisions[decision]);
	label(out, "dry_run", dry ? "true" : "false");
	end_count(out, n);
}

static void write_requests(struct metrics *m, struct buf *out)
{
	unsigned kinds = atomic_load(&m->kinds.n);

	family(out, "gpugate_admission_requests_total", "counter",
	       "Reviews answered, by decision.");
	for (unsigned kind = 0; kind <= kinds; kind++)
		for (unsigned i = 0; i < WEBHOOKS * OPERATIONS * DECISIONS * 2;
		     i++)
			write_request(m, out, kind, i);
}

static void write_duration(struct metrics *m, struct buf *out, const char *name,
			   unsigned webhook, const char *prefix)
{
	struct duration *duration = &m->durations[webhook];
	uint64_t sum = get(&duration->nanoseconds), total = 0;
	char value[16];

	snprintf(value, sizeof(value), "%s%s", prefix,
		 metrics_webhooks[webhook]);
	for (unsigned i = 0; i < BUCKETS; i++) {
		total += get(&duration->buckets[i]);
		buf_addf(out, "%s_bucket{", name);
		label(out, "webhook", value);
		label(out, "le", metrics_bounds[i]);
		end_count(out, total);
	}
	buf_addf(out, "%s_sum{", name);
	label(out, "webhook", value);
	buf_addf(out, "} %" PRIu64 ".%09" PRIu64 "\n", sum / 1000000000,
		 sum % 1000000000);
	buf_addf(out, "%s_count{", name);
	label(out, "webhook", value);
	end_count(out, total);
}

static void write_durations(struct metrics *m, struct buf *out,
			    const char *name, const char *prefix,
			    const char *help)
{
	family(out, name, "histogram", help);
	for (unsigned i = 0; i < WEBHOOKS - 1; i++)
		write_duration(m, out, name, i, prefix);
}

static uint64_t requests_of(struct metrics *m, unsigned webhook, bool failed)
{
	unsigned kinds = atomic_load(&m->kinds.n);
	const unsigned error = 5;
	uint64_t n = 0;

	for (unsigned kind = 0; kind <= kinds; kind++)
		for (unsigned i = 0; i < OPERATIONS * DECISIONS * 2; i++) {
			unsigned decision = i / 2 % DECISIONS;

			if ((decision == error) == failed)
				n += get(&m->requests->count[kind][webhook]
							    [i / 2 / DECISIONS]
							    [decision][i % 2]);
		}
	return n;
}

static void write_aliases(struct metrics *m, struct buf *out)
{
	static const char *const paths[] = {"/mutate", "/validate"};

	family(out, "controller_runtime_webhook_requests_total", "counter",
	       "Reviews answered, by status.");
	for (unsigned i = 0; i < 4; i++) {
		buf_adds(out, "controller_runtime_webhook_requests_total{");
		label(out, "webhook", paths[i / 2]);
		label(out, "code", i % 2 ? "500" : "200");
		end_count(out, requests_of(m, i / 2, i % 2));
	}
	family(out, "controller_runtime_webhook_requests_in_flight", "gauge",
	       "Reviews in flight.");
	buf_addf(out,
		 "controller_runtime_webhook_requests_in_flight"
		 "{webhook=\"all\"} %" PRId64 "\n",
		 atomic_load(&m->in_flight));
	write_durations(
		m, out, "controller_runtime_webhook_latency_seconds", "/",
		"Time from the end of a review's arrival to its answer.");
}

/* --- findings ----------------------------------------------------------- */

static void write_findings(struct metrics *m, struct buf *out)
{
	family(out, "gpugate_findings_total", "counter",
	       "Findings in reviewed objects, by the action taken.");
	for (size_t i = 0; i < FINDING_SLOTS; i++) {
		uint64_t key = atomic_load(&m->findings[i].key);
		struct finding_labels l = metrics_unpack(key);

		if (!key)
			continue;
		buf_adds(out, "gpugate_findings_total{");
		label(out, "rule", names_text(&m->rules, l.rule));
		label(out, "action", metrics_actions[l.action]);
		label(out, "mode", metrics_modes[l.mode]);
		label(out, "level", metrics_levels[l.level]);
		label(out, "namespace",
		      names_text(&m->namespaces, l.namespace));
		end_count(out, get(&m->findings[i].count));
	}
}

static void write_gpus(struct metrics *m, struct buf *out)
{
	unsigned rules = atomic_load(&m->rules.n);

	family(out, "gpugate_gpus_affected_total", "counter",
	       "Accelerators of objects with findings, counted for each finding.");
	for (unsigned i = 0; i < (rules + 1) * ACTIONS; i++) {
		uint64_t n = get(&m->gpus[i / ACTIONS][i % ACTIONS]);

		if (!n)
			continue;
		buf_adds(out, "gpugate_gpus_affected_total{");
		label(out, "rule", names_text(&m->rules, i / ACTIONS));
		label(out, "action", metrics_actions[i % ACTIONS]);
		end_count(out, n);
	}
}

/* Writes a family with the label `rule`. known marks the rules that have a
 * series even if their count is 0. */
static void write_rules(struct metrics *m, struct buf *out, const char *name,
			_Atomic uint64_t *counts, _Atomic bool *known)
{
	unsigned rules = atomic_load(&m->rules.n);

	for (unsigned i = 0; i <= rules; i++) {
		uint64_t n = get(&counts[i]);

		if (!n && !atomic_load(&known[i]))
			continue;
		buf_addf(out, "%s{", name);
		label(out, "rule", names_text(&m->rules, i));
		end_count(out, n);
	}
}

/* --- single figures ----------------------------------------------------- */

static const char not_judged[] = "gpugate_not_judged_total";

static void write_counters(struct metrics *m, struct buf *out)
{
	static const struct {
		const char *name, *label, *help;
	} table[] = {
		[METRICS_OVERLOAD] =
			{"gpugate_overload_total", NULL,
			 "Reviews rejected with 429 because too many were in progress, or because checking took too long."},
		[METRICS_MEMORY_REFUSED] =
			{"gpugate_memory_refused_total", NULL,
			 "Reviews rejected with 429 because other reviews used the memory, or because memory ran out."},
		[METRICS_BREAK_GLASS] =
			{"gpugate_break_glass_total", NULL,
			 "Reviews in which a break-glass ticket prevented a denial, or would in mode enforce."},
		[METRICS_POLICY_RELOAD_FAILURES] =
			{"gpugate_policy_reload_failures_total", NULL,
			 "Policies that were rejected because of problems."},
		[METRICS_CERTIFICATE_RELOAD_FAILURES] =
			{"gpugate_certificate_reload_failures_total", NULL,
			 "Certificates that were rejected."},
		[METRICS_CLIENT_CA_RELOAD_FAILURES] =
			{"gpugate_client_ca_reload_failures_total", NULL,
			 "Files of client CAs that were rejected."},
		[METRICS_CLUSTER_RELISTS] =
			{"gpugate_cluster_relists_total", NULL,
			 "Lists of cluster objects that were read again."},
		[METRICS_CLUSTER_OUT_OF_MEMORY] =
			{"gpugate_cluster_out_of_memory_total", NULL,
			 "Reads of the cluster that ran out of memory."},
		[METRICS_STATE_STOPS] =
			{"gpugate_cluster_state_stops_total", NULL,
			 "How often the rules that need the cluster state stopped running."},
		[METRICS_TIMEOUTS_HANDSHAKE] =
			{"gpugate_timeouts_total", "phase=\"handshake\"",
			 "Connections cut because the client was too slow."},
		[METRICS_TIMEOUTS_HEADER] = {"gpugate_timeouts_total",
					     "phase=\"header\"", NULL},
		[METRICS_TIMEOUTS_BODY] = {"gpugate_timeouts_total",
					   "phase=\"body\"", NULL},
		[METRICS_CLIENT_REFUSED] =
			{"gpugate_client_refused_total", NULL,
			 "Requests without the required client certificate."},
		[METRICS_NOT_JUDGED_SCALE] =
			{not_judged, "reason=\"scale\"",
			 "Reviews allowed without being checked, by reason."},
		[METRICS_NOT_JUDGED_SUBRESOURCE] = {not_judged,
						    "reason=\"subresource\"",
						    NULL},
		[METRICS_NOT_JUDGED_OPERATION] = {not_judged,
						  "reason=\"operation\"", NULL},
		[METRICS_NOT_JUDGED_NO_PATCH] = {not_judged,
						 "reason=\"no_patch\"", NULL},
		[METRICS_NOT_JUDGED_INFRASTRUCTURE] =
			{not_judged, "reason=\"infrastructure\"", NULL},
	};

	for (size_t i = 0; i < METRICS_COUNTERS; i++) {
		if (table[i].help)
			family(out, table[i].name, "counter", table[i].help);
		buf_adds(out, table[i].name);
		if (table[i].label)
			buf_addf(out, "{%s}", table[i].label);
		buf_addf(out, " %" PRIu64 "\n", get(&m->counters[i]));
	}
}

static const char taken[] = "gpugate_last_reload_successful";

static void write_gauges(struct metrics *m, struct buf *out)
{
	static const struct {
		const char *name, *label, *help;
	} table[] = {
		[METRICS_CLUSTER_STATE_AGE] =
			{"gpugate_cluster_state_age_seconds", "",
			 "Age of the cluster state in use, or time spent waiting for the first one."},
		[METRICS_STATE_USED] =
			{"gpugate_cluster_state_used", "",
			 "Whether rules that need the cluster state run."},
		[METRICS_CERTIFICATE_EXPIRY] =
			{"gpugate_certificate_expiry_timestamp_seconds", "",
			 "When the server certificate in use expires."},
		[METRICS_CLIENT_CA_EXPIRY] =
			{"gpugate_client_ca_expiry_timestamp_seconds", "",
			 "When the last of the client CAs in use expires."},
		[METRICS_POLICY_RELOAD_SUCCESS] =
			{"gpugate_policy_last_reload_success_timestamp_seconds",
			 "", "When the policy in use was loaded."},
		[METRICS_POLICY_WARNINGS] =
			{"gpugate_policy_warnings", "",
			 "Warnings about the policy in use, such as rules that do not exist."},
		[METRICS_POLICY_TAKEN] =
			{taken, "{file=\"policy\"}",
			 "Whether the current content of the file is in use, not an earlier one."},
		[METRICS_CERTIFICATE_TAKEN] = {taken, "{file=\"certificate\"}",
					       NULL},
		[METRICS_CLIENT_CA_TAKEN] = {taken, "{file=\"client_ca\"}",
					     NULL},
		[METRICS_CONNECTIONS] = {"gpugate_connections", "",
					 "Connections that are open."},
	};

	for (size_t i = 0; i < METRICS_GAUGES; i++) {
		double value = atomic_load(&m->gauges[i]);

		if (table[i].help)
			family(out, table[i].name, "gauge", table[i].help);
		if (isnan(value) ||
		    (i == METRICS_CLUSTER_STATE_AGE && value < 0))
			continue;
		buf_addf(out, "%s%s ", table[i].name, table[i].label);
		add_double(out, value);
		buf_addc(out, '\n');
	}
}

static void unlock(void *lock)
{
	pthread_mutex_unlock(lock);
}

static void write_infos(struct metrics *m, struct buf *out)
{
	struct escape_guard guard;

	pthread_mutex_lock(&m->lock);
	escape_guard(&guard, unlock, &m->lock);
	family(out, "gpugate_build_info", "gauge", "The version, always 1.");
	buf_adds(out, "gpugate_build_info{");
	label(out, "version", m->version);
	end_count(out, 1);
	family(out, "gpugate_policy_info", "gauge",
	       "The policy in use, always 1.");
	if (*m->policy) {
		buf_adds(out, "gpugate_policy_info{");
		label(out, "hash", m->policy);
		end_count(out, 1);
	}
	family(out, "gpugate_exemption_expiry_timestamp_seconds", "gauge",
	       "When an exemption of the policy expires.");
	for (size_t i = 0; i < m->nexemptions; i++) {
		buf_adds(out, "gpugate_exemption_expiry_timestamp_seconds{");
		label(out, "name", m->exemptions[i].name);
		buf_addf(out, "} %" PRId64 "\n", m->exemptions[i].until);
	}
	escape_unguard(&guard);
	pthread_mutex_unlock(&m->lock);
}

static void write_objects(struct metrics *m, struct buf *out)
{
	struct escape_guard guard;

	family(out, "gpugate_cluster_objects", "gauge",
	       "Objects of the cluster state, of kinds that can be read.");
	pthread_mutex_lock(&m->lock);
	escape_guard(&guard, unlock, &m->lock);
	for (size_t i = 0; i < m->nobjects; i++) {
		const struct metrics_objects *o = &m->objects[i];

		buf_adds(out, "gpugate_cluster_objects{");
		label(out, "kind", o->kind);
		label(out, "group", o->group);
		end_count(out, o->n);
	}
	escape_unguard(&guard);
	pthread_mutex_unlock(&m->lock);
}

static void write_process(struct metrics *m, struct buf *out)
{
	struct process_figures f;

	process_read(&f);
	figure(out, "process_cpu_seconds_total", "counter",
	       "CPU time used, user and system.", f.cpu_seconds);
	figure(out, "process_resident_memory_bytes", "gauge",
	       "Resident memory.", f.resident_bytes);
	figure(out, "process_virtual_memory_bytes", "gauge", "Virtual memory.",
	       f.virtual_bytes);
	figure(out, "process_open_fds", "gauge",
	       "File descriptors that are open.", f.open_fds);
	figure(out, "process_max_fds", "gauge",
	       "Maximum number of open file descriptors.", f.max_fds);
	figure(out, "process_start_time_seconds", "gauge",
	       "When the process started.", m->start_time);
}

void metrics_write(struct metrics *m, struct buf *out)
{
	write_requests(m, out);
	write_durations(
		m, out, "gpugate_admission_duration_seconds", "",
		"Time from the end of a review's arrival to its answer.");
	write_findings(m, out);
	write_gpus(m, out);
	family(out, "gpugate_patches_total", "counter",
	       "Reviews whose object was patched for the rule.");
	write_rules(m, out, "gpugate_patches_total", m->patches, m->patching);
	family(out, "gpugate_rules_not_run", "gauge",
	       "Reviews since the start for which the rule was skipped because it lacked information.");
	write_rules(m, out, "gpugate_rules_not_run", m->not_run, m->bound);
	figure(out, "gpugate_in_flight", "gauge", "Reviews in flight.",
	       (double)atomic_load(&m->in_flight));
	write_counters(m, out);
	write_gauges(m, out);
	write_infos(m, out);
	write_objects(m, out);
	write_aliases(m, out);
	write_process(m, out);
}
