/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a manifest into a buffer that is reused for the next one, without
 * fstat() and mmap(), which cost more than reading a small file. Texts that
 * can be read only once are stored, and files with findings are read again.
 */
#ifndef LINT_INPUT_H
#define LINT_INPUT_H

#include "base/file.h"
#include "doc/source.h"
#include "files.h"

/* Replaces the content of input by the file's. Returns 0, or an errno value
 * like file_read(). */
int input_read(struct buf *input, int dirfd, const char *path,
	       const struct file_how *how);
int input_read_stdin(struct buf *input);
/* True if standard input is a pipe that contains data. If wait is set, waits
 * for data for at most 0.2 seconds. */
bool input_waits(bool wait);
/* Returns a message for the error: that of strerror(), or a text of gpugate. */
const char *input_strerror(int error);

/*
 * Texts that stay in memory, because reports read files with findings again:
 * texts that can be read only once (standard input and named pipes, as in
 * `<(helm template x)`), and the unsaved texts of an editor.
 */

struct kept_text {
	uint32_t file;
	struct buf text;
};

struct stdin_cache {
	struct kept_text *items;
	size_t n, size;
};

/* Reads all files with FILE_READ_ONCE. Errors are stored in the list of
 * files. */
void stdin_cache_read(struct stdin_cache *stdin_cache, struct files *files);
/* Stores a copy of the text, which is then read in place of the file. */
void stdin_cache_put(struct stdin_cache *stdin_cache, uint32_t file,
		     const char *text, size_t len);
/* Returns the text of the file; NULL if it is not stored. */
const struct buf *stdin_cache_find(const struct stdin_cache *stdin_cache,
				   size_t file);
void stdin_cache_release(struct stdin_cache *stdin_cache);

/*
 * Rereads linted files, for excerpts and for comments about findings of set
 * rules. A few texts stay in memory; the one that was not used for the longest
 * time is dropped.
 */

enum { SOURCES_KEPT = 4 };

struct sources {
	const struct files *files;
	const struct stdin_cache *stdin_cache;
	unsigned clock;
	struct source_slot {
		uint32_t file;
		unsigned used; /* 0: empty */
		struct buf input;
		struct arena arena;
		struct source source;
		struct buf path;
	} slots[SOURCES_KEPT];
};

void sources_init(struct sources *sources, const struct files *files,
		  const struct stdin_cache *stdin_cache);
void sources_release(struct sources *sources);
/* Returns NULL if the file is gone or has changed since it was linted: places
 * in it would be wrong, possibly past its end. Valid for the next SOURCES_KEPT
 * - 1 calls. */
struct source *sources_get(struct sources *sources, uint32_t file);

#endif
