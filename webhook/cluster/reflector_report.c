/* SPDX-License-Identifier: Apache-2.0 */
/* Logs failures of feeds that last, and repeats the lines from time to time. */
#include "reflector.h"

enum { REPEAT_MS = 300000 }; /* time between two lines about the same failure */

/* Logs only once, not for each kind, that the server does not respond. */
static void report_unreached(struct feed *feed, int64_t now)
{
	struct feeds *all = feed->all;
	struct log_field fields[] = {
		{"server", api_server(all->options->api), 0},
		{"reason", feed->err.text, 0},
	};

	if (!all->away_since)
		all->away_since = now;
	if (all->away_logged && now - all->away_logged < REPEAT_MS)
		return;
	all->away_logged = now;
	log_event(all->options->log, LOG_WARN,
		  "cluster state: the API server does not answer", fields, 2);
}

void reflector_report(struct feed *feed, int64_t now)
{
	struct log_field fields[] = {
		{"kind", cluster_resource(feed->kind)->kind, 0},
		{"group", cluster_resource(feed->kind)->group, 0},
		{"reason", feed->err.text, 0},
		{"retry_ms", NULL, feed->due - now},
	};

	if (feed->unreached) {
		/* The first broken connection is not logged. */
		if (feed->failures > 1 || !feed->listed)
			report_unreached(feed, now);
		return;
	}
	if (feed->refusals < FEED_HICCUPS ||
	    (feed->out_since && now - feed->out_since < REPEAT_MS))
		return;
	feed->out_since = now;
	log_event(feed->all->options->log, LOG_WARN,
		  "cluster state: cannot read a kind", fields, 4);
}

void feeds_count_memory(struct feeds *all)
{
	metrics_add(all->options->metrics, METRICS_CLUSTER_OUT_OF_MEMORY, 1);
	all->failures++;
}

void feeds_report_answer(struct feeds *all, int64_t now)
{
	if (all->away_logged)
		log_event(all->options->log, LOG_INFO,
			  "cluster state: the API server answers again",
			  (struct log_field[]){
				  {"server", api_server(all->options->api), 0},
				  {"seconds", NULL,
				   (now - all->away_since) / 1000},
			  },
			  2);
	if (all->away_since)
		all->back_since = now;
	all->away_since = all->away_logged = 0;
}
