/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate lint` for the objects of a cluster: each object is a file in its
 * namespace's folder, as `kubectl get -o json` prints it. Objects that a
 * controller created for a checked object are left out. Only kinds that make
 * pods, and other kinds that rules need, are read; Secrets and ConfigMaps never
 * are.
 */
#include "commands.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "kube/object.h"
#include "lint/commands/snapshot/snapshot.h"
#include "lint/term/log.h"

/* Kinds that make no pods, but that rules need. */
static const char beside[] =
	"Service PersistentVolumeClaim ResourceClaim ResourceClaimTemplate "
	"HorizontalPodAutoscaler PodDisruptionBudget NetworkPolicy PodGroup";

/* --- kinds ---------------------------------------------------------------- */

/* Adds the kind in a line of `kubectl api-resources` (NAME [SHORTNAMES]
 * APIVERSION true KIND) if lint checks it. */
static void take_kind(char *line, struct buf *kinds)
{
	static const struct kube_config config = {0};
	char *words[6], *rest = line, *word;
	const char *version, *kind, *slash;
	size_t n = 0;

	while (n < 6 && (word = strtok_r(NULL, " ", &rest)))
		words[n++] = word;
	if (n < 4 || n > 5)
		return;
	version = words[n - 3];
	kind = words[n - 1];
	if (!kind_makes_pods(&config, version, kind) &&
	    !word_among(beside, kind))
		return;
	slash = strchr(version, '/');
	buf_addf(kinds, "%s%s", kinds->len ? "," : "", words[0]);
	if (slash)
		buf_addf(kinds, ".%.*s", (int)(slash - version), version);
}

static int ask(const struct options *o, const char *const *arguments,
	       struct buf *out, struct buf *errors)
{
	struct err err = {0};
	int rc = kubectl_run(o, arguments, out, errors, &err);

	if (rc < 0)
		log_line("%s", err.text);
	return rc;
}

/* Prints kubectl's own messages, one per line. */
static void tell(const struct buf *errors)
{
	for (const char *at = errors->data; errors->len && *at;) {
		int len = (int)strcspn(at, "\n");

		log_line("kubectl: %.*s", len, at);
		at += len;
		at += *at == '\n';
	}
}

static int find_kinds(const struct options *o, struct buf *kinds)
{
	static const char *const arguments[] = {"api-resources", "--verbs=list",
						"--namespaced", "--no-headers",
						NULL};
	struct buf out, errors;
	char *rest, *line;
	int rc;

	buf_init(&out);
	buf_init(&errors);
	rc = ask(o, arguments, &out, &errors);
	rest = out.data;
	while (out.len && (line = strtok_r(NULL, "\n", &rest)))
		take_kind(line, kinds);
	/* Some API groups may be unreachable, which is an error only if the
	 * others have no known kind. */
	if (rc >= 0 && !kinds->len)
		tell(&errors);
	buf_release(&out);
	buf_release(&errors);
	return kinds->len ? 0 : 2;
}

/* --- objects -------------------------------------------------------------- */

static const char *member(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static bool is_made(const json_t *meta)
{
	static const struct kube_config config = {0};
	const json_t *owners = json_object_get(meta, "ownerReferences");

	for (size_t i = 0; i < json_array_size(owners); i++) {
		const json_t *owner = json_array_get(owners, i);

		if (json_is_true(json_object_get(owner, "controller")) &&
		    kind_makes_pods(&config, member(owner, "apiVersion"),
				    member(owner, "kind")))
			return true;
	}
	return false;
}

static void add_object(struct live_cluster *live, const json_t *item)
{
	const json_t *meta = json_object_get(item, "metadata");
	const char *version = member(item, "apiVersion");
	const char *slash = strchr(version, '/');
	struct buf name;
	char *text;

	if (is_made(meta))
		return;
	text = json_dumps(item, JSON_INDENT(2));
	buf_init(&name);
	buf_addf(&name, "%s/%s", member(meta, "namespace"),
		 member(item, "kind"));
	if (slash)
		buf_addf(&name, ".%.*s", (int)(slash - version), version);
	buf_addf(&name, "/%s", member(meta, "name"));
	*ARRAY_PUSH(live->texts, live->n, live->size) = (struct lint_text){
		.path = arena_strdup(&live->arena, name.data),
		.text = arena_strdup(&live->arena, text),
		.len = strlen(text)};
	buf_release(&name);
	free(text);
}

static int add_objects(struct live_cluster *live, const struct buf *out)
{
	json_t *list = json_loadb(out->data, out->len, 0, NULL);
	const json_t *items = json_object_get(list, "items");

	if (!json_is_array(items)) {
		log_line("kubectl did not answer with a list");
		json_decref(list);
		return 2;
	}
	for (size_t i = 0; i < json_array_size(items); i++)
		add_object(live, json_array_get(items, i));
	json_decref(list);
	return 0;
}

static int get_objects(struct live_cluster *live, const struct options *o,
		       const char *kinds)
{
	const char *arguments[] = {"get", kinds, "-o", "json",
				   "-n",  NULL,	 NULL, NULL};
	struct buf out, errors;
	int rc;

	if (o->namespace)
		arguments[5] = o->namespace;
	else
		arguments[4] = o->all_namespaces ? "-A" : NULL;
	buf_init(&out);
	buf_init(&errors);
	rc = ask(o, arguments, &out, &errors);
	/*
	 * Objects that may not be read are missing from the list, so report
	 * kubectl's messages.
	 */
	if (rc > 0)
		tell(&errors);
	live->incomplete = rc > 0;
	if (rc >= 0)
		rc = out.len ? add_objects(live, &out) : 2;
	buf_release(&out);
	buf_release(&errors);
	return rc ? 2 : 0;
}

/* --- all ------------------------------------------------------------------ */

static int take_state(struct live_cluster *live, struct options *o)
{
	struct options asking = *o;
	const char *one[] = {o->namespace, NULL};
	int rc;

	if (o->namespace)
		asking.namespaces = (struct list){.items = one, .n = 1};
	rc = snapshot_take(&asking, &live->state);
	o->asked = live->state;
	return rc;
}

int live_open(struct live_cluster *live, struct options *o, const char *command)
{
	struct buf kinds;
	int rc;

	if (!o->asks_objects && !o->asks_state)
		return 0;
	rc = kubectl_check(o, command);
	if (!rc && o->asks_state)
		rc = take_state(live, o);
	if (rc || !o->asks_objects)
		return rc;
	buf_init(&kinds);
	rc = find_kinds(o, &kinds);
	if (!rc)
		rc = get_objects(live, o, kinds.data);
	buf_release(&kinds);
	return rc;
}

void live_release(struct live_cluster *live)
{
	cluster_put(live->state);
	free(live->texts);
	arena_release(&live->arena);
}

static int check(const struct options *o)
{
	if (!o->asks_objects)
		return 0;
	if (o->all_namespaces && o->namespace)
		return log_usage("lint", "--namespace and --all-namespaces "
					 "cannot be combined");
	if (o->fix || o->diff || o->add_ignore || o->since)
		return log_usage("lint", "the cluster's objects are not files: "
					 "--fix, --diff, --add-ignore and "
					 "--since need paths");
	return 0;
}

int lint_command(struct options *options)
{
	struct lint lint = {.options = options, .live = options->asks_objects};
	struct live_cluster live = {0};
	int rc = check(options);

	if (!rc)
		rc = live_open(&live, options, "lint");
	if (!rc) {
		lint.texts = live.texts;
		lint.ntexts = live.n;
		lint.listed = lint.live;
		rc = lint_main(&lint);
	}
	if (live.incomplete)
		rc = 2;
	live_release(&live);
	return rc;
}
