/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds kustomizations and charts. A kustomization is built through another
 * one in a temporary folder that lists it and turns on origin annotations, so
 * that the user's files do not change. The program runs without plugins, and
 * may load files only from the folder of each kustomization. Unless the network
 * may be used, bases that need it are rejected before, and other requests fail
 * because the proxy does not exist. A root that will be applied (render.h) is
 * built in its own folder, as the user's program does it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/path.h"
#include "base/replace.h"
#include "base/text.h"
#include "lint/files/subprocess.h"
#include "lint/term/log.h"
#include "render.h"

/*
 * Rejects roots that would read files outside of their repository. A chart can
 * print any file in its folder (.Files.Get), and helm follows links, so that
 * the author of a pull request could print files of the CI machine. Without a
 * repository, a chart may read the current folder if it is inside of it, else
 * only its own folder.
 */

enum { LEVELS = 32, ENTRIES = 100000 };

struct border {
	struct render *r;
	struct render_root *root;
	const char *home; /* without symbolic links */
	size_t looked_at;
};

static const char *real_of(struct render *r, const char *path)
{
	char *real = path_real(path);
	const char *kept = real ? arena_strdup(&r->arena, real) : NULL;

	free(real);
	return kept;
}

static const char *home_of(struct render *r, const struct render_root *root)
{
	size_t len = repository_length(root->folder);
	const char *home = root->chart;

	if (r->border)
		return r->border;
	if (len)
		home = arena_strndup(&r->arena, root->folder, len);
	/* / is not a useful limit, because all files are below it. */
	else if (!text_eq(r->cwd, "/") && path_is_below(r->cwd, root->folder))
		home = r->cwd;
	return len || root->chart ? real_of(r, home) : NULL;
}

/* Rejects the root if the path exists and leads outside. */
static void check(struct border *b, const char *path)
{
	const char *real = real_of(b->r, path);
	const char *from = b->root->chart ? b->root->chart : b->root->folder;
	struct buf shown;

	if (!real || text_eq(b->home, real) || path_is_below(b->home, real) ||
	    b->root->refused)
		return;
	buf_init(&shown);
	path_from(from, path, &shown);
	b->root->refused = arena_printf(
		&b->r->arena,
		"it would read a file outside its repository: `%.200s`",
		shown.data);
	buf_release(&shown);
}

static void check_folder(struct border *b, const char *folder, unsigned level)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && !b->root->refused && (entry = readdir(dir))) {
		const char *path = arena_printf(&b->r->arena, "%s/%s", folder,
						entry->d_name);
		struct stat st;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		check(b, path);
		if (level == LEVELS || ++b->looked_at > ENTRIES)
			b->root->refused = "its folder is too large";
		else if (!b->root->refused && !stat(path, &st) &&
			 S_ISDIR(st.st_mode))
			check_folder(b, path, level + 1);
	}
	if (dir)
		closedir(dir);
}

/* Rejects the root if it would read files outside of its
 * repository. */
static void render_refuse_outside(struct render *r, struct render_root *root)
{
	struct border b = {.r = r, .root = root, .home = home_of(r, root)};

	if (!b.home)
		return;
	for (size_t i = 0; i < root->sources.n; i++)
		check(&b, root->sources.items[i]);
	if (!root->chart || root->refused)
		return;
	check(&b, root->chart);
	if (!root->refused)
		check_folder(&b, root->chart, 0);
}

enum {
	SECONDS = 60,	   /* limit for one build */
	ALL_SECONDS = 180, /* total time after which no build is started */
	BYTES = 64 << 20,  /* limit for the output of a build */
	FIRST_LINE = 300,
	HELM_ARGUMENTS = 8, /* number of arguments without those for values */
};

extern char **environ;

struct builds {
	struct render *r;
	const char *folder; /* temporary folder, without symbolic links */
	char *const *environment;
	atomic_size_t next;
	int64_t start;
};

/* --- the environment ------------------------------------------------------ */

/* Variables in the environment of the program. The first WITH_NETWORK ones are
 * always set, the others only if the network must not be used. */
static const char *const settings[] = {
	"GIT_TERMINAL_PROMPT=0",
	"HELM_PLUGINS=/nonexistent",
	"KUBECONFIG=/dev/null",
	"HTTP_PROXY=http://127.0.0.1:9",
	"HTTPS_PROXY=http://127.0.0.1:9",
	"http_proxy=http://127.0.0.1:9",
	"https_proxy=http://127.0.0.1:9",
	"NO_PROXY=",
	"no_proxy=",
	"GIT_ALLOW_PROTOCOL=none",
};
enum { WITH_NETWORK = 3 };

static bool is_replaced(const char *variable, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(variable, settings[i],
			     strcspn(settings[i], "=") + 1))
			return true;
	return false;
}

static char *const *environment_of(struct render *r)
{
	size_t n = 0, kept = 0;
	size_t added = r->network ? (size_t)WITH_NETWORK : ARRAY_SIZE(settings);
	char **out;

	while (environ[n])
		n++;
	out = ARENA_ARRAY(&r->arena, char *, n + added + 1);
	for (size_t i = 0; i < n; i++)
		if (!is_replaced(environ[i], added))
			out[kept++] = environ[i];
	for (size_t i = 0; i < added; i++)
		out[kept++] = arena_strdup(&r->arena, settings[i]);
	return out;
}

/* --- one build ------------------------------------------------------------ */

static int write_kustomization(const char *folder, const char *root)
{
	struct buf path, text;
	struct replace replace;
	int error;

	buf_init(&path);
	buf_init(&text);
	path_from(folder, root, &path);
	buf_adds(&text, "resources: [");
	text_json(path.data, path.len, &text);
	buf_adds(&text, "]\nbuildMetadata: [originAnnotations, "
			"transformerAnnotations]\n");
	buf_reset(&path);
	path_join(folder, "kustomization.yaml", &path);
	error = replace_open(&replace, path.data);
	if (!error) {
		fwrite(text.data, 1, text.len, replace.out);
		error = replace_finish(&replace, 0);
	}
	buf_release(&path);
	buf_release(&text);
	return error;
}

/* Returns the first line of an error output, cut to FIRST_LINE bytes. Skips
 * warnings of kustomize, and a log prefix, because its time would differ in
 * every run. */
static const char *first_line(struct arena *arena, const char *text)
{
	const char *next, *message;
	size_t len;

	while (text_starts(text, "# ") && (next = strchr(text, '\n')))
		text = next + 1;
	len = strcspn(text, "\r\n");
	message = text_find(text, len, "] \"command failed\" err=\"");
	if (message) {
		message += strlen("] \"command failed\" err=\"");
		len -= (size_t)(message - text);
		len -= len && message[len - 1] == '"';
		text = message;
	}
	return arena_strndup(arena, text, len < FIRST_LINE ? len : FIRST_LINE);
}

struct build {
	struct builds *all;
	struct render_root *root;
	const char *folder; /* temporary folder (NULL: the root's folder) */
	struct arena *arena;
	struct buf errors;
	struct err err;
};

static int run(struct build *b, const char *const *argv)
{
	const struct program_limits limits = {SECONDS, BYTES,
					      b->all->environment};
	bool applied = b->all->r->applied;

	buf_reset(&b->errors);
	buf_reset(&b->root->text);
	return program_run(argv, applied ? NULL : &limits, &b->root->text,
			   &b->errors, &b->err);
}

static const char *values_path(struct build *b, size_t i)
{
	return arena_printf(b->arena, "%s/%zu.json", b->folder, i);
}

/* Writes each set of values that is not the chart's own to a file, and adds a
 * --values option for it to argv, those with the lowest precedence first.
 * Returns the new number of arguments. */
static size_t add_values(struct build *b, const char **argv, size_t n)
{
	const struct render_root *root = b->root;

	for (size_t i = root->nvalues; i-- > 0;) {
		const char *path = values_path(b, i);
		struct buf text;
		int error;

		if (!root->values[i].given)
			continue;
		buf_init(&text);
		node_json(root->values[i].root, &text);
		error = replace_write(path, &text, NULL);
		if (error)
			err_set(&b->err, error, "%s: %s", path,
				replace_strerror(error));
		argv[n++] = "--values";
		argv[n++] = path;
		buf_release(&text);
	}
	return n;
}

static void remove_values(struct build *b)
{
	for (size_t i = 0; i < b->root->nvalues; i++)
		if (b->root->values[i].given)
			unlink(values_path(b, i));
}

static int run_helm(struct build *b)
{
	const struct render_root *root = b->root;
	size_t n = HELM_ARGUMENTS + 2 * root->nvalues + root->sets.n;
	const char **argv = ARENA_ARRAY(b->arena, const char *, n);
	int rc = -1;

	n = 0;
	argv[n++] = b->all->r->helm.path;
	argv[n++] = "template";

	if (root->namespace) {
		argv[n++] = "--namespace";
		argv[n++] = root->namespace;
	}
	n = add_values(b, argv, n);
	for (size_t i = 0; i < root->sets.n; i++)
		argv[n++] = root->sets.items[i];
	argv[n++] = "--";
	if (root->release)
		argv[n++] = root->release;
	argv[n++] = root->chart;
	if (!*b->err.text)
		rc = run(b, argv);
	remove_values(b);
	return rc;
}

static int run_kustomize(struct build *b, const char *folder)
{
	const struct render_tool *tool = &b->all->r->kustomize;
	const char *verb = strchr(tool->name, ' ') + 1;
	const char *argv[] = {tool->path, verb, folder, NULL};

	return run(b, argv);
}

static const char *failure(const struct build *b)
{
	if (!b->errors.len)
		return "it fails";
	return b->all->r->applied ? arena_strdup(b->arena, b->errors.data)
				  : first_line(b->arena, b->errors.data);
}

/* Builds a chart, or a kustomization through the one in the folder. If a
 * kustomization fails, builds the root itself, as a user would, so that the
 * message contains only the user's paths. */
static void build(struct build *b)
{
	struct render_root *root = b->root;
	int rc;

	buf_init(&b->errors);
	rc = root->chart
		     ? run_helm(b)
		     : run_kustomize(b, b->folder ? b->folder : root->folder);
	if (rc > 0 && !root->chart && b->folder) {
		root->refused = "it cannot be listed by another one";
		rc = run_kustomize(b, root->folder);
	}
	if (rc < 0)
		root->refused = arena_strdup(b->arena, b->err.text);
	else if (rc)
		root->refused = failure(b);
	buf_release(&b->errors);
}

static const char *folder_of(const struct builds *b, size_t i, struct buf *out)
{
	buf_reset(out);
	buf_addf(out, "%s/%zu", b->folder, i);
	return out->data;
}

static void build_apart(struct builds *b, size_t i, struct arena *arena)
{
	struct render_root *root = &b->r->roots[i];
	char *real = realpath(root->folder, NULL);
	struct buf folder;
	int error = real ? 0 : errno;

	buf_init(&folder);
	folder_of(b, i, &folder);
	if (!error && mkdir(folder.data, 0700))
		error = errno;
	if (!error) {
		root->real = arena_strdup(arena, real);
		error = write_kustomization(folder.data, real);
	}
	if (error)
		root->refused = arena_printf(arena, "temporary folder: %s",
					     strerror(error));
	else
		build(&(struct build){.all = b,
				      .root = root,
				      .folder = folder.data,
				      .arena = arena});
	buf_release(&folder);
	free(real);
}

static void build_one(struct builds *b, size_t i, struct arena *arena)
{
	if (!b->r->applied)
		build_apart(b, i, arena);
	else
		build(&(struct build){
			.all = b, .root = &b->r->roots[i], .arena = arena});
}

/* --- all ------------------------------------------------------------------ */

struct build_thread {
	struct builds *builds;
	struct arena arena; /* memory for messages */
};

static void build_some(void *context, unsigned index)
{
	struct build_thread *thread = (struct build_thread *)context + index;
	struct builds *b = thread->builds;
	size_t i;

	while ((i = atomic_fetch_add(&b->next, 1)) < b->r->nroots) {
		struct render_root *root = &b->r->roots[i];

		if (!root->refused &&
		    progress_clock() - b->start > ALL_SECONDS * 1000)
			root->refused = "the time limit has passed";
		if (!root->refused)
			build_one(b, i, &thread->arena);
	}
}

static void build_all(struct builds *b, struct thread_pool *thread_pool)
{
	struct build_thread *threads =
		array_zalloc(thread_pool->most, sizeof(*threads));

	for (unsigned i = 0; i < thread_pool->most; i++)
		threads[i].builds = b;
	pool_call(thread_pool, thread_pool->most, build_some, threads);
	build_some(threads, 0);
	pool_wait(thread_pool);
	for (unsigned i = 0; i < thread_pool->most; i++)
		arena_adopt(&b->r->arena, &threads[i].arena);
	free(threads);
}

/* Removes the files in the temporary folder and the folder itself. */
static void remove_all(struct builds *b)
{
	struct buf path;

	buf_init(&path);
	for (size_t i = b->r->nbuilt; i < b->r->nroots; i++) {
		folder_of(b, i, &path);
		buf_adds(&path, "/kustomization.yaml");
		unlink(path.data);
		rmdir(folder_of(b, i, &path));
	}
	rmdir(b->folder);
	buf_release(&path);
}

static void take_origins(struct builds *b)
{
	struct buf built, folder;

	buf_init(&folder);
	for (size_t i = b->r->nbuilt; i < b->r->nroots; i++) {
		struct render_root *root = &b->r->roots[i];

		if (root->refused)
			continue;
		built = root->text;
		buf_init(&root->text);
		if (root->chart)
			render_take_templates(b->r, root, &built);
		else
			render_take_origins(b->r, root, &built,
					    folder_of(b, i, &folder));
		buf_release(&built);
	}
	buf_release(&folder);
}

static char *temporary_folder(struct arena *arena)
{
	const char *parent = getenv("TMPDIR");
	char *real = realpath(parent && *parent ? parent : "/tmp", NULL);
	char *path = NULL;

	if (real)
		path = arena_printf(arena, "%s/gpugate-XXXXXX", real);
	free(real);
	return path && mkdtemp(path) ? path : NULL;
}

static void refuse_all(struct render *r, bool charts, const char *why)
{
	for (size_t i = r->nbuilt; i < r->nroots; i++)
		if (!r->roots[i].refused && !r->roots[i].chart == !charts)
			r->roots[i].refused = why;
}

static bool any_to_build(const struct render *r)
{
	for (size_t i = r->nbuilt; i < r->nroots; i++)
		if (!r->roots[i].refused)
			return true;
	return false;
}

void render_build(struct render *r, struct thread_pool *thread_pool)
{
	struct builds b = {
		.r = r, .next = r->nbuilt, .start = progress_clock()};

	for (size_t i = r->nbuilt; i < r->nroots; i++)
		if (!r->roots[i].refused)
			render_refuse_outside(r, &r->roots[i]);
	if (!r->kustomize.path)
		refuse_all(r, false,
			   "neither kustomize nor kubectl is on PATH");
	if (!r->helm.path)
		refuse_all(r, true, "helm is not on PATH");
	if (!any_to_build(r)) {
		r->nbuilt = r->nroots;
		return;
	}
	if (r->applied) {
		build_all(&b, thread_pool);
		r->nbuilt = r->nroots;
		return;
	}
	b.environment = environment_of(r);
	b.folder = temporary_folder(&r->arena);
	if (!b.folder) {
		refuse_all(r, false, "there is no temporary folder");
		refuse_all(r, true, "there is no temporary folder");
		r->nbuilt = r->nroots;
		return;
	}
	build_all(&b, thread_pool);
	take_origins(&b);
	remove_all(&b);
	r->nbuilt = r->nroots;
}
