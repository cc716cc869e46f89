/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the door's cluster state comes from: a file that `gpugate snapshot`
 * wrote (read again when it changes), an API server (list and watch), or
 * nowhere.
 */
#ifndef WEBHOOK_STATE_H
#define WEBHOOK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "webhook/door.h"
#include "webhook/live.h"
#include "webhook/watch.h"

struct api;

struct state {
	const char *file;	 /* path, or NULL */
	const char *kubeconfig;	 /* path, or NULL */
	const char *live_wanted; /* "auto", "on", "off" */
	struct door *door;
	struct log *log;
	struct metrics *metrics;
	/* its own: */
	struct api *api; /* of whoever needs one, too */
	struct live *live;
	struct watch *watch; /* of the file */
	int64_t taken_at;    /* of the file's state; 0: there is none */
	bool ahead;	     /* which is in the future: it is not used */
};

/* Before there are threads, since it may fork a helper. Without a file and a
 * kubeconfig it looks whether we are in a pod that may ask; with live "on"
 * there has to be somebody to ask. -1 after what was wrong is on the log. */
int state_open(struct state *state);
/* With the door. As above. */
int state_start(struct state *state);
/* Look whether the file changed; each second, for the age. */
void state_poll(struct state *state);
/* NULL, or what the first state is waited for. Any thread. */
const char *state_not_ready(const struct state *state);
/* Does the process go on asking an API server? The sandbox must know. */
bool state_asks(const struct state *state);
void state_release(struct state *state);

#endif
