/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the cluster state comes from: a file that `gpugate snapshot`
 * wrote (read again when it changes), an API server (list and watch), or
 * nowhere.
 */
#ifndef WEBHOOK_STATE_H
#define WEBHOOK_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "live.h"
#include "webhook/admission/admission.h"
#include "webhook/observe/watch.h"

struct api;

struct state {
	const char *file;	 /* path, or NULL */
	const char *kubeconfig;	 /* path, or NULL */
	const char *live_wanted; /* "auto", "on", "off" */
	struct admission *admission;
	struct log *log;
	struct metrics *metrics;
	/* its own: */
	struct api *api; /* also for --self-managed */
	struct live *live;
	struct watch *watch;	    /* of the file */
	int64_t taken_at;	    /* of the file's state; 0: there is none */
	bool again;		    /* it was not read for lack of memory */
	int64_t next_try;	    /* then; monotonic seconds */
	bool ahead;		    /* which is in the future: it is not used */
	const char *_Atomic unused; /* why, or NULL */
	int64_t unused_since;	    /* monotonic seconds */
};

/* Before there are threads. Without a file and a kubeconfig it uses the service
 * account of the pod, if there is one; with live "on" there has to be an API
 * server. -1 after the reason is logged. */
int state_open(struct state *state);
/* Once admission is set. As above. */
int state_start(struct state *state);
/* Look whether the file changed; each second, for the age. */
void state_poll(struct state *state);
/* Why rules that need a state do not run; NULL: they do, or none was asked
 * for. Any thread. */
const char *state_unused(const struct state *state);
/* NULL, or what the first state is waited for. Any thread. */
const char *state_not_ready(const struct state *state);
/*
 * True if the process is a client of an API server. The sandbox depends on it.
 */
bool state_asks(const struct state *state);
void state_release(struct state *state);

#endif
