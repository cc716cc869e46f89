/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the policies of a run. The settings of the file are applied first, then
 * the options of the command line, and then those of the admission policy
 * (floor), which the others cannot weaken.
 */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "base/path.h"
#include "base/text.h"
#include "kube/cluster/cluster.h"
#include "lint/files/files.h"
#include "lint/files/gitignore.h"
#include "lint/term/escape.h"
#include "lint/term/log.h"

void problems_print(const struct options *options,
		    const struct policy_problems *problems)
{
	bool color = color_wanted(options->color, STDERR_FILENO);
	struct buf line;

	buf_init(&line);
	for (size_t i = 0; i < problems->n; i++) {
		const struct policy_problem *p = &problems->items[i];
		const char *word = p->warning ? "warning" : "error";

		if (p->warning && options->quiet)
			continue;
		buf_reset(&line);
		escape_adds(&line, p->file);
		if (p->line)
			buf_addf(&line, ":%u:%u", p->line, p->column);
		buf_addf(&line, ": %s%s:%s ",
			 !color	      ? ""
			 : p->warning ? "\033[33m"
				      : "\033[31m",
			 word, color ? "\033[0m" : "");
		escape_adds(&line, p->text);
		buf_addc(&line, '\n');
		fwrite(line.data, 1, line.len, stderr);
	}
	buf_release(&line);
}

static void print_problems(struct policies *policies,
			   const struct policy_problems *problems)
{
	problems_print(policies->options, problems);
	policies->broken |= problems->errors > 0;
}

/* Loads a policy file; options is NULL if the user named it. */
static struct policy *load(struct policies *policies, const char *path,
			   const struct policy_options *options)
{
	struct policy_problems problems = {0};
	struct policy *policy =
		policy_load(&policies->rules, path, options, &problems);

	print_problems(policies, &problems);
	if (!policy && !problems.errors) {
		log_line("%s: cannot be read", path);
		policies->broken = true;
	}
	policy_problems_release(&problems);
	return policy;
}

/* Loads the admission policy from a file of `gpugate snapshot`. */
static struct policy *load_saved(struct policies *policies, const char *path,
				 const struct cluster *cluster)
{
	const char *saved = cluster_policy(cluster);
	struct policy_problems problems = {0};
	struct policy_text text = {
		.name = arena_printf(&policies->arena, "%s (policy)", path),
		.text = saved,
		.len = saved ? strlen(saved) : 0,
	};
	struct policy *policy = NULL;

	if (saved)
		policy = policy_parse(&policies->rules, &text, NULL, &problems);
	else
		log_line(
			"%s: this snapshot contains no policy; save one "
			"with gpugate snapshot --webhook-policy NAMESPACE/CONFIGMAP",
			path);
	print_problems(policies, &problems);
	policy_problems_release(&problems);
	policies->broken |= !policy;
	return policy;
}

/* Loads the admission policy from a policy file or a snapshot that contains
 * one. A pipe can be read only once. */
static struct policy *load_floor(struct policies *policies, const char *path)
{
	const struct cluster *cluster = NULL;
	struct policy *floor;
	struct stat st;

	if (!stat(path, &st) && S_ISREG(st.st_mode))
		cluster = cluster_load(path, false, NULL, NULL, NULL);
	floor = cluster ? load_saved(policies, path, cluster)
			: load(policies, path, NULL);
	cluster_put(cluster);
	return floor;
}

/* True if all files get the same policy. */
static bool is_fixed(const struct policies *policies)
{
	return policies->options->config || policies->options->isolated;
}

struct policy *policies_adjust(struct policies *policies,
			       const struct policy *own, const char *preset)
{
	const struct options *o = policies->options;
	/* The preset of the command line overrides that in `paths:`. */
	struct policy_overrides overrides = {
		o->preset ? o->preset : preset, o->select.items,
		o->extend.items, o->ignore.items, !is_fixed(policies)};
	struct err err = {0};
	struct policy *overridden, *result;

	overridden = policy_adjust(own, &overrides, &err);
	if (!overridden) {
		log_line("%s", err.text);
		policies->broken = true;
		return NULL;
	}
	if (!policies->floor)
		return overridden;
	result = policy_with_floor(overridden, policies->floor);
	policy_free(overridden);
	return result;
}

/* Returns the absolute folder of a policy file; for the default policy, the
 * current folder. */
static const char *folder_of(struct policies *policies, const char *path)
{
	struct buf folder;
	const char *kept;
	char *slash;

	buf_init(&folder);
	path_absolute(policies->cwd, path, &folder);
	slash = strrchr(folder.data, '/');
	if (*path && slash)
		slash[slash == folder.data] = '\0';
	kept = arena_strdup(&policies->arena, folder.data);
	buf_release(&folder);
	return kept;
}

/* Prints a note about overrides that cannot be used, like the note in the
 * webhook's log. */
static void note_namespaces(const struct policies *policies, const char *path,
			    const struct policy *policy)
{
	const struct options *o = policies->options;

	if (!o->quiet && !o->cluster && !o->asked &&
	    policy_asks_namespaces(policy) && !policy_names_clusters(policy))
		log_line("%s: overrides with namespaceLabels never match: "
			 "labels of namespaces are known only with --cluster",
			 path);
}

static void add_entry(struct policies *policies, const char *path,
		      struct policy *own)
{
	struct policy_entry entry = {
		.path = arena_strdup(&policies->arena, path),
		.folder = folder_of(policies, path),
		.own = own};

	if (own)
		entry.policy = policies_adjust(policies, own, NULL);
	if (own && *path)
		note_namespaces(policies, path, own);
	*ARRAY_PUSH(policies->items, policies->n, policies->size) = entry;
}

/* Returns the policy for files without a .gpugate.yaml: that of --preset, or
 * else that of --policy, or else the preset recommended. */
static struct policy *without_file(const struct policies *policies)
{
	const struct policy_overrides none = {0};
	const char *preset = policies->options->preset;

	if (policies->floor && !preset)
		return policy_adjust(policies->floor, &none, NULL);
	return policy_default(&policies->rules, preset);
}

int policies_init(struct policies *policies, const struct options *options,
		  const char *cwd)
{
	memset(policies, 0, sizeof(*policies));
	pthread_mutex_init(&policies->lock, NULL);
	policies->options = options;
	policies->rules = program_rules();
	policies->cwd = arena_strdup(&policies->arena, cwd);
	if (options->policy)
		policies->floor = load_floor(policies, options->policy);
	if (policies->floor)
		note_namespaces(policies, options->policy, policies->floor);
	if (options->config)
		add_entry(policies, options->config,
			  load(policies, options->config, NULL));
	else
		add_entry(policies, "", without_file(policies));
	return policies->broken ? 2 : 0;
}

void policies_release(struct policies *policies)
{
	for (size_t i = 0; i < policies->n; i++) {
		struct policy_entry *entry = &policies->items[i];

		for (struct policy_variant *v = entry->variants; v; v = v->next)
			policy_free(v->policy);
		policy_free(entry->policy);
		policy_free(entry->own);
	}
	policy_free(policies->floor);
	free(policies->items);
	arena_release(&policies->arena);
	pthread_mutex_destroy(&policies->lock);
}

struct found {
	/* Absolute paths: the policy's folder, and the root of its
	 * repository. */
	const char *folder, *root;
};

/* Returns the reason if a policy must not refer to the path: the author of a
 * pull request could otherwise make the CI machine read files outside of the
 * repository. */
static const char *refuse_path(void *context, const char *path)
{
	const struct found *found = context;
	char *real, *root = NULL;
	struct buf joined;
	bool below;

	if (*path == '/')
		return "an absolute path: a .gpugate.yaml may name only "
		       "files of its own repository";
	buf_init(&joined);
	path_absolute(found->folder, path, &joined);
	real = path_real(joined.data);
	if (real)
		root = path_real(found->root);
	below = path_is_below(root ? root : found->root,
			      real ? real : joined.data);
	free(real);
	free(root);
	buf_release(&joined);
	return below ? NULL
		     : "a path out of the repository: a .gpugate.yaml may "
		       "name only files of its own repository";
}

/* Returns the policy's folder, and the folder out of which its paths may not
 * lead: the root of its repository, or outside of a repository the policy's
 * folder. */
static struct found found_at(struct policies *policies, const char *path)
{
	struct found found = {.folder = folder_of(policies, path)};
	size_t len = repository_length(found.folder);

	found.root = len ? arena_strndup(&policies->arena, found.folder, len)
			 : found.folder;
	return found;
}

static struct policy *load_found(struct policies *policies, const char *path)
{
	struct found found = found_at(policies, path);
	struct policy_options options = {.refuse_path = refuse_path,
					 .context = &found};
	const char *slash = strrchr(path, '/');

	/* A link in the home folder belongs to the user, who may keep settings
	 * in another place. */
	if (repository_length(found.folder) &&
	    refuse_path(&found, slash ? slash + 1 : path)) {
		log_line(
			"%s: a link that leads out of its repository is not read",
			path);
		policies->broken = true;
		return NULL;
	}
	return load(policies, path, &options);
}

void policies_check(struct policies *policies, const struct policy_text *text,
		    struct policy_problems *problems)
{
	struct found found = found_at(policies, text->name);
	struct policy_options options = {.refuse_path = refuse_path,
					 .context = &found};

	policy_free(policy_parse(&policies->rules, text, &options, problems));
}

uint32_t policies_load(struct policies *policies, const char *path)
{
	if (is_fixed(policies))
		return POLICY_DEFAULT;
	for (size_t i = 0; i < policies->n; i++)
		if (!strcmp(policies->items[i].path, path))
			return (uint32_t)i;
	add_entry(policies, path, load_found(policies, path));
	return (uint32_t)(policies->n - 1);
}

/* Returns false if the path was added before. */
static bool add_misnamed(struct policies *policies, const char *path)
{
	for (size_t i = 0; i < policies->nmisnamed; i++)
		if (!strcmp(policies->misnamed[i], path))
			return false;
	*VEC_PUSH(&policies->arena, policies->misnamed, policies->nmisnamed,
		  policies->misnamed_size) =
		arena_strdup(&policies->arena, path);
	return true;
}

void policies_note_misnamed(struct policies *policies, const char *folder)
{
	struct buf path, shown;

	buf_init(&path);
	buf_init(&shown);
	path_join(folder, ".gpugate.yml", &path);
	if (!access(path.data, F_OK) && add_misnamed(policies, path.data)) {
		path_from(policies->cwd, path.data, &shown);
		log_line("%s is not read: the name is .gpugate.yaml",
			 shown.data);
	}
	buf_release(&path);
	buf_release(&shown);
}

uint32_t policies_find(struct policies *policies, const char *folder)
{
	uint32_t found = POLICY_DEFAULT;
	size_t len = strlen(folder);
	struct buf path, shown;

	if (is_fixed(policies))
		return POLICY_DEFAULT;
	buf_init(&path);
	buf_init(&shown);
	for (;;) {
		buf_reset(&path);
		buf_add(&path, folder, len);
		path_join(path.data, ".gpugate.yaml", &shown);
		if (!access(shown.data, F_OK)) {
			buf_reset(&path);
			path_from(policies->cwd, shown.data, &path);
			found = policies_load(policies, path.data);
			break;
		}
		policies_note_misnamed(policies, path.data);
		buf_reset(&shown);
		if (len <= 1)
			break;
		while (len > 1 && folder[len - 1] != '/')
			len--;
		if (len > 1)
			len--;
	}
	buf_release(&path);
	buf_release(&shown);
	return found;
}

/* Returns the path relative to the policy's folder, or to the current folder if
 * it is not below that; the path itself if it is below neither. */
static const char *relative(const struct policies *policies,
			    const struct policy_entry *entry, const char *path)
{
	const char *const folders[] = {entry->folder, policies->cwd};

	for (int i = 0; i < 2; i++)
		if (path_is_below(folders[i], path))
			return path + strlen(folders[i]) + (folders[i][1] != 0);
	return path;
}

bool policies_exclude(const struct policies *policies, uint32_t index,
		      const char *path)
{
	const struct policy_entry *entry = &policies->items[index];

	return entry->policy &&
	       policy_excludes(entry->policy, relative(policies, entry, path));
}

static bool is_known(const struct policies *policies, const char *word)
{
	for (size_t i = 0; i < policies->n; i++)
		if (policies->items[i].policy &&
		    policy_knows(policies->items[i].policy, word))
			return true;
	return false;
}

/* Reports the first name in the list that no policy knows. An error message
 * with a suggestion has precedence over that of the first policy. */
static void check_words(struct policies *policies, const struct list *list)
{
	for (size_t i = 0; i < list->n && !policies->broken; i++) {
		const char *const words[] = {list->items[i], NULL};
		struct policy_overrides one = {.ignore = words};
		struct err err = {0};

		if (is_known(policies, *words))
			continue;
		/* The suggestion may be the name of a custom rule. */
		for (size_t k = policies->n;
		     k-- && !strstr(err.text, "did you mean");) {
			err = (struct err){0};
			policy_free(policy_adjust(policies->items[k].policy,
						  &one, &err));
		}
		log_line("%s", err.text);
		policies->broken = true;
	}
}

int policies_ready(struct policies *policies)
{
	const struct options *o = policies->options;

	if (!policies->broken && !is_fixed(policies)) {
		check_words(policies, &o->select);
		check_words(policies, &o->extend);
		check_words(policies, &o->ignore);
	}
	return policies->broken ? 2 : 0;
}

static const struct policy *variant(struct policies *policies,
				    struct policy_entry *entry,
				    const char *preset)
{
	struct policy_variant *v;

	pthread_mutex_lock(&policies->lock);
	for (v = entry->variants; v; v = v->next)
		if (!strcmp(v->preset, preset))
			break;
	if (!v) {
		v = ARENA_NEW(&policies->arena, struct policy_variant);
		v->preset = preset;
		v->policy = policies_adjust(policies, entry->own, preset);
		v->next = entry->variants;
		entry->variants = v;
	}
	pthread_mutex_unlock(&policies->lock);
	return v->policy ? v->policy : entry->policy;
}

const struct policy *policies_for_file(struct policies *policies,
				       uint32_t index, const char *path,
				       struct policy_path_rule *rule)
{
	struct policy_entry *entry = &policies->items[index];

	memset(rule, 0, sizeof(*rule));
	if (!policy_for_path(entry->policy, relative(policies, entry, path),
			     rule))
		return entry->policy;
	if (!rule->preset || policies->options->preset)
		return entry->policy;
	return variant(policies, entry, rule->preset);
}
