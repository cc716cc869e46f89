/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matches(), find(), findAll() (Kubernetes pkg/cel/library/regex.go). Patterns
 * stay compiled for the thread's next calls. Unlike Go, PCRE2 backtracks; a
 * limit ends long searches with an error.
 */
#include "rules/cel/eval/eval_internal.h"
#include "rules/cel/lib/lib_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "cel/cel.h"
#include "rules/cel/lib/literal.h"
#include "rules/cel/lib/regex/re2.h"

enum {
	PATTERNS = 512,
	NEST_MAX = 1100,
	/* Limits on the steps of one search: it starts with few and repeats
	 * with more if they do not suffice. Steps count as work. */
	MATCH_FIRST = 100,
	MATCH_TIMES = 10,
	MATCH_LIMIT = 1000000,
	STEPS = 2,	   /* steps per unit of work, which takes 60 ns */
	FOUND_WORK = 4,	   /* work for the memory of a list item */
	HEAP_LIMIT = 8192, /* in KiB */
	LONG_TEXT = 4096,
};

struct compiled_pattern {
	char *text;
	size_t len;
	pcre2_code *code;
};

/* Compiled patterns of one thread, by hash. A slot holds the last pattern with
 * its hash. */
struct pattern_cache {
	struct compiled_pattern items[PATTERNS];
	pcre2_compile_context *compile;
	pcre2_match_context *match;
	pcre2_match_data *data;
};

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget(struct compiled_pattern *pattern)
{
	free(pattern->text);
	pcre2_code_free(pattern->code);
}

static void forget_all(void *memory)
{
	struct pattern_cache *patterns = memory;

	for (size_t i = 0; i < PATTERNS; i++)
		forget(&patterns->items[i]);
	pcre2_compile_context_free(patterns->compile);
	pcre2_match_data_free(patterns->data);
	pcre2_match_context_free(patterns->match);
	free(patterns);
}

static void make_key(void)
{
	if (pthread_key_create(&key, forget_all))
		BUG("no key for the patterns of a thread");
}

static struct pattern_cache *of_thread(void)
{
	struct pattern_cache *patterns;

	pthread_once(&once, make_key);
	patterns = pthread_getspecific(key);
	if (patterns)
		return patterns;
	patterns = array_zalloc(1, sizeof(*patterns));
	patterns->compile = pcre2_compile_context_create(NULL);
	patterns->match = pcre2_match_context_create(NULL);
	patterns->data = pcre2_match_data_create(1, NULL);
	if (!patterns->compile || !patterns->match || !patterns->data)
		OUT_OF_MEMORY();
	pcre2_set_newline(patterns->compile, PCRE2_NEWLINE_LF);
	pcre2_set_parens_nest_limit(patterns->compile, NEST_MAX);
	pcre2_set_heap_limit(patterns->match, HEAP_LIMIT);
	pthread_setspecific(key, patterns);
	return patterns;
}

/* Compiles a pattern; returns NULL if it is invalid. */
static pcre2_code *compile(struct arena *arena, struct pattern_cache *patterns,
			   struct cel_text text)
{
	pcre2_code *code = NULL;
	struct buf translated;
	PCRE2_SIZE offset;
	int status = 0;

	buf_init(&translated);
	if (cel_re2_translate(arena, text, &translated))
		code = pcre2_compile(
			(PCRE2_SPTR)translated.data, translated.len,
			PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_CIRCUMFLEX,
			&status, &offset, patterns->compile);
	if (!code && status == PCRE2_ERROR_HEAP_FAILED)
		OUT_OF_MEMORY();
	buf_release(&translated);
	return code;
}

/* Returns a compiled pattern, from the thread's cache if possible; NULL if it
 * is invalid. */
static struct compiled_pattern *pattern_of(struct arena *arena,
					   struct cel_text text)
{
	struct pattern_cache *patterns = of_thread();
	struct compiled_pattern *pattern =
		&patterns->items[text_hash(text.data, text.len, 0) % PATTERNS];
	pcre2_code *code;

	if (pattern->code && pattern->len == text.len &&
	    memcmp(pattern->text, text.data, text.len) == 0)
		return pattern;
	code = compile(arena, patterns, text);
	if (!code)
		return NULL;
	forget(pattern);
	pattern->text = array_zalloc(text.len + 1, 1);
	memcpy(pattern->text, text.data, text.len);
	pattern->len = text.len;
	pattern->code = code;
	return pattern;
}

bool cel_literal_regex(struct cel_text text)
{
	struct arena arena = ARENA_INIT;
	bool valid = pattern_of(&arena, text);

	arena_release(&arena);
	return valid;
}

struct regex_search {
	struct arena *arena;
	struct cel_eval *eval; /* may be NULL */
	struct compiled_pattern *pattern;
	struct cel_text regex, text;
	size_t start, end;	/* of the last match */
	struct cel_value error; /* the null value if the search succeeded */
};

/* Starts a search; returns false if the pattern is invalid. */
static bool search_begin(struct regex_search *search)
{
	search->pattern = pattern_of(search->arena, search->regex);
	if (!search->pattern)
		search->error = cel_error(
			search->arena, "'%.*s' is not a regular expression",
			(int)search->regex.len, search->regex.data);
	return search->pattern;
}

static int try_match(struct regex_search *search, size_t from)
{
	struct pattern_cache *cache = of_thread();
	/* The first search has checked that the whole text is UTF-8. */
	uint32_t options = from ? PCRE2_NO_UTF_CHECK : 0;
	uint32_t limit = MATCH_FIRST;
	int status;

	for (;; limit *= MATCH_TIMES) {
		pcre2_set_match_limit(cache->match, limit);
		if (search->eval)
			eval_work(search->eval, limit / STEPS);
		if (search->eval && search->eval->over)
			return PCRE2_ERROR_MATCHLIMIT;
		status = pcre2_match(search->pattern->code,
				     (PCRE2_SPTR)search->text.data,
				     search->text.len, from, options,
				     cache->data, cache->match);
		if (status != PCRE2_ERROR_MATCHLIMIT || limit >= MATCH_LIMIT)
			return status;
	}
}

/* Finds the next match. Returns false if there is none, or after an error. */
static bool search_from(struct regex_search *search, size_t from)
{
	struct pattern_cache *cache = of_thread();
	PCRE2_UCHAR message[120];
	size_t *ovector = pcre2_get_ovector_pointer(cache->data);
	int status = try_match(search, from);

	search->start = ovector[0];
	search->end = ovector[1];
	/* The match data would keep much memory. */
	if (search->text.len > LONG_TEXT) {
		pcre2_match_data_free(cache->data);
		cache->data = pcre2_match_data_create(1, NULL);
	}
	if (!cache->data || status == PCRE2_ERROR_NOMEMORY)
		OUT_OF_MEMORY();
	if (status >= 0 || status == PCRE2_ERROR_NOMATCH)
		return status >= 0;
	pcre2_get_error_message(status, message, sizeof(message));
	search->error = cel_error(
		search->arena, "regular expression `%.*s`: %s",
		(int)search->regex.len, search->regex.data, (char *)message);
	return false;
}

bool cel_regex_matches(struct arena *arena, const char *regex,
		       struct cel_text text)
{
	struct regex_search search = {
		.arena = arena, .regex = {regex, strlen(regex)}, .text = text};

	return search_begin(&search) && search_from(&search, 0);
}

bool cel_regex_mismatches(struct arena *arena, const char *regex,
			  const char *text, size_t len)
{
	struct regex_search search = {.arena = arena,
				      .regex = {regex, strlen(regex)},
				      .text = {text, len}};

	return search_begin(&search) && !search_from(&search, 0) &&
	       !cel_is(search.error, CEL_ERROR);
}

static struct regex_search search_of(const struct cel_call *call)
{
	return (struct regex_search){.arena = call->arena,
				     .eval = call->eval,
				     .regex = call->args[1].text,
				     .text = call->args[0].text};
}

static struct cel_value matches(struct cel_call *call)
{
	struct regex_search search = search_of(call);
	bool found = search_begin(&search) && search_from(&search, 0);

	return cel_is(search.error, CEL_ERROR) ? search.error : cel_bool(found);
}

static struct cel_value find(struct cel_call *call)
{
	struct regex_search search = search_of(call);

	if (search_begin(&search) && search_from(&search, 0))
		return cel_string_part(search.text, search.start, search.end);
	return cel_is(search.error, CEL_ERROR) ? search.error : cel_string("");
}

/* Returns all matches. As in Go, an empty match directly after another match
 * does not count. */
static struct cel_value find_all(struct cel_call *call)
{
	int64_t limit = call->n > 2 ? call->args[2].integer : -1;
	struct cel_value *items = NULL;
	size_t n = 0, size = 0, from = 0, previous = (size_t)-1;
	struct regex_search s = search_of(call);

	if (!search_begin(&s))
		return s.error;
	while ((int64_t)n != limit && from <= s.text.len && !call->eval->over &&
	       search_from(&s, from)) {
		bool empty = s.end == from;

		eval_work(call->eval, FOUND_WORK);
		if (!empty || s.start != previous)
			*VEC_PUSH(call->arena, items, n, size) =
				cel_string_part(s.text, s.start, s.end);
		from = s.end;
		if (empty)
			from += from < s.text.len
					? utf8_length(s.text.data + from,
						      s.text.len - from)
					: 1;
		previous = s.end;
	}
	return cel_is(s.error, CEL_ERROR) ? s.error
					  : cel_list(call->arena, items, n);
}

static uint64_t regex_cost(const struct cel_call *call, struct cel_value result)
{
	return cel_cost_share(1 + cel_cost_size(call->args[0]), 0.1) *
	       cel_cost_share(cel_cost_size(call->args[1]), 0.25);
}

const struct cel_overload cel_regex_library[] = {
	{"matches", "(string, string) bool", matches, NULL},
	{"matches", "string.(string) bool", matches, regex_cost},
	{"find", "string.(string) string", find, regex_cost},
	{"findAll", "string.(string) list(string)", find_all, regex_cost},
	{"findAll", "string.(string, int) list(string)", find_all, regex_cost},
	{0},
};
