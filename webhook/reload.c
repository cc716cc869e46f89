/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads files on the main thread, while reviews continue with the files loaded
 * before. Certificates are also checked each minute, because they become valid
 * and expire; a problem is logged once, until it changes.
 */
#include "serve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "base/escape.h"
#include "base/text.h"
#include "webhook/observe/monotonic.h"

enum { LOOK_SECONDS = 60, DAY = 86400 };

/* --- the policy ----------------------------------------------------------- */

static void watch_policy(struct reload *r)
{
	const char **paths =
		ARENA_ARRAY(&r->folders_arena, const char *, r->nfolders + 2);
	struct watch *watch;

	paths[0] = r->policy;
	if (r->nfolders)
		memcpy(paths + 1, r->folders, r->nfolders * sizeof(*paths));
	watch = r->policy ? watch_new(paths) : NULL;
	watch_free(r->watches[RELOAD_POLICY]);
	r->watches[RELOAD_POLICY] = watch;
	r->nwatched = r->nfolders;
}

static void report_problems(struct reload *r,
			    const struct policy_problems *problems)
{
	for (size_t i = 0; i < problems->n; i++) {
		const struct policy_problem *p = &problems->items[i];
		enum log_level level = p->warning ? LOG_WARN : LOG_ERROR;

		if (p->line)
			log_say(r->log, level, "%s:%u:%u: %s", p->file, p->line,
				p->column, p->text);
		else
			log_say(r->log, level, "%s: %s", p->file, p->text);
	}
}

static void set_exemptions(struct reload *r, const struct policy *policy)
{
	struct metrics_exemption *items = NULL;
	struct policy_exemption exemption;
	struct arena arena = ARENA_INIT;
	size_t n = 0, size = 0;

	/* The last day still counts, so the end is the start of the next
	 * day. */
	while (policy_exemption_ending(policy, n, &exemption))
		*VEC_PUSH(&arena, items, n, size) = (struct metrics_exemption){
			.name = exemption.from,
			.until = (exemption.until + 1) * DAY,
		};
	metrics_set_exemptions(r->metrics, items, n);
	arena_release(&arena);
}

static void drop_policy(void *policy)
{
	policy_free(policy);
}

/* Makes the policy effective, and logs it unless the same policy was logged
 * last. Admission owns the policy from then on. */
static void take_policy(struct reload *r, struct policy *policy)
{
	static const char *const modes[] = {
		[MODE_AUDIT] = "audit",
		[MODE_WARN] = "warn",
		[MODE_ENFORCE] = "enforce",
	};
	uint64_t hash = policy_hash(policy);
	enum mode mode = policy_mode(policy);
	struct escape_guard guard;
	char text[17];

	if (policy_asks_namespaces(policy) && !r->knows_namespaces)
		log_say(r->log, LOG_WARN,
			"overrides with namespaceLabels never match: labels of namespaces are known only with --cluster or --live on");
	escape_guard(&guard, drop_policy, policy);
	admission_set_policy(r->admission, policy);
	escape_unguard(&guard);
	set_exemptions(r, policy);
	metrics_set(r->metrics, METRICS_POLICY_TAKEN, 1);
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)hash);
	metrics_set_policy(r->metrics, text);
	metrics_set(r->metrics, METRICS_POLICY_RELOAD_SUCCESS,
		    (double)time(NULL));
	if (r->reported && hash == r->hash)
		return;
	r->hash = hash;
	r->reported = true;
	log_event(r->log, LOG_INFO, "policy in use",
		  (struct log_field[]){
			  {"policy", r->policy ? r->policy : "recommended", 0},
			  {"hash", text, 0},
			  {"mode", modes[mode], 0},
		  },
		  3);
}

static void note_folder(void *context, const char *folder)
{
	struct reload *r = context;
	const char *copy;

	for (size_t i = 0; i < r->nfolders; i++)
		if (text_eq(r->folders[i], folder))
			return;
	copy = arena_strdup(&r->folders_arena, folder);
	*VEC_PUSH(&r->folders_arena, r->folders, r->nfolders, r->folders_size) =
		copy;
}

/* Reads the policy. Watches the folders of the rules that the policy names; new
 * folders are watched before they are read. */
static struct policy *read_policy(struct reload *r,
				  struct policy_problems *problems)
{
	struct policy_options options = {
		.admission = true, .looks_into = note_folder, .context = r};
	struct policy *policy =
		policy_load(&r->rules, r->policy, &options, problems);

	if (r->nfolders == r->nwatched)
		return policy;
	policy_free(policy);
	policy_problems_release(problems);
	watch_policy(r);
	return policy_load(&r->rules, r->policy, &options, problems);
}

struct policy_work {
	struct reload *reload;
	struct policy_problems problems;
	bool taken;
};

static void work_on_policy(void *context)
{
	struct policy_work *work = context;
	struct reload *r = work->reload;
	struct policy *policy = r->policy ? read_policy(r, &work->problems)
					  : policy_default(&r->rules, NULL);

	report_problems(r, &work->problems);
	if (policy) {
		/* A policy with errors is never effective, so all problems here
		 * are warnings. */
		metrics_set(r->metrics, METRICS_POLICY_WARNINGS,
			    (double)work->problems.n);
		take_policy(r, policy);
	}
	work->taken = policy != NULL;
}

static int load_policy(struct reload *r)
{
	struct policy_work work = {.reload = r};
	enum escape why = escape_run(work_on_policy, &work, NULL);

	policy_problems_release(&work.problems);
	r->again = why != ESCAPE_NONE;
	if (!r->again && work.taken)
		return 0;
	r->reported = false;
	metrics_set(r->metrics, METRICS_POLICY_TAKEN, 0);
	metrics_add(r->metrics, METRICS_POLICY_RELOAD_FAILURES, 1);
	log_say(r->log, LOG_ERROR, "%s: policy is not used%s%s",
		r->policy ? r->policy : "recommended",
		r->again ? ": out of memory" : "",
		admission_has_policy(r->admission) ? "; the last good one stays"
						   : "");
	return -1;
}

/* --- the certificate ------------------------------------------------------ */

/* A load of one file, which is interrupted if memory runs out. */
struct file_work {
	struct reload *reload;
	int (*load)(struct reload *r, struct err *err);
	struct err *err;
	int rc;
};

static void work_on_file(void *context)
{
	struct file_work *work = context;

	work->rc = work->load(work->reload, work->err);
}

static int load_guarded(struct reload *r,
			int (*load)(struct reload *r, struct err *err),
			struct err *err)
{
	struct file_work work = {.reload = r, .load = load, .err = err};

	if (escape_run(work_on_file, &work, NULL) == ESCAPE_NONE)
		return work.rc;
	*err = (struct err){0};
	return err_set(err, ENOMEM, "out of memory");
}

struct loaded_file {
	const char *what;
	enum metrics_gauge taken;
	enum metrics_counter failures;
	char *problem; /* PROBLEM_BYTES long */
	bool stays;    /* the version loaded before stays in use */
};

/* Records the result of a load in the metrics and in the log. A problem that
 * was logged before is logged again only if again is set. */
static int settle(struct reload *r, const struct loaded_file *file, int rc,
		  const struct err *err, bool again)
{
	metrics_set(r->metrics, file->taken, !rc);
	if (!rc) {
		*file->problem = '\0';
		return 0;
	}
	if (!again && !strcmp(file->problem, err->text))
		return -1;
	snprintf(file->problem, PROBLEM_BYTES, "%s", err->text);
	metrics_add(r->metrics, file->failures, 1);
	log_say(r->log, LOG_ERROR, "%s is not used: %s%s", file->what,
		err->text, file->stays ? "; the last good one stays" : "");
	return -1;
}

static int read_certificate(struct reload *r, struct err *err)
{
	int rc = key_store_load(r->keys, r->cert, r->key, err);

	key_store_report(r->keys, &r->generation, r->log, r->metrics);
	return rc;
}

static int load_certificate(struct reload *r, bool again)
{
	const struct loaded_file file = {
		.what = "certificate",
		.taken = METRICS_CERTIFICATE_TAKEN,
		.failures = METRICS_CERTIFICATE_RELOAD_FAILURES,
		.problem = r->problem,
	};
	struct err err = {0};
	int rc;

	if (!r->cert)
		return 0;
	rc = load_guarded(r, read_certificate, &err);
	return settle(r, &file, rc, &err, again);
}

/* --- the client CA -------------------------------------------------------- */

static void report_client_ca(struct reload *r)
{
	unsigned generation = client_ca_generation(r->client_ca);
	struct buf text;

	if (generation == r->ca_generation)
		return;
	r->ca_generation = generation;
	metrics_set(r->metrics, METRICS_CLIENT_CA_EXPIRY,
		    (double)client_ca_expiry(r->client_ca));
	buf_init(&text);
	client_ca_describe(r->client_ca, &text);
	log_say(r->log,
		client_ca_expiry(r->client_ca) < time(NULL) ? LOG_ERROR
							    : LOG_INFO,
		"client CA in use: %s: %s", r->ca, text.data);
	buf_release(&text);
}

static int read_client_ca(struct reload *r, struct err *err)
{
	int rc = client_ca_load(r->client_ca, r->ca, err);

	report_client_ca(r);
	return rc;
}

static int load_client_ca(struct reload *r, bool again)
{
	struct loaded_file file = {
		.what = "client CA",
		.taken = METRICS_CLIENT_CA_TAKEN,
		.failures = METRICS_CLIENT_CA_RELOAD_FAILURES,
		.problem = r->ca_problem,
	};
	struct err err = {0};
	int rc;

	if (!r->ca)
		return 0;
	rc = load_guarded(r, read_client_ca, &err);
	file.stays = r->ca_generation;
	return settle(r, &file, rc, &err, again);
}

/* --- all ------------------------------------------------------------------ */

static struct watch *watch_files(const char *one, const char *other)
{
	const char *paths[] = {one, other, NULL};

	return one ? watch_new(paths) : NULL;
}

int reload_start(struct reload *r)
{
	int rc;

	/* Files are watched before they are read, so that no change in between
	 * is missed. */
	watch_policy(r);
	r->watches[RELOAD_KEYS] = watch_files(r->cert, r->key);
	r->watches[RELOAD_CA] = watch_files(r->ca, NULL);
	rc = load_policy(r);
	rc |= load_certificate(r, true);
	return rc | load_client_ca(r, true);
}

void reload_release(struct reload *r)
{
	for (int i = 0; i < RELOAD_WATCHES; i++) {
		watch_free(r->watches[i]);
		r->watches[i] = NULL;
	}
	arena_release(&r->folders_arena);
	r->folders = NULL;
	r->nfolders = r->nwatched = r->folders_size = 0;
}

void reload_now(struct reload *r)
{
	load_policy(r);
	load_certificate(r, true);
	load_client_ca(r, true);
}

static bool has_changed(struct watch *watch)
{
	return watch && watch_changed(watch);
}

void reload_poll(struct reload *r)
{
	bool key = has_changed(r->watches[RELOAD_KEYS]),
	     ca = has_changed(r->watches[RELOAD_CA]);
	bool due = monotonic_seconds() >= r->next_look;

	if (has_changed(r->watches[RELOAD_POLICY]) || (due && r->again))
		load_policy(r);
	if (key || due)
		load_certificate(r, key);
	if (ca || due)
		load_client_ca(r, ca);
	if (due)
		r->next_look = monotonic_seconds() + LOOK_SECONDS;
}

int reload_wait(const struct reload *r)
{
	int wait = LOOK_SECONDS * 1000;

	for (int i = 0; i < RELOAD_WATCHES; i++)
		if (r->watches[i] && watch_wait(r->watches[i]) < wait)
			wait = watch_wait(r->watches[i]);
	return wait;
}
