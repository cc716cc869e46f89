/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manages certificates in rounds. A round reads the webhook configurations,
 * then the Secret, and decides. It writes the Secret, loads the pair, and
 * writes the configurations. Every write names the version of the object that
 * was read. Configurations are read before the Secret: if another replica
 * changed one since, this replica's write to it fails, so that a bundle is
 * never replaced by an older one.
 *
 * Bundles are not written to the configurations while a step on the Secret is
 * due. A new CA counts as settled when two rounds, at least `settle` seconds of
 * monotonic time apart, have found it in all configurations and unchanged.
 *
 * A replica with a wrong clock issues nothing, because other replicas could not
 * use its certificates.
 */
#include "self_managed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "base/text.h"
#include "certs/disk.h"
#include "self_managed_internal.h"
#include "webhook/observe/monotonic.h"

enum {
	CONFIGS = 2,
	POLL_MS = 30000,
	SOON_MS = 300,	   /* wait after a change, before reading it back */
	UNREADY_MS = 2000, /* wait until the first certificate is served */
	/* maximum error of the clock; less than the backdating of
	 * certificates */
	CLOCK_SECONDS = 240,
};

struct self_managed {
	struct self_managed_options o;
	struct managed_link link;
	struct buf configs[CONFIGS], secret; /* paths of the objects */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	atomic_bool stop;
	_Atomic(const char *) not_ready;
	/* Fields of the thread. */
	/* The CA, and the versions of the configurations in which the last
	 * round found it. Empty if it is not in all of them. */
	struct buf settling;
	int64_t since;
	unsigned generation, failures;
	char problem[400]; /* problem that was logged last */
};

/* State of one round. */
struct round {
	json_t *configs[CONFIGS], *secret;
	bool known;	     /* the configurations could be read */
	int64_t begun, read; /* monotonic ms */
	struct buf bundles, versions, wanted;
	struct rotate_state state;
	struct rotate_report reported;
	bool changed; /* this replica wrote an object */
	bool missing; /* a configuration does not exist */
};

enum outcome { ROUND_DONE, ROUND_AGAIN, ROUND_FAILED };

/* --- reading -------------------------------------------------------------- */

static void round_begin(struct round *r)
{
	memset(r, 0, sizeof(*r));
	buf_init(&r->bundles);
	buf_init(&r->versions);
	buf_init(&r->wanted);
	rotate_state_init(&r->state);
	r->begun = monotonic_ms();
}

static void round_end(struct round *r)
{
	for (int i = 0; i < CONFIGS; i++)
		json_decref(r->configs[i]);
	managed_wipe(r->secret);
	buf_release(&r->bundles);
	buf_release(&r->versions);
	buf_release(&r->wanted);
	rotate_state_release(&r->state);
}

/* Reads the configurations. If that fails, the round continues, because a leaf
 * can still be renewed. */
static int read_configs(struct self_managed *m, struct round *r,
			struct err *err)
{
	for (int i = 0; i < CONFIGS; i++) {
		if (managed_read(&m->link, m->configs[i].data, &r->configs[i],
				 err))
			return -1;
		if (!r->configs[i]) {
			r->missing = true;
			buf_adds(&r->versions, "none ");
			continue;
		}
		hooks_bundles(r->configs[i], &r->bundles);
		hooks_version(r->configs[i], &r->versions);
	}
	r->read = monotonic_ms();
	r->known = true;
	return 0;
}

static enum outcome read_secret(struct self_managed *m, struct round *r,
				struct err *err)
{
	enum change change;

	if (managed_read(&m->link, m->secret.data, &r->secret, err))
		return ROUND_FAILED;
	if (r->secret) {
		secret_state(r->secret, &r->state);
		return ROUND_DONE;
	}
	change = secret_create(&m->link, m->secret.data, err);
	if (change == CHANGE_FAILED) {
		err_wrap(err,
			 "the Secret %s/%s does not exist (an empty one is "
			 "enough) and cannot be created",
			 m->o.namespace, m->o.secret);
		return ROUND_FAILED;
	}
	log_say(m->o.log, LOG_WARN,
		"the Secret %s/%s did not exist and was created",
		m->o.namespace, m->o.secret);
	return ROUND_AGAIN;
}

/* --- deciding ------------------------------------------------------------- */

static bool is_published(struct round *r)
{
	if (!r->known || rotate_bundle(&r->state, &r->wanted, NULL) ||
	    !r->wanted.len)
		return false;
	for (int i = 0; i < CONFIGS; i++)
		if (r->configs[i] && !hooks_have(r->configs[i], &r->wanted))
			return false;
	return true;
}

static bool is_settled(struct self_managed *m, struct round *r, bool published)
{
	struct escape_guard guard;
	struct buf now;
	bool same;

	buf_init(&now);
	escape_guard(&guard, buf_drop, &now);
	if (published) {
		buf_add(&now, r->versions.data, r->versions.len);
		buf_add(&now, r->state.ca.cert.data, r->state.ca.cert.len);
	}
	escape_unguard(&guard);
	same = published && now.len == m->settling.len &&
	       !memcmp(now.data, m->settling.data, now.len);
	buf_release(&m->settling);
	m->settling = now;
	if (same)
		return r->begun - m->since >= (int64_t)m->o.settle * 1000;
	m->since = r->read;
	return false;
}

static int decide(struct self_managed *m, struct round *r, struct err *err)
{
	bool published = is_published(r);
	struct rotate_ask ask = {
		.names = m->o.names,
		.now = time(NULL),
		.ca_life = m->o.ca_life,
		.leaf_life = m->o.leaf_life,
		.bundles = r->known ? &r->bundles : NULL,
		.published = published,
		.settled = is_settled(m, r, published),
	};

	return rotate(&r->state, &ask, &r->reported, err);
}

/* --- writing -------------------------------------------------------------- */

/* Compares the clock with the API server's, which is in an object that every
 * user may request. If that object cannot be read, the clock is trusted. */
static int check_clock(struct self_managed *m, struct err *err)
{
	static const char body[] =
		"{\"apiVersion\":\"authentication.k8s.io/v1\","
		"\"kind\":\"SelfSubjectReview\"}";
	struct api_call call = {
		.method = "POST",
		.path = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		.body = body,
		.len = sizeof(body) - 1,
		.stop = &m->stop,
	};
	int64_t theirs = -1, wrong;
	struct escape_guard guard;
	struct api_reply reply;
	json_t *object = NULL;

	managed_guard(&guard, &reply);
	if (!api_request(m->o.api, &call, &reply, NULL) && reply.status == 201)
		object = json_loadb(reply.body.data, reply.body.len, 0, NULL);
	theirs = managed_time(json_string_value(json_object_get(
		json_object_get(object, "metadata"), "creationTimestamp")));
	json_decref(object);
	escape_unguard(&guard);
	buf_release(&reply.body);
	wrong = theirs < 0 ? 0 : (int64_t)time(NULL) - theirs;
	if (wrong <= CLOCK_SECONDS && wrong >= -CLOCK_SECONDS)
		return 0;
	return err_set(err, 0,
		       "nothing is issued: this clock is %lld s %s that of "
		       "the API server",
		       (long long)llabs(wrong),
		       wrong > 0 ? "ahead of" : "behind");
}

static void report_steps(struct self_managed *m,
			 const struct rotate_report *reported)
{
	if (reported->steps & ROTATE_NEW_CA)
		log_say(m->o.log, LOG_INFO, "a new CA was issued%s%s",
			reported->ca.set ? "; the previous one: " : "",
			reported->ca.set ? reported->ca.text : "");
	if (reported->steps & ROTATE_ADOPT)
		log_say(m->o.log, LOG_WARN,
			"the webhook configurations trust CAs that the Secret "
			"does not contain; they stay trusted for now");
	if (reported->steps & ROTATE_NEW_LEAF)
		log_say(m->o.log, LOG_INFO, "a new certificate was issued%s%s",
			reported->leaf.set ? "; the previous one: " : "",
			reported->leaf.set ? reported->leaf.text : "");
	if (reported->steps & ROTATE_DROP_OLD)
		log_say(m->o.log, LOG_INFO, "old CAs are no longer trusted");
}

static enum outcome store(struct self_managed *m, struct round *r,
			  struct err *err)
{
	static const enum outcome outcomes[] = {
		[CHANGE_DONE] = ROUND_DONE,
		[CHANGE_CONFLICT] = ROUND_AGAIN,
		[CHANGE_FAILED] = ROUND_FAILED,
	};
	enum change change;

	if (!r->reported.steps)
		return ROUND_DONE;
	if (check_clock(m, err))
		return ROUND_FAILED;
	secret_set(r->secret, &r->state);
	change = secret_write(&m->link, m->secret.data, r->secret, err);
	if (change == CHANGE_DONE) {
		r->changed = true;
		report_steps(m, &r->reported);
	}
	return outcomes[change];
}

static int load(struct self_managed *m, struct round *r, struct err *err)
{
	if (!r->reported.serve)
		return 0;
	if (key_store_load_pem(m->o.keys, &r->state.leaf.cert,
			       &r->state.leaf.key, err))
		return -1;
	key_store_report(m->o.keys, &m->generation, m->o.log, m->o.metrics);
	return 0;
}

static enum outcome publish(struct self_managed *m, struct round *r,
			    struct err *err)
{
	enum change change;

	buf_reset(&r->wanted);
	if (rotate_bundle(&r->state, &r->wanted, err))
		return ROUND_FAILED;
	for (int i = 0; i < CONFIGS; i++) {
		if (!r->configs[i] || hooks_have(r->configs[i], &r->wanted))
			continue;
		change = hooks_write(&m->link, m->configs[i].data,
				     r->configs[i], &r->wanted, err);
		if (change == CHANGE_CONFLICT)
			return ROUND_AGAIN;
		if (change == CHANGE_FAILED)
			return ROUND_FAILED;
		r->changed = true;
		log_event(m->o.log, LOG_INFO, "the caBundle is written",
			  &(struct log_field){"path", m->configs[i].data, 0},
			  1);
	}
	return ROUND_DONE;
}

/* Updates the reason why the replica is not ready. Once ready, it stays ready:
 * serving is better than not serving, whatever fails later. */
static void report_ready(struct self_managed *m, struct round *r)
{
	if (!atomic_load(&m->not_ready))
		return;
	if (!r->configs[0] && !r->configs[1])
		atomic_store(
			&m->not_ready,
			"certificates: the webhook configuration does not exist");
	else if (!key_store_ready(m->o.keys))
		atomic_store(
			&m->not_ready,
			r->reported.waiting
				? "certificates: waiting until API servers "
				  "know the new CA"
				: "certificates: none is valid now");
	else
		atomic_store(&m->not_ready, NULL);
}

static enum outcome reconcile_once(struct self_managed *m, struct round *r,
				   struct err *err)
{
	struct err unread = {0};
	enum outcome outcome;
	int rc;

	rc = read_configs(m, r, &unread);
	outcome = read_secret(m, r, err);
	if (outcome != ROUND_DONE)
		return outcome;
	if (decide(m, r, err))
		return ROUND_FAILED;
	outcome = store(m, r, err);
	if (outcome != ROUND_DONE)
		return outcome;
	if (load(m, r, err))
		return ROUND_FAILED;
	if (rc) {
		*err = unread;
		return ROUND_FAILED;
	}
	outcome = publish(m, r, err);
	if (outcome == ROUND_DONE)
		report_ready(m, r);
	return outcome;
}

/* --- waiting -------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Returns the time for which a change of the Secret may stay unnoticed;
 * certificates with a short life need a short time. */
static int64_t poll_ms(const struct self_managed *m)
{
	int64_t share = m->o.leaf_life * 1000 / 30;

	return share < 1000 ? 1000 : least(share, POLL_MS);
}

static int64_t wait_done(struct self_managed *m, const struct round *r)
{
	int64_t wait = poll_ms(m), left, due;

	if (atomic_load(&m->not_ready) || r->missing)
		wait = least(wait, UNREADY_MS);
	if (r->changed)
		wait = least(wait, SOON_MS);
	if (r->reported.waiting && m->settling.len) {
		left = m->since + (int64_t)m->o.settle * 1000 - monotonic_ms();
		wait = least(wait, left < SOON_MS ? SOON_MS : left);
	}
	due = r->reported.next - time(NULL);
	if (due < wait / 1000)
		wait = due < 1 ? least(wait, 1000) : due * 1000;
	return wait;
}

/* Returns the wait until the next round, with a random part, so that replicas
 * that started together do not run at the same time. */
static int64_t wait_ms(struct self_managed *m, const struct round *r,
		       enum outcome outcome)
{
	int64_t wait, now = monotonic_ms();

	m->failures = outcome == ROUND_DONE ? 0 : m->failures + 1;
	if (outcome == ROUND_DONE)
		wait = wait_done(m, r);
	else if (outcome == ROUND_AGAIN)
		wait = m->failures < 5 ? 100 * m->failures : poll_ms(m);
	else
		wait = m->failures < 6 ? least(500 << m->failures, poll_ms(m))
				       : poll_ms(m);
	/* The hash has another key in each process, so the waits of replicas
	 * differ. */
	return wait + (int64_t)(text_keyed_hash(&now, sizeof(now)) %
				(uint64_t)(wait / 5 + 50));
}

static void wait_or_stop(struct self_managed *m, int64_t ms)
{
	int64_t until = monotonic_ms() + ms;
	struct timespec ts = {until / 1000, until % 1000 * 1000000};

	pthread_mutex_lock(&m->lock);
	while (!atomic_load(&m->stop) &&
	       !pthread_cond_timedwait(&m->wake, &m->lock, &ts))
		;
	pthread_mutex_unlock(&m->lock);
}

/* Logs a problem once, until it changes or ends. */
static void report_failure(struct self_managed *m, enum outcome outcome,
			   const struct err *err)
{
	if (outcome == ROUND_AGAIN || atomic_load(&m->stop))
		return;
	if (outcome == ROUND_DONE) {
		if (*m->problem)
			log_say(m->o.log, LOG_INFO,
				"certificates are managed again");
		*m->problem = '\0';
		return;
	}
	metrics_add(m->o.metrics, METRICS_CERTIFICATE_RELOAD_FAILURES, 1);
	if (!strcmp(m->problem, err->text))
		return;
	snprintf(m->problem, sizeof(m->problem), "%s", err->text);
	log_say(m->o.log, LOG_ERROR, "certificates: %s", err->text);
}

struct work {
	struct self_managed *m;
	struct round round;
	struct err err;
	enum outcome outcome;
};

static void work(void *context)
{
	struct work *w = context;

	w->outcome = reconcile_once(w->m, &w->round, &w->err);
}

static void *run(void *context)
{
	struct self_managed *m = context;

	while (!atomic_load(&m->stop)) {
		struct work w = {.m = m, .outcome = ROUND_FAILED};
		int64_t wait;

		round_begin(&w.round);
		if (escape_run(work, &w, NULL) != ESCAPE_NONE) {
			w.err = (struct err){0};
			err_set(&w.err, 0, "out of memory");
		}
		report_failure(m, w.outcome, &w.err);
		wait = wait_ms(m, &w.round, w.outcome);
		round_end(&w.round);
		wait_or_stop(m, wait);
	}
	return NULL;
}

/* --- start and end -------------------------------------------------------- */

static struct self_managed *create(const struct self_managed_options *options)
{
	static const char *const kinds[CONFIGS] = {
		"mutatingwebhookconfigurations",
		"validatingwebhookconfigurations"};
	struct self_managed *m = calloc(1, sizeof(*m));
	pthread_condattr_t attr;

	if (!m)
		OUT_OF_MEMORY();
	m->o = *options;
	m->link = (struct managed_link){options->api, &m->stop};
	for (int i = 0; i < CONFIGS; i++) {
		buf_init(&m->configs[i]);
		buf_addf(&m->configs[i],
			 "/apis/admissionregistration.k8s.io/v1/%s/%s",
			 kinds[i], options->webhook_config);
	}
	buf_init(&m->secret);
	buf_addf(&m->secret, "/api/v1/namespaces/%s/secrets/%s",
		 options->namespace, options->secret);
	buf_init(&m->settling);
	pthread_mutex_init(&m->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&m->wake, &attr);
	pthread_condattr_destroy(&attr);
	atomic_store(&m->not_ready, "certificates: none yet");
	return m;
}

static void release(struct self_managed *m)
{
	for (int i = 0; i < CONFIGS; i++)
		buf_release(&m->configs[i]);
	buf_release(&m->secret);
	buf_release(&m->settling);
	pthread_cond_destroy(&m->wake);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/* Returns true if the name may be part of a path. */
static bool is_name(const char *text)
{
	return text && text_is_subdomain(text, strlen(text));
}

struct self_managed *
self_managed_start(const struct self_managed_options *options, struct err *err)
{
	struct self_managed *m;

	if (!is_name(options->namespace) || !is_name(options->secret) ||
	    !is_name(options->webhook_config)) {
		err_set(err, 0,
			"namespace, Secret and webhook configuration need "
			"names of Kubernetes objects");
		return NULL;
	}
	m = create(options);
	if (!pthread_create(&m->thread, NULL, run, m))
		return m;
	err_set(err, 0, "no thread for the certificates");
	release(m);
	return NULL;
}

void self_managed_stop(struct self_managed *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	atomic_store(&m->stop, true);
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	release(m);
}

const char *self_managed_not_ready(const struct self_managed *m)
{
	return atomic_load(&m->not_ready);
}
