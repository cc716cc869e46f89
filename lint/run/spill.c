/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: a fixed part copied byte by byte (same process, same layout), then
 * the strings, each with its NUL, so that reading copies nothing but the
 * record. If a temporary file cannot be written, everything stays in memory:
 * findings are never lost.
 */
#include "spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"

enum { BUFFER = 1024 * 1024, WINDOW = 32 * 1024 };

struct fixed {
	uint64_t fingerprint;
	struct place place;
	const struct rule *rule;
	uint32_t nrelated, pod_key, container_key;
	uint8_t severity, action, severity_fixed, suppressed, repair;
};

void spill_init(struct spill *spill)
{
	buf_init(&spill->buf);
	spill->flushed = 0;
	spill->fd = -1;
	spill->error = 0;
	spill->again = 0;
	memset(spill->windows, 0, sizeof(spill->windows));
}

void spill_release(struct spill *spill)
{
	if (spill->fd >= 0)
		close(spill->fd);
	buf_release(&spill->buf);
	free(spill->windows[0].data);
	free(spill->windows[1].data);
}

/* --- the file ------------------------------------------------------------ */

static int open_temporary(void)
{
	const char *folder = getenv("TMPDIR");
	struct buf path;
	int fd;

	if (!folder || !*folder)
		folder = "/tmp";
	fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	buf_init(&path);
	buf_addf(&path, "%s/gpugate.XXXXXX", folder);
	fd = mkostemp(path.data, O_CLOEXEC);
	if (fd >= 0)
		unlink(path.data);
	buf_release(&path);
	return fd >= 0 ? fd : -2;
}

/* Writes the findings once there are enough. If the write fails, they stay in
 * memory until there are twice as many. */
static void flush(struct spill *spill)
{
	if (spill->buf.len <= BUFFER || spill->buf.len < spill->again)
		return;
	spill->again = spill->buf.len * 2;
	if (spill->fd == -1)
		spill->fd = open_temporary();
	if (spill->fd < 0)
		return;
	/* Records written before stay readable. */
	if (lseek(spill->fd, (off_t)spill->flushed, SEEK_SET) < 0 ||
	    file_write_fd(spill->fd, spill->buf.data, spill->buf.len))
		return;
	spill->again = 0;
	spill->flushed += spill->buf.len;
	buf_reset(&spill->buf);
	if (spill->buf.size > 4 * BUFFER)
		buf_release(&spill->buf);
}

/* Room for all that is kept in memory: untouched pages cost nothing, and a
 * buffer that grows is copied again and again. */
static void prepare(struct spill *spill)
{
	if (!spill->buf.size)
		buf_grow(&spill->buf, BUFFER + BUFFER / 8);
}

/* --- writing ------------------------------------------------------------- */

#define IN_FINDING(member) offsetof(struct finding, member)

/* Texts of a finding, in the order of the file. */
static const size_t texts[] = {
	IN_FINDING(place.pointer), IN_FINDING(id.api_version),
	IN_FINDING(id.kind),	   IN_FINDING(id.namespace),
	IN_FINDING(id.name),	   IN_FINDING(pod),
	IN_FINDING(container),	   IN_FINDING(message),
	IN_FINDING(help),	   IN_FINDING(cause),
	IN_FINDING(policy),	   IN_FINDING(binding),
	IN_FINDING(wants),	   IN_FINDING(suppression_reason)};

enum { TEXTS = sizeof(texts) / sizeof(*texts) };

static void put_string(struct buf *buf, const char *text)
{
	if (text)
		buf_add(buf, text, strlen(text) + 1);
	else
		buf_addc(buf, '\0');
}

static void put_repair(struct buf *buf, const struct fix_result *repair)
{
	buf_addc(buf, (char)repair->safe);
	buf_addc(buf, (char)repair->kept);
	put_string(buf, repair->title);
	put_string(buf, repair->patch);
	put_string(buf, repair->refused);
	buf_add(buf, &repair->nedits, sizeof(repair->nedits));
	for (unsigned i = 0; i < repair->nedits; i++) {
		const struct fix_edit *edit = &repair->edits[i];

		buf_add(buf, &edit->start, sizeof(edit->start));
		buf_add(buf, &edit->end, sizeof(edit->end));
		put_string(buf, edit->text);
	}
}

static void put_finding(struct spill *spill, const struct finding *f)
{
	struct buf *buf = &spill->buf;
	struct fixed fixed;

	memset(&fixed, 0, sizeof(fixed));
	fixed.fingerprint = f->fingerprint;
	fixed.place = f->place;
	fixed.rule = f->rule;
	fixed.nrelated = f->nrelated;
	fixed.pod_key = f->pod_key;
	fixed.container_key = f->container_key;
	fixed.severity = (uint8_t)f->severity;
	fixed.action = (uint8_t)f->action;
	fixed.severity_fixed = f->severity_fixed;
	fixed.suppressed = (uint8_t)f->suppressed;
	fixed.repair = f->repair != NULL;
	buf_add(buf, &fixed, sizeof(fixed));
	for (size_t i = 0; i < TEXTS; i++)
		put_string(buf,
			   *(const char *const *)((const char *)f + texts[i]));
	for (unsigned i = 0; i < f->nrelated; i++) {
		buf_add(buf, &f->related[i].place, sizeof(struct place));
		put_string(buf, f->related[i].place.pointer);
		put_string(buf, f->related[i].message);
	}
	if (f->repair)
		put_repair(buf, f->repair);
}

struct spill_record spill_write(struct spill *spill,
				struct finding *const *findings, size_t n)
{
	struct spill_record record = {.offset =
					      spill->flushed + spill->buf.len};
	uint32_t count = (uint32_t)n;

	prepare(spill);
	buf_add(&spill->buf, &count, sizeof(count));
	for (size_t i = 0; i < n; i++) {
		put_finding(spill, findings[i]);
		flush(spill);
	}
	record.length =
		(uint32_t)(spill->flushed + spill->buf.len - record.offset);
	return record;
}

uint64_t spill_put(void *context, const void *data, size_t len)
{
	struct spill *spill = context;
	uint64_t offset = spill->flushed + spill->buf.len;

	prepare(spill);
	buf_add(&spill->buf, data, len);
	flush(spill);
	return offset;
}

/* --- reading ------------------------------------------------------------- */

static const char *get_string(const char **at)
{
	const char *text = *at;

	*at += strlen(text) + 1;
	return text;
}

static void get_bytes(const char **at, void *to, size_t n)
{
	memcpy(to, *at, n);
	*at += n;
}

static void get_related(const char **at, struct arena *arena, struct finding *f)
{
	f->related = ARENA_ARRAY(arena, struct related, f->nrelated);
	for (unsigned i = 0; i < f->nrelated; i++) {
		get_bytes(at, &f->related[i].place, sizeof(struct place));
		f->related[i].place.pointer = get_string(at);
		f->related[i].message = get_string(at);
	}
}

static struct fix_result *get_repair(const char **at, struct arena *arena)
{
	struct fix_result *repair = ARENA_NEW(arena, struct fix_result);
	struct fix_edit *edits;

	repair->safe = *(*at)++ != 0;
	repair->kept = *(*at)++ != 0;
	repair->title = get_string(at);
	repair->patch = get_string(at);
	repair->refused = get_string(at);
	get_bytes(at, &repair->nedits, sizeof(repair->nedits));
	edits = ARENA_ARRAY(arena, struct fix_edit, repair->nedits);
	for (unsigned i = 0; i < repair->nedits; i++) {
		get_bytes(at, &edits[i].start, sizeof(edits[i].start));
		get_bytes(at, &edits[i].end, sizeof(edits[i].end));
		edits[i].text = get_string(at);
	}
	repair->edits = edits;
	return repair;
}

static void get_finding(const char **at, struct arena *arena, struct finding *f)
{
	struct fixed fixed;

	get_bytes(at, &fixed, sizeof(fixed));
	f->rule = fixed.rule;
	f->fingerprint = fixed.fingerprint;
	f->place = fixed.place;
	f->nrelated = fixed.nrelated;
	f->pod_key = fixed.pod_key;
	f->container_key = fixed.container_key;
	f->severity = fixed.severity;
	f->action = fixed.action;
	f->severity_fixed = fixed.severity_fixed;
	f->suppressed = fixed.suppressed;
	for (size_t i = 0; i < TEXTS; i++)
		*(const char **)((char *)f + texts[i]) = get_string(at);
	if (f->nrelated)
		get_related(at, arena, f);
	if (fixed.repair)
		f->repair = get_repair(at, arena);
}

static int read_all(int fd, char *data, size_t len, uint64_t offset)
{
	while (len) {
		ssize_t n = pread(fd, data, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		data += n;
		len -= (size_t)n;
		offset += (size_t)n;
	}
	return 0;
}

static bool in_window(const struct spill_window *window, uint64_t offset,
		      size_t len)
{
	return offset >= window->at && offset + len <= window->at + window->len;
}

/* Move the window to begin at offset. 0, or errno. */
static int move_window(const struct spill *spill, struct spill_window *window,
		       uint64_t offset)
{
	uint64_t left = spill->flushed - offset;
	size_t len = left < WINDOW ? (size_t)left : WINDOW;
	int error;

	if (!window->data)
		window->data = malloc(WINDOW);
	if (!window->data)
		OUT_OF_MEMORY();
	error = read_all(spill->fd, window->data, len, offset);
	window->at = offset;
	window->len = error ? 0 : len;
	return error;
}

/* A window with these bytes, which must fit into one; NULL and errno in *error.
 */
static const struct spill_window *
find_window(struct spill *spill, uint64_t offset, size_t len, int *error)
{
	struct spill_window *windows = spill->windows;
	struct spill_window other = windows[1];

	if (in_window(&windows[0], offset, len))
		return &windows[0];
	if (!in_window(&other, offset, len))
		*error = move_window(spill, &other, offset);
	windows[1] = windows[0];
	windows[0] = other;
	return *error ? NULL : &windows[0];
}

/* Reads from the file, and the rest from the buffer. */
static int read_both(const struct spill *spill, char *data, size_t len,
		     uint64_t offset)
{
	uint64_t left = spill->flushed - offset;

	if (left >= len)
		return read_all(spill->fd, data, len, offset);
	memcpy(data + left, spill->buf.data, len - left);
	return read_all(spill->fd, data, left, offset);
}

/* Bytes of the file, or of the buffer; NULL and errno in *error. */
static const char *bytes_at(struct spill *spill, uint64_t offset, size_t len,
			    struct arena *arena, int *error)
{
	const struct spill_window *window;
	char *copy;

	*error = 0;
	if (offset >= spill->flushed)
		return spill->buf.data + (offset - spill->flushed);
	copy = arena_alloc(arena, len);
	if (len > WINDOW || offset + len > spill->flushed) {
		*error = read_both(spill, copy, len, offset);
		return *error ? NULL : copy;
	}
	window = find_window(spill, offset, len, error);
	if (!window)
		return NULL;
	return memcpy(copy, window->data + (offset - window->at), len);
}

const void *spill_get(void *context, uint64_t offset, size_t len,
		      struct arena *arena)
{
	struct spill *spill = context;
	int error;
	const char *bytes = bytes_at(spill, offset, len, arena, &error);

	if (!bytes)
		spill->error = error;
	return bytes;
}

const void *spill_copy(struct spill *spill, const struct spill_record *record,
		       struct arena *arena)
{
	const void *bytes =
		spill_get(spill, record->offset, record->length, arena);

	if (!bytes || record->offset < spill->flushed)
		return bytes;
	return memcpy(arena_alloc(arena, record->length), bytes,
		      record->length);
}

size_t spill_number(const void *bytes)
{
	const char *at = bytes;
	uint32_t count = 0;

	if (at)
		get_bytes(&at, &count, sizeof(count));
	return count;
}

void spill_decode(const void *bytes, struct arena *arena,
		  struct finding *findings)
{
	size_t n = spill_number(bytes);
	const char *at = bytes;

	if (n)
		at += sizeof(uint32_t);
	for (size_t i = 0; i < n; i++)
		get_finding(&at, arena, &findings[i]);
}

int spill_bytes(struct spill *spill, const struct spill_record *record,
		struct arena *arena, const void **bytes)
{
	int error;

	*bytes = bytes_at(spill, record->offset, record->length, arena, &error);
	return error;
}
