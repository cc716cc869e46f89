/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches the patterns of .gitignore, after gitignore(5), and of --exclude.
 * The matcher for simple globs, which remembers only the last star, is used
 * once for the parts of a path (`**`) and once for the bytes of a part (`*`),
 * so that the cost is at most the product of the lengths. Most patterns are
 * plain names or `*.suffix`; those are compared as text.
 */
#include "gitignore.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/glob.h"
#include "base/path.h"
#include "base/text.h"

enum { LARGEST = 1 << 20 /* bytes of a file that are read */ };

enum pattern_kind { PATTERN_NAME, PATTERN_SUFFIX, PATTERN_GLOB };

struct ignore_pattern {
	const char *text;
	uint16_t len;
	uint8_t kind;
	bool negated, folders_only;
	bool anchored; /* matches the whole path below the file's folder */
};

struct ignore_list {
	const struct ignore_list *above;
	size_t base; /* length of the folder's path, including the slash */
	struct ignore_pattern *items;
	size_t n, size;
};

/* --- matching ------------------------------------------------------------ */

struct named_class {
	const char *name;
	int (*holds)(int c);
};

static const struct named_class named_classes[] = {
	{"[:alnum:]", isalnum}, {"[:alpha:]", isalpha},
	{"[:blank:]", isblank}, {"[:cntrl:]", iscntrl},
	{"[:digit:]", isdigit}, {"[:graph:]", isgraph},
	{"[:lower:]", islower}, {"[:print:]", isprint},
	{"[:punct:]", ispunct}, {"[:space:]", isspace},
	{"[:upper:]", isupper}, {"[:xdigit:]", isxdigit},
};

/* Returns the length of a [:name:] at p, 0 if there is none. Sets *hit if c is
 * in the class. */
static size_t class_name(const char *p, const char *stop, char c, bool *hit)
{
	for (size_t i = 0; i < ARRAY_SIZE(named_classes); i++) {
		const struct named_class *class = &named_classes[i];
		size_t len = strlen(class->name);

		if ((size_t)(stop - p) < len ||
		    memcmp(p, class->name, len) != 0)
			continue;
		*hit |= class->holds((unsigned char)c) != 0;
		return len;
	}
	return 0;
}

/* Matches a character, a range or a [:name:] of a class; returns the end of the
 * item. */
static const char *class_item(const char *p, const char *stop, char c,
			      bool *hit)
{
	size_t len = class_name(p, stop, c, hit);

	if (len)
		return p + len;
	if (*p == '\\' && p + 1 < stop)
		p++;
	if (p + 2 < stop && p[1] == '-' && p[2] != ']') {
		*hit |= (unsigned char)*p <= (unsigned char)c &&
			(unsigned char)c <= (unsigned char)p[2];
		return p + 3;
	}
	*hit |= *p == c;
	return p + 1;
}

/* Matches the class [...] at p. Sets *end to the byte after it, or to NULL if
 * it is not closed. */
static bool class_match(const char *p, const char *stop, char c,
			const char **end)
{
	bool negated, hit = false;

	p++;
	negated = p < stop && (*p == '!' || *p == '^');
	p += negated;
	for (bool first = true; p < stop && (*p != ']' || first); first = false)
		p = class_item(p, stop, c, &hit);
	*end = p < stop ? p + 1 : NULL;
	return *end && hit != negated;
}

/*
 * True if the pattern's first character or class matches c. Sets *next to the
 * part of the pattern after it.
 */
static bool char_match(const char *p, const char *stop, char c,
		       const char **next)
{
	*next = p + 1;
	if (*p == '?')
		return true;
	if (*p == '[') {
		const char *end;
		bool hit = class_match(p, stop, c, &end);

		/* A class that is not closed matches nothing. */
		*next = end ? end : stop;
		return hit;
	}
	if (*p == '\\' && p + 1 < stop) {
		*next = p + 2;
		return p[1] == c;
	}
	return *p == c;
}

/* Matches one part of a path, without '/' in either. */
static bool part_match(const char *p, const char *pend, const char *s,
		       const char *send)
{
	const char *star = NULL, *retry = NULL, *next;

	while (s < send) {
		if (p < pend && *p == '*') {
			star = ++p;
			retry = s;
		} else if (p < pend && char_match(p, pend, *s, &next)) {
			p = next;
			s++;
		} else if (star) {
			p = star;
			s = ++retry;
		} else {
			return false;
		}
	}
	while (p < pend && *p == '*')
		p++;
	return p == pend;
}

static const char *part_end(const char *s)
{
	return s + strcspn(s, "/");
}

static const char *part_next(const char *end)
{
	return *end ? end + 1 : end;
}

static bool is_any_depth(const char *p, const char *end)
{
	return end - p == 2 && p[0] == '*' && p[1] == '*';
}

/* Matches a pattern without "!" and trailing "/". */
static bool match_glob(const char *pattern, const char *path)
{
	const char *p = pattern, *s = path;
	const char *star = NULL, *retry = NULL;

	while (*s) {
		const char *pe = part_end(p), *se = part_end(s);

		if (*p && is_any_depth(p, pe)) {
			/* A `**` at the end must match at least one part. */
			star = part_next(pe);
			if (!*star)
				return true;
			p = star;
			retry = s;
		} else if (*p && part_match(p, pe, s, se)) {
			p = part_next(pe);
			s = part_next(se);
		} else if (star) {
			p = star;
			retry = part_next(part_end(retry));
			s = retry;
		} else {
			return false;
		}
	}
	return !*p;
}

static bool pattern_match(const struct ignore_pattern *pattern,
			  const char *path, const char *name)
{
	const char *subject = pattern->anchored ? path : name;
	size_t len;

	if (pattern->kind == PATTERN_NAME)
		return !strcmp(pattern->text, subject);
	if (pattern->kind == PATTERN_GLOB)
		return match_glob(pattern->text, subject);
	len = strlen(name);
	return len >= pattern->len &&
	       !memcmp(name + len - pattern->len, pattern->text, pattern->len);
}

bool ignore_match(const struct ignore_list *list, const char *path,
		  bool is_folder)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (; list; list = list->above) {
		for (size_t i = list->n; i-- > 0;) {
			const struct ignore_pattern *p = &list->items[i];

			if ((p->folders_only && !is_folder) ||
			    !pattern_match(p, path + list->base, name))
				continue;
			return !p->negated;
		}
	}
	return false;
}

/* --- reading ------------------------------------------------------------- */

/* Trims trailing blanks, unless a backslash precedes them. */
static size_t trim(const char *line, size_t len)
{
	if (len && line[len - 1] == '\r')
		len--;
	while (len && line[len - 1] == ' ' &&
	       !(len > 1 && line[len - 2] == '\\'))
		len--;
	return len;
}

static void classify(struct ignore_pattern *pattern)
{
	const char *text = pattern->text;

	pattern->kind = PATTERN_GLOB;
	if (!strpbrk(text, "*?[\\")) {
		pattern->kind = PATTERN_NAME;
	} else if (!pattern->anchored && text[0] == '*' &&
		   !strpbrk(text + 1, "*?[\\")) {
		pattern->kind = PATTERN_SUFFIX;
		pattern->text++;
	}
	pattern->len = (uint16_t)strlen(pattern->text);
}

static void add_pattern(struct arena *arena, struct ignore_list *list,
			const char *line, size_t len)
{
	struct ignore_pattern pattern = {0};
	char *text;

	len = trim(line, len);
	if (!len || *line == '#' || len > 4096)
		return;
	if (*line == '!') {
		pattern.negated = true;
		line++;
		len--;
	}
	if (len && line[len - 1] == '/') {
		pattern.folders_only = true;
		len--;
	}
	pattern.anchored = len && memchr(line, '/', len);
	if (len && *line == '/') {
		line++;
		len--;
	}
	/* The pattern contains an empty part, which matches no path. */
	if (!len || line[len - 1] == '/' || memmem(line, len, "//", 2))
		return;
	text = arena_strndup(arena, line, len);
	pattern.text = text;
	classify(&pattern);
	*VEC_PUSH(arena, list->items, list->n, list->size) = pattern;
}

/* Reads a file, or the start of a large one. Returns 0, or -1. */
static int read_small(int dirfd, const char *path, struct buf *out)
{
	static const struct file_how how = {.limit = LARGEST};
	int error = file_read(dirfd, path, &how, out);

	return error && error != EFBIG ? -1 : 0;
}

const struct ignore_list *ignore_read(struct arena *arena,
				      const struct ignore_list *above,
				      int dirfd, const char *path,
				      const char *folder)
{
	struct ignore_list *list;
	struct buf text;
	const char *line;

	buf_init(&text);
	if (read_small(dirfd, path, &text)) {
		buf_release(&text);
		return above;
	}
	list = ARENA_NEW(arena, struct ignore_list);
	list->above = above;
	list->base = strlen(folder);
	if (list->base && folder[list->base - 1] != '/')
		list->base++;
	line = text.data;
	if (text_starts(line, "\xef\xbb\xbf"))
		line += 3;
	while (*line) {
		size_t len = strcspn(line, "\n");

		add_pattern(arena, list, line, len);
		line += len + (line[len] == '\n');
	}
	buf_release(&text);
	return list;
}

/* --- repositories -------------------------------------------------------- */

/* Appends the path of the folder with git's own files. .git may be a file with
 * "gitdir: PATH" (worktrees, submodules). The result is then the common folder
 * of all worktrees. */
static void git_folder(const char *folder, struct buf *out)
{
	struct buf text, common;

	buf_init(&text);
	buf_init(&common);
	buf_addf(out, "%s/.git", folder);
	if (!read_small(AT_FDCWD, out->data, &text) &&
	    text_starts(text.data, "gitdir: ")) {
		const char *path = text.data + strlen("gitdir: ");
		size_t len = strcspn(path, "\r\n");

		buf_reset(out);
		if (*path != '/')
			buf_addf(out, "%s/", folder);
		buf_add(out, path, len);
		buf_addf(&common, "%s/commondir", out->data);
		buf_reset(&text);
		if (!read_small(AT_FDCWD, common.data, &text)) {
			len = strcspn(text.data, "\r\n");
			if (*text.data == '/')
				buf_reset(out);
			else
				buf_addc(out, '/');
			buf_add(out, text.data, len);
		}
	}
	buf_release(&common);
	buf_release(&text);
}

const struct ignore_list *ignore_repository(struct arena *arena,
					    const char *folder)
{
	const struct ignore_list *list;
	struct buf path;

	buf_init(&path);
	git_folder(folder, &path);
	buf_adds(&path, "/info/exclude");
	list = ignore_read(arena, NULL, AT_FDCWD, path.data, folder);
	buf_release(&path);
	return list ? list : ARENA_NEW(arena, struct ignore_list);
}

const struct ignore_list *ignore_above(struct arena *arena, const char *folder)
{
	size_t end = repository_length(folder), total = strlen(folder);
	const struct ignore_list *list;

	/* If the folder is itself the root of a repository, the walk finds its
	 * .git. */
	if (!end || end == total)
		return NULL;
	list = ignore_repository(arena, arena_strndup(arena, folder, end));
	while (end < total) {
		const char *at = arena_strndup(arena, folder, end);

		list = ignore_read(arena, list, AT_FDCWD,
				   arena_printf(arena, "%s/.gitignore", at),
				   at);
		end++;
		end += strcspn(folder + end, "/");
	}
	return list;
}

/*
 * Implements --exclude. Excluded files are not counted, because the user asked
 * for it.
 */

struct exclude {
	struct glob *glob;
	bool path; /* contains a '/': matches paths, not names */
};

/* Compiles a pattern. "./x/" has the same meaning as "x". */
static struct exclude compile(const char *text, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct exclude exclude;
	size_t len;

	if (text_starts(text, "./"))
		text += 2;
	len = strlen(text);
	if (len > 1 && text[len - 1] == '/')
		len--;
	text = arena_strndup(&arena, text, len);
	exclude = (struct exclude){glob_compile(text, 0, err),
				   strchr(text, '/') != NULL};
	if (!exclude.glob)
		err_wrap(err, "--exclude %s", text);
	arena_release(&arena);
	return exclude;
}

int excludes_init(struct excludes *excludes, const struct list *patterns,
		  struct err *err)
{
	memset(excludes, 0, sizeof(*excludes));
	for (size_t i = 0; i < patterns->n; i++) {
		struct exclude exclude = compile(patterns->items[i], err);

		if (!exclude.glob)
			return -1;
		*ARRAY_PUSH(excludes->items, excludes->n, excludes->size) =
			exclude;
	}
	return 0;
}

bool excludes_match(const struct excludes *excludes, const char *shown,
		    const char *absolute)
{
	const char *slash = strrchr(shown, '/');
	const char *name = slash ? slash + 1 : shown;

	for (size_t i = 0; i < excludes->n; i++) {
		const struct exclude *e = &excludes->items[i];

		if (glob_match(e->glob, e->path ? shown : name) ||
		    (e->path && glob_match(e->glob, absolute)))
			return true;
	}
	return false;
}

bool excludes_match_any(const struct excludes *excludes, const char *shown,
			const char *absolute)
{
	struct buf part;
	bool hit = false;

	buf_init(&part);
	for (const char *at = shown; *at && !hit;) {
		size_t len = strcspn(at + 1, "/") + 1;

		buf_add(&part, at, len);
		at += len;
		hit = excludes_match(excludes, part.data, *at ? "" : absolute);
	}
	buf_release(&part);
	return hit;
}

void excludes_release(struct excludes *excludes)
{
	for (size_t i = 0; i < excludes->n; i++)
		glob_free(excludes->items[i].glob);
	free(excludes->items);
}
