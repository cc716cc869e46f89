/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads files with cluster states, each once. They are stored in a list,
 * because they are few.
 */
#include "settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/err.h"
#include "base/path.h"
#include "lint/files/files.h"
#include "lint/term/log.h"

enum { SPAN = 32 };

static void warn(void *context, const char *text)
{
	log_line("cluster snapshot %s:%s", (const char *)context, text);
}

static void admission_problem(void *context,
			      const struct admission_remark *remark)
{
	log_line("warning: cluster snapshot %s: %s", (const char *)context,
		 remark->text);
}

static void no_problem(void *context, const struct admission_remark *remark)
{
	(void)context;
	(void)remark;
}

/* Compiles the policies of a snapshot. The API server has accepted them, so an
 * expression that does not compile here is skipped. */
static struct admission_policies *
read_admission(const struct clusters *clusters,
	       const struct cluster_entry *entry)
{
	const char *list = cluster_admission(entry->cluster);
	const struct admission_listener listener = {
		.problem = clusters->quiet ? no_problem : admission_problem,
		.context = entry->path,
	};
	struct admission_policies *set;

	if (!list)
		return NULL;
	set = admission_policies_new();
	admission_policies_add_saved(set, entry->path, list, &listener);
	admission_policies_finish(set, &listener);
	return set;
}

/* Loads a snapshot. named is true if the user named it on the command line. */
static struct cluster_entry *load(struct clusters *clusters, const char *path,
				  bool named)
{
	struct cluster_entry entry = {.path = strdup(path)};
	struct err err = {0};

	if (!entry.path)
		OUT_OF_MEMORY();
	entry.cluster = cluster_load(path, named, clusters->quiet ? NULL : warn,
				     entry.path, &err);
	if (!entry.cluster) {
		clusters->failed = true;
		if (err.line)
			log_line("%s (line %u, column %u)", err.text, err.line,
				 err.column);
		else
			log_line("%s", err.text);
	} else {
		entry.admission = read_admission(clusters, &entry);
	}
	*ARRAY_PUSH(clusters->items, clusters->n, clusters->size) = entry;
	return &clusters->items[clusters->n - 1];
}

/* Returns the state in a file, which is read once; NULL after a message. */
static const struct cluster *get(struct clusters *clusters, const char *path,
				 bool named)
{
	const struct cluster_entry *entry = NULL;
	const struct cluster *cluster;

	pthread_mutex_lock(&clusters->lock);
	for (size_t i = 0; i < clusters->n && !entry; i++)
		if (!strcmp(clusters->items[i].path, path))
			entry = &clusters->items[i];
	if (!entry)
		entry = load(clusters, path, named);
	cluster = entry->cluster;
	pthread_mutex_unlock(&clusters->lock);
	return cluster;
}

const struct cluster *clusters_for_file(struct clusters *clusters,
					const struct policies *policies,
					uint32_t policy, const char *path)
{
	const struct cluster *cluster;
	struct buf joined;

	if (clusters->common || !path)
		return clusters->common;
	buf_init(&joined);
	path_absolute(policies->items[policy].folder, path, &joined);
	cluster = get(clusters, joined.data, false);
	buf_release(&joined);
	return cluster;
}

const struct admission_policies *
clusters_admission(struct clusters *clusters, const struct cluster *cluster)
{
	const struct admission_policies *found = NULL;

	if (!cluster)
		return NULL;
	pthread_mutex_lock(&clusters->lock);
	for (size_t i = 0; i < clusters->n && !found; i++)
		if (clusters->items[i].cluster == cluster)
			found = clusters->items[i].admission;
	pthread_mutex_unlock(&clusters->lock);
	return found;
}

/* Adds the state of a cluster that was read without a file. */
static void add_asked(struct clusters *clusters, const struct cluster *cluster)
{
	struct cluster_entry entry = {.path = strdup("from kubectl"),
				      .cluster = cluster_get(cluster)};

	if (!entry.path)
		OUT_OF_MEMORY();
	entry.admission = read_admission(clusters, &entry);
	*ARRAY_PUSH(clusters->items, clusters->n, clusters->size) = entry;
	clusters->common = entry.cluster;
}

int clusters_init(struct clusters *clusters, const struct options *options)
{
	const char *path = options->cluster;

	memset(clusters, 0, sizeof(*clusters));
	pthread_mutex_init(&clusters->lock, NULL);
	clusters->now = (int64_t)time(NULL);
	clusters->quiet = options->quiet > 0;
	if (path)
		clusters->common =
			get(clusters, strcmp(path, "-") ? path : "/dev/stdin",
			    true);
	else if (options->asked)
		add_asked(clusters, options->asked);
	return clusters->failed ? 2 : 0;
}

void clusters_release(struct clusters *clusters)
{
	for (size_t i = 0; i < clusters->n; i++) {
		cluster_put(clusters->items[i].cluster);
		admission_policies_free(clusters->items[i].admission);
		free(clusters->items[i].path);
	}
	free(clusters->items);
	pthread_mutex_destroy(&clusters->lock);
}

/* Returns a time span such as "50 min" or "3 h", with at least two of the
 * unit. */
static const char *span(int64_t seconds, char text[SPAN])
{
	static const struct {
		int64_t seconds;
		const char *name;
	} units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
	size_t i = 0;

	while (i < 3 && seconds < 2 * units[i].seconds)
		i++;
	snprintf(text, SPAN, "%" PRId64 " %s", seconds / units[i].seconds,
		 units[i].name);
	return text;
}

static void tell_old(const struct clusters *clusters,
		     struct cluster_entry *entry, int64_t max)
{
	int64_t age = clusters->now - cluster_taken_at(entry->cluster);
	char old[SPAN], most[SPAN];

	if (entry->reported_old)
		return;
	entry->reported_old = true;
	if (age < 0)
		log_line(
			"warning: the time of cluster snapshot %s is %s in the future: rules that need it are skipped",
			entry->path, span(-age, old));
	else
		log_line(
			"warning: cluster snapshot %s is %s old, but the policy's maxAge is %s: rules that need it are skipped",
			entry->path, span(age, old), span(max, most));
}

bool clusters_is_old(const struct clusters *clusters,
		     const struct cluster *cluster, int64_t max)
{
	return cluster_is_ahead(cluster, clusters->now) ||
	       (max && clusters->now - cluster_taken_at(cluster) > max);
}

void clusters_check_age(struct clusters *clusters,
			const struct cluster *cluster, int64_t max)
{
	if (clusters->quiet || !clusters_is_old(clusters, cluster, max))
		return;
	pthread_mutex_lock(&clusters->lock);
	for (size_t i = 0; i < clusters->n; i++)
		if (clusters->items[i].cluster == cluster)
			tell_old(clusters, &clusters->items[i], max);
	pthread_mutex_unlock(&clusters->lock);
}
