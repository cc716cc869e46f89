/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores the admission policy, the ConfigMap that gpugated mounts, as one text
 * of several documents, so that `--policy SNAPSHOT` can enforce it. The
 * ConfigMap is found by the chart's labels, or named by --webhook-policy.
 * Without permission to read it, the snapshot contains no policy.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "lint/term/log.h"
#include "snapshot.h"

#define LABELS                                                                 \
	"app.kubernetes.io/name%3Dgpugate,"                                    \
	"app.kubernetes.io/component%3Dwebhook"

/* Joins the files that gpugated reads as policies, in the order in which it
 * reads them. */
static void join_files(json_t *data, struct buf *out)
{
	const char **names = calloc(json_object_size(data) + 1, sizeof(*names));
	size_t n = 0;
	const char *key;
	json_t *value;

	if (!names)
		OUT_OF_MEMORY();
	json_object_foreach(data, key,
			    value) if (*key != '.' && path_is_manifest(key) &&
				       json_is_string(value)) names[n++] = key;
	texts_sort(names, n);
	for (size_t i = 0; i < n; i++) {
		const char *text =
			json_string_value(json_object_get(data, names[i]));

		buf_addf(out, "%s# %s\n%s", i ? "---\n" : "", names[i], text);
		if (!text_ends(text, "\n"))
			buf_addc(out, '\n');
	}
	free(names);
}

/*
 * Writes the policy among objects with the chart's labels, which the ConfigMap
 * of its dashboard also has. Returns the reason why not, or NULL.
 */
static const char *take_labeled(json_t *list, struct buf *out)
{
	json_t *items = json_object_get(list, "items"), *found = NULL;

	for (size_t i = 0; i < json_array_size(items); i++) {
		json_t *data =
			json_object_get(json_array_get(items, i), "data");

		if (!json_object_get(data, "policy.yaml"))
			continue;
		if (found)
			return "there are several: choose one with --webhook-policy";
		found = data;
	}
	if (!found)
		return "no ConfigMap has the labels of the chart";
	join_files(found, out);
	return NULL;
}

static const char *take_named(json_t *object, struct buf *out)
{
	join_files(json_object_get(object, "data"), out);
	return out->len ? NULL : "it contains no policy";
}

/* True for NAMESPACE/NAME with valid names, which become parts of a URL. */
static bool is_webhook_policy(const char *name)
{
	size_t space = strcspn(name, "/");

	return name[space] && text_is_label(name, space) &&
	       text_is_subdomain(name + space + 1, strlen(name + space + 1));
}

static void path_of(const char *webhook_policy, struct buf *out)
{
	if (webhook_policy)
		buf_addf(out, "/api/v1/namespaces/%.*s/configmaps/%s",
			 (int)strcspn(webhook_policy, "/"), webhook_policy,
			 strchr(webhook_policy, '/') + 1);
	else
		buf_adds(out, "/api/v1/configmaps?labelSelector=" LABELS);
}

int snapshot_policy(struct snapshot *s, struct buf *out)
{
	const char *webhook_policy = s->options->webhook_policy, *why = NULL;
	json_t *root = NULL;
	struct buf path;

	if (webhook_policy && !is_webhook_policy(webhook_policy))
		return log_usage(
			"snapshot",
			"--webhook-policy: expected NAMESPACE/CONFIGMAP, found `%s`",
			webhook_policy);
	buf_init(&path);
	path_of(webhook_policy, &path);
	if (snapshot_get(s, path.data) != ASKED_WELL)
		why = s->reason.len ? s->reason.data : "no answer";
	else
		root = json_loadb(s->answer.data, s->answer.len, 0, NULL);
	if (!why)
		why = webhook_policy ? take_named(root, out)
				     : take_labeled(root, out);
	json_decref(root);
	buf_release(&path);
	if (!why)
		return 0;
	if (webhook_policy || s->options->verbose)
		log_line("the admission policy%s%s: %s",
			 webhook_policy ? " " : "",
			 webhook_policy ? webhook_policy : "", why);
	return webhook_policy ? 2 : 0;
}
