/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a session of the language server. The input's bytes up to a NUL are a
 * document. The bytes after it choose edits and requests. After the last byte,
 * pseudorandom numbers from a hash of the input choose more of them. Checks
 * that
 *	- the server's output is a sequence of messages, each of them JSON
 *	- every request is answered once, and only requests are answered
 *	- a range does not end before it begins, and is inside of a document
 * Inputs: 1000
 * Seeds: 1 of 8
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "lint/lsp/session.h"

enum { DRAWN = 8, MOST = 64, SIZE_MOST = 16 << 10 };

#define URI "file:///gpugate-fuzz-nowhere/pod.yaml"

struct fuzz {
	const uint8_t *at, *end;
	uint64_t drawn;
	unsigned left;
	struct buf frames;
	json_int_t requests;
	/* one more with each edit and each line end of a replaced text */
	size_t lines;
};

/* --- messages of the client ----------------------------------------------- */

static uint32_t draw(struct fuzz *fuzz, uint32_t below)
{
	uint32_t value;

	if (fuzz->end - fuzz->at >= 2) {
		value = (uint32_t)(fuzz->at[0] << 8 | fuzz->at[1]);
		fuzz->at += 2;
	} else {
		fuzz->drawn = fuzz->drawn * UINT64_C(6364136223846793005) +
			      UINT64_C(1442695040888963407);
		value = (uint32_t)(fuzz->drawn >> 33);
	}
	return value % below;
}

static void add_frame(struct fuzz *fuzz, const char *text, size_t len)
{
	buf_addf(&fuzz->frames, "Content-Length: %zu\r\n\r\n", len);
	buf_add(&fuzz->frames, text, len);
}

static void tell(struct fuzz *fuzz, json_t *message)
{
	char *text;

	if (!message)
		BUG("a message that JSON cannot hold");
	text = json_dumps(message, JSON_COMPACT);
	json_decref(message);
	add_frame(fuzz, text, strlen(text));
	free(text);
}

static void notify(struct fuzz *fuzz, const char *method, json_t *params)
{
	tell(fuzz, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method",
			     method, "params", params));
}

static void request(struct fuzz *fuzz, const char *method, json_t *params)
{
	tell(fuzz,
	     json_pack("{s:s, s:I, s:s, s:o}", "jsonrpc", "2.0", "id",
		       ++fuzz->requests, "method", method, "params", params));
}

/* Adds valid UTF-8 with characters of every length, also NUL, which JSON
 * allows. */
static void add_text(struct buf *out, const uint8_t *data, size_t len)
{
	static const char *const wide[] = {"\xc3\xa9", "\xe6\xbc\xa2",
					   "\xf0\x9f\x98\x80", "\xef\xbb\xbf"};

	for (size_t i = 0; i < len; i++)
		if (data[i] < 0x80)
			buf_addc(out, (char)data[i]);
		else
			buf_adds(out, wide[data[i] & 3]);
}

static json_t *position(struct fuzz *fuzz)
{
	uint32_t line = draw(fuzz, (uint32_t)fuzz->lines + 2);

	return json_pack("{s:i, s:i}", "line", (int)line, "character",
			 (int)draw(fuzz, draw(fuzz, 8) ? 24 : 1 << 20));
}

static json_t *document(void)
{
	return json_pack("{s:s}", "uri", URI);
}

static void open_document(struct fuzz *fuzz, const struct buf *text)
{
	notify(fuzz, "textDocument/didOpen",
	       json_pack("{s:{s:s, s:s, s:i, s:s%}}", "textDocument", "uri",
			 URI, "languageId", "yaml", "version", 1, "text",
			 text->data, text->len));
}

static void edit(struct fuzz *fuzz)
{
	static const char *const pieces[] = {
		"",
		"\n",
		"\r\n",
		"  ",
		":",
		"- ",
		"nvidia.com/gpu: 3\n",
		"\xf0\x9f\x98\x80",
		"---\n",
		"\"",
		"{{ .x }}",
		"# gpugate: ignore[shm-missing] -- x\n",
		"kind: Pod\n",
		"\t",
		"&a *a",
		"metadata: {}\n",
	};
	uint32_t i = draw(fuzz, sizeof(pieces) / sizeof(*pieces));
	json_t *start = position(fuzz);
	json_t *end = draw(fuzz, 3) ? json_deep_copy(start) : position(fuzz);

	fuzz->lines++;
	notify(fuzz, "textDocument/didChange",
	       json_pack("{s:{s:s, s:i}, s:[{s:{s:o, s:o}, s:s}]}",
			 "textDocument", "uri", URI, "version", 2,
			 "contentChanges", "range", "start", start, "end", end,
			 "text", pieces[i]));
}

static void ask_about(struct fuzz *fuzz, const char *method)
{
	request(fuzz, method,
		json_pack("{s:o, s:o}", "textDocument", document(), "position",
			  position(fuzz)));
}

static void ask_actions(struct fuzz *fuzz)
{
	request(fuzz, "textDocument/codeAction",
		json_pack("{s:o, s:{s:o, s:o}, s:{s:[]}}", "textDocument",
			  document(), "range", "start", position(fuzz), "end",
			  position(fuzz), "context", "diagnostics"));
}

/* Sends the next bytes as the body of a message. */
static void raw(struct fuzz *fuzz)
{
	size_t len = draw(fuzz, 40);

	if (len > (size_t)(fuzz->end - fuzz->at))
		len = (size_t)(fuzz->end - fuzz->at);
	add_frame(fuzz, (const char *)fuzz->at, len);
	fuzz->at += len;
}

static void step(struct fuzz *fuzz)
{
	switch (draw(fuzz, 10)) {
	case 0:
		ask_about(fuzz, "textDocument/hover");
		break;
	case 1:
		ask_about(fuzz, "textDocument/completion");
		break;
	case 2:
		ask_actions(fuzz);
		break;
	case 3:
		raw(fuzz);
		break;
	case 4:
		notify(fuzz, "textDocument/didSave",
		       json_pack("{s:o}", "textDocument", document()));
		break;
	default:
		edit(fuzz);
	}
}

static void write_session(struct fuzz *fuzz, const uint8_t *data, size_t size)
{
	const uint8_t *stop = memchr(data, '\0', size);
	struct buf text;

	buf_init(&text);
	add_text(&text, data, stop ? (size_t)(stop - data) : size);
	fuzz->at = stop ? stop + 1 : data + size;
	fuzz->end = data + size;
	for (size_t i = 0; i < size; i++)
		fuzz->drawn = (fuzz->drawn ^ data[i]) * UINT64_C(1099511628211);
	for (size_t i = 0; i < text.len; i++)
		fuzz->lines += text.data[i] == '\n' || text.data[i] == '\r';
	request(fuzz, "initialize",
		draw(fuzz, 2)
			? json_object()
			: json_pack("{s:{s:{s:[s]}}}", "capabilities",
				    "general", "positionEncodings", "utf-8"));
	open_document(fuzz, &text);
	ask_actions(fuzz);
	for (unsigned i = 0; i < MOST && (i < DRAWN || fuzz->at < fuzz->end);
	     i++)
		step(fuzz);
	ask_actions(fuzz);
	request(fuzz, "shutdown", json_null());
	notify(fuzz, "exit", json_null());
	buf_release(&text);
}

/* --- messages of the server ----------------------------------------------- */

static json_int_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		BUG("%s is not a number from 0", key);
	return json_integer_value(value);
}

static void check_range(const struct fuzz *fuzz, const json_t *range)
{
	const json_t *start = json_object_get(range, "start");
	const json_t *end = json_object_get(range, "end");
	json_int_t first = number(start, "line"), last = number(end, "line");

	if (first > last || (first == last && number(start, "character") >
						      number(end, "character")))
		BUG("a range ends before it begins");
	/* An edit adds one line, and its carriage return may be another. */
	if (last > (json_int_t)fuzz->lines * 2)
		BUG("line %d of %zu", (int)last, fuzz->lines);
}

static void check_ranges(const struct fuzz *fuzz, json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;

	json_array_foreach(value, i, item) check_ranges(fuzz, item);
	json_object_foreach(value, key, item)
	{
		if (!strcmp(key, "range"))
			check_range(fuzz, item);
		check_ranges(fuzz, item);
	}
}

/* Returns the id of the answered request, or 0. */
static json_int_t check_message(const struct fuzz *fuzz, const char *body,
				size_t len)
{
	json_t *message = json_loadb(body, len, JSON_ALLOW_NUL, NULL);
	json_int_t id;

	if (!message)
		BUG("the server wrote no JSON: %.*s", (int)len, body);
	check_ranges(fuzz, message);
	id = json_integer_value(json_object_get(message, "id"));
	if (!json_object_get(message, "result") &&
	    !json_object_get(message, "error"))
		id = 0;
	json_decref(message);
	return id;
}

static void check_output(const struct fuzz *fuzz, int fd)
{
	unsigned answers[MOST + 8] = {0};
	struct lsp_input input;
	const char *body;
	json_int_t id;
	size_t len;
	int rc;

	lseek(fd, 0, SEEK_SET);
	lsp_input_init(&input, fd);
	while ((rc = lsp_read(&input, &body, &len)) > 0) {
		id = check_message(fuzz, body, len);
		if (id > 0 && id <= fuzz->requests)
			answers[id]++;
	}
	lsp_input_release(&input);
	if (rc < 0)
		BUG("the server wrote no message");
	for (id = 1; id <= fuzz->requests; id++)
		if (answers[id] != 1)
			BUG("request %d of %d has %u answers", (int)id,
			    (int)fuzz->requests, answers[id]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct options options = {.isolated = true, .jobs = 1};
	struct fuzz fuzz = {.drawn = UINT64_C(14695981039346656037)};
	struct lsp_session session = {.options = &options};
	int in = memfd_create("in", MFD_CLOEXEC);

	if (size > SIZE_MOST)
		size = SIZE_MOST;
	session.out = memfd_create("out", MFD_CLOEXEC);
	buf_init(&fuzz.frames);
	write_session(&fuzz, data, size);
	if (in < 0 || session.out < 0 ||
	    file_write_fd(in, fuzz.frames.data, fuzz.frames.len))
		BUG("no memory for the session");
	lseek(in, 0, SEEK_SET);
	lsp_input_init(&session.input, in);
	lsp_serve(&session);
	check_output(&fuzz, session.out);
	lsp_session_release(&session);
	buf_release(&fuzz.frames);
	close(in);
	close(session.out);
	return 0;
}
