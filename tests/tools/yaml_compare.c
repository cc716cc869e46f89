/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_compare [--mutate COUNT SEED] FILE...: compares both YAML readers on
 * every document of the files, then on COUNT texts made from these by seeded
 * changes. Prints how many texts the fast reader read; differences go to
 * stderr, with the text. Exit status: 0 no differences, 1 differences, 2 usage.
 */
#include "yaml_compare.h"

enum {
	TEXT_MAX = 1 << 16, /* bytes of a changed text */
	LINES_MAX = 60,
	FAILURES_MAX = 5, /* maximum number of differences shown */
};

struct text {
	char *data;
	size_t len;
};

struct compare_run {
	struct arena arena;
	struct text *documents;
	size_t ndocuments, size;
	uint64_t seed;
	unsigned long counts[3];
};

static const struct load_limits tight = {
	.bytes = TEXT_MAX,
	.depth = 4,
	.nodes = 20,
	.directives = 64,
	.flow_work = 30,
};

static struct text slurp(const char *name)
{
	struct text text = {0};
	FILE *file = fopen(name, "rb");
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0) {
		fprintf(stderr, "yaml_compare: cannot read %s\n", name);
		exit(2);
	}
	rewind(file);
	text.data = malloc((size_t)size + 1);
	text.len = fread(text.data, 1, (size_t)size, file);
	fclose(file);
	return text;
}

static void run_one(struct compare_run *run, const char *text, size_t len,
		    const struct load_limits *limits)
{
	/* The copy has exactly the text's size, so that a sanitizer detects a
	 * read past its end. */
	char *exact = malloc(len ? len : 1);
	enum yaml_compare result;

	memcpy(exact, text, len);
	arena_reset(&run->arena);
	result = compare_readers(&run->arena, exact, len, limits);
	run->counts[result]++;
	if (result == COMPARE_DIFFER &&
	    run->counts[COMPARE_DIFFER] <= FAILURES_MAX)
		fprintf(stderr,
			"--- limits %s, text of %zu bytes:\n%.*s\n---\n",
			limits == &tight ? "tight" : "default", len, (int)len,
			text);
	free(exact);
}

static void keep(struct compare_run *run, const char *text, size_t len)
{
	struct text *document;

	if (run->ndocuments == run->size) {
		run->size = run->size ? run->size * 2 : 1024;
		run->documents = realloc(run->documents,
					 run->size * sizeof(*run->documents));
	}
	document = &run->documents[run->ndocuments++];
	document->data = malloc(len + 1);
	document->len = len;
	memcpy(document->data, text, len);
}

static void run_file(struct compare_run *run, const char *name)
{
	struct text text = slurp(name);
	struct arena arena = ARENA_INIT;
	struct source source;
	struct loader loader;
	struct doc doc;

	run_one(run, text.data, text.len, &load_limits_default);
	run->counts[COMPARE_SAME] = run->counts[COMPARE_FALL_BACK] = 0;
	source_init(&source, &arena, name, text.data, text.len);
	loader_init(&loader, &source, &load_limits_default, &arena);
	while (loader_next(&loader, &doc))
		if (!doc.json)
			keep(run, source.text + doc.start, doc.end - doc.start);
	arena_release(&arena);
	free(text.data);
}

/* --- changes -------------------------------------------------------------- */

static uint32_t pick(struct compare_run *run, size_t n)
{
	run->seed ^= run->seed << 13;
	run->seed ^= run->seed >> 7;
	run->seed ^= run->seed << 17;
	return n ? (uint32_t)((run->seed >> 20) % n) : 0;
}

static const char *const pieces[] = {
	" ",
	"  ",
	"\n",
	"\n\n",
	"\t",
	"- ",
	"-",
	": ",
	":",
	"#",
	" #",
	" # x",
	",",
	"[",
	"]",
	"{",
	"}",
	"{}",
	"[]",
	"\"",
	"'",
	"''",
	"\\",
	"\\\"",
	"\\n",
	"\\/",
	"|",
	"|\n",
	">\n",
	"|-\n",
	">-\n",
	"|+\n",
	">+\n",
	"|2\n",
	"&a ",
	"*a",
	"!x ",
	"!!str ",
	"? ",
	"?",
	"<<: ",
	"<<",
	"%",
	"@",
	"`",
	"~",
	"null",
	"true",
	"n",
	"0",
	"0x1f",
	"-1",
	"1e3",
	".5",
	"007",
	"1_000",
	".inf",
	"-.nan",
	"---\n",
	"...\n",
	"--- ",
	"\r",
	"\r\n",
	"\xc3\xa9",
	"\xe2\x80\xa8",
	"\xc2\x85",
	"\xef\xbb\xbf",
	"\xf0\x9f\x98\x80",
	"\x7f",
	"a: b",
	"a: b\n",
	"- a\n",
	"{a: b}",
	"[a, b]",
	"a: [1, 2]\n",
	"\"a\": ",
	"'a': ",
	"\na:\n  - b\n",
	"\na:\n- b\n",
	"- - ",
	"a:\n",
	"x: |\n    a\n   b\n",
	"x: >\n  a\n  b\n\n  c\n   d\n  e\n",
	"18446744073709551615",
	"9223372036854775808",
	"{\"a\":1}",
	"{a}",
	"{a:1}",
	"[a: 1]",
	"[\n",
	"\n]",
	",\n",
	"\xff",
	"\xc3",
	"\x01",
	"=",
	"|\n       \n  a\n",
	": |\n",
	":,",
	":]",
	"[a:]",
	"[a:, b]",
	"[a#b]",
	"\n---\n",
	"\n...\n",
	"\n  ",
	"\n ",
	"''",
	"\" \n \"",
	"'\n\n'",
};

static size_t insert(char *text, size_t len, size_t at, const char *piece,
		     size_t n)
{
	if (len + n > TEXT_MAX)
		return len;
	memmove(text + at + n, text + at, len - at);
	memcpy(text + at, piece, n);
	return len + n;
}

static size_t delete (char *text, size_t len, size_t at, size_t n)
{
	n = n > len - at ? len - at : n;
	memmove(text + at, text + at + n, len - at - n);
	return len - n;
}

static size_t line_start(const char *text, size_t at)
{
	while (at && text[at - 1] != '\n')
		at--;
	return at;
}

static size_t line_len(const char *text, size_t len, size_t at)
{
	const char *lf = memchr(text + at, '\n', len - at);

	return lf ? (size_t)(lf + 1 - text) - at : len - at;
}

/*
 * Returns a position for a change: in three of four calls, at the start of a
 * line's text or next to punctuation, where changes matter most.
 */
static size_t place_of(struct compare_run *run, const char *text, size_t len)
{
	size_t at = pick(run, len + 1);
	size_t n;

	switch (pick(run, 4)) {
	case 0:
		return at;
	case 1:
		at = line_start(text, at);
		while (at < len && text[at] == ' ')
			at++;
		return at;
	case 2:
		n = line_len(text, len, at);
		return n ? at + n - 1 : at;
	default:
		while (at < len && !strchr(":#-,[]{}\"'|>\n", text[at]))
			at++;
		return at + (at < len && pick(run, 2));
	}
}

/* Moves or repeats a line. */
static size_t change_line(struct compare_run *run, char *text, size_t len,
			  bool move)
{
	char line[512];
	size_t from = line_start(text, pick(run, len + 1));
	size_t n = line_len(text, len, from);
	size_t to;

	n = n > sizeof(line) ? sizeof(line) : n;
	memcpy(line, text + from, n);
	if (move)
		len = delete (text, len, from, n);
	to = line_start(text, pick(run, len + 1));
	return insert(text, len, to, line, n);
}

static size_t change_indent(struct compare_run *run, char *text, size_t len)
{
	size_t at = line_start(text, pick(run, len + 1));
	size_t n = 1 + pick(run, 3);

	if (pick(run, 2))
		return insert(text, len, at, "    ", n);
	while (n-- && at < len && text[at] == ' ')
		len = delete (text, len, at, 1);
	return len;
}

static size_t change(struct compare_run *run, char *text, size_t len)
{
	size_t at = place_of(run, text, len);
	const char *piece = pieces[pick(run, sizeof(pieces) / sizeof(*pieces))];

	switch (pick(run, 10)) {
	case 0:
		if (at < len)
			text[at] = (char)(text[at] ^ (1 << pick(run, 8)));
		return len;
	case 1:
		return delete (text, len, at, 1 + pick(run, 3));
	case 2:
		return change_line(run, text, len, true);
	case 3:
		return change_line(run, text, len, false);
	case 4:
		return at > len / 2 ? at : len;
	case 5:
	case 6:
		return change_indent(run, text, len);
	case 7:
		if (at < len)
			len = delete (text, len, at, 1);
		/* fall through */
	default:
		return insert(text, len, at, piece, strlen(piece));
	}
}

/* Copies some lines of a random document to text, and returns their length. */
static size_t take_part(struct compare_run *run, char *text)
{
	const struct text *document =
		&run->documents[pick(run, run->ndocuments)];
	size_t from = 0, to, lines = 1 + pick(run, LINES_MAX);

	if (pick(run, 2))
		from = line_start(document->data, pick(run, document->len + 1));
	for (to = from; lines-- && to < document->len;)
		to += line_len(document->data, document->len, to);
	if (to - from > TEXT_MAX / 2)
		to = from + TEXT_MAX / 2;
	memcpy(text, document->data + from, to - from);
	return to - from;
}

static void run_changed(struct compare_run *run)
{
	static char text[TEXT_MAX];
	size_t len = take_part(run, text);

	for (size_t n = 1 + pick(run, 4); n; n--)
		len = change(run, text, len);
	run_one(run, text, len, pick(run, 16) ? &load_limits_default : &tight);
}

static int print(struct compare_run *run, const char *what)
{
	printf("%s: %lu fast, %lu left to libyaml, %lu differ\n", what,
	       run->counts[COMPARE_SAME], run->counts[COMPARE_FALL_BACK],
	       run->counts[COMPARE_DIFFER]);
	return run->counts[COMPARE_DIFFER] > 0;
}

int main(int argc, char **argv)
{
	struct compare_run run = {.arena = ARENA_INIT};
	unsigned long count = 0;
	int status, i = 1;

	if (argc > 3 && !strcmp(argv[1], "--mutate")) {
		count = strtoul(argv[2], NULL, 10);
		run.seed = strtoul(argv[3], NULL, 10) * 2654435769u + 1;
		i = 4;
	}
	for (; i < argc; i++)
		run_file(&run, argv[i]);
	for (size_t n = 0; n < run.ndocuments; n++)
		run_one(&run, run.documents[n].data, run.documents[n].len,
			&load_limits_default);
	status = print(&run, "documents");
	memset(run.counts, 0, sizeof(run.counts));
	while (count-- && run.ndocuments)
		run_changed(&run);
	status |= print(&run, "changed texts");
	for (size_t n = 0; n < run.ndocuments; n++)
		free(run.documents[n].data);
	free(run.documents);
	arena_release(&run.arena);
	return status;
}
