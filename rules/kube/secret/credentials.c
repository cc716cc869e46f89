/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds credentials by their context: after a word such as "password" and an
 * assignment sign, in a URL or a data source name, after an authentication
 * scheme. They are masked in all output, but no rule reports them, because a
 * preceding word is weaker evidence than the name of a variable.
 */
#include "kube/secret/secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"
#include "rules/kube/secret/secret_internal.h"

enum {
	LEAST = 4,  /* shortest password in bytes */
	RANDOM = 8, /* shortest text that can look random */
	/* shortest key among the words after `wandb login` */
	HEX_KEY = 20,
	KEY_MOST = 256,
	/* longest value, so that the scan takes linear time */
	VALUE_MOST = 4096,
	BETWEEN_MOST = 64, /* longest distance between a word and its value */
	/* most words after `wandb login`, and most quotes and blanks between a
	 * word and its sign */
	ARGUMENTS = 8,
};

struct credential_scan {
	const char *s;
	size_t len;
	void (*found)(void *context, size_t at, size_t len);
	void *context;
	bool any;
	/* Bytes that were scanned before, so that overlapping searches do not
	 * read them again: for each set of end characters, the bytes that
	 * until() has scanned without finding one. */
	struct seen {
		const char *ends;
		size_t from, to;
		bool stops[256];
	} seen[4];
	unsigned next;
	size_t before;	  /* end of the last occurrence that each() found */
	size_t low, high; /* credential that was reported last */
};

static void report(struct credential_scan *scan, size_t at, size_t end)
{
	scan->any = true;
	scan->low = at;
	scan->high = end;
	if (scan->found)
		scan->found(scan->context, at, end - at);
}

/* Returns the end of the characters among `among` from `at` on, at most
 * BETWEEN_MOST bytes later. */
static size_t span(const struct credential_scan *scan, size_t at,
		   const char *among)
{
	size_t end = at + BETWEEN_MOST;

	while (at < scan->len && at < end && scan->s[at] &&
	       strchr(among, scan->s[at]))
		at++;
	return at;
}

static struct seen *seen_of(struct credential_scan *scan, const char *ends)
{
	struct seen *seen = scan->seen;

	for (size_t i = 0; i < ARRAY_SIZE(scan->seen); i++)
		if (seen[i].ends == ends)
			return &seen[i];
	seen += scan->next++ % ARRAY_SIZE(scan->seen);
	*seen = (struct seen){.ends = ends, .stops = {true}};
	for (; *ends; ends++)
		seen->stops[(unsigned char)*ends] = true;
	return seen;
}

/* Returns the position of the first character among `ends` from `at` on, at
 * most VALUE_MOST bytes later. */
static size_t until(struct credential_scan *scan, size_t at, const char *ends)
{
	struct seen *seen = seen_of(scan, ends);
	size_t end = at + VALUE_MOST;

	if (at < seen->from || at > seen->to)
		seen->to = at;
	seen->from = at;
	while (seen->to < scan->len && seen->to < end &&
	       !seen->stops[(unsigned char)scan->s[seen->to]])
		seen->to++;
	return seen->to;
}

/* True for a text of at least RANDOM bytes with a digit, or with a capital
 * after a small letter. */
static bool looks_random(const char *s, size_t len)
{
	bool digit = false, mixed = false;

	for (size_t i = 0; i < len; i++) {
		digit |= isdigit((unsigned char)s[i]) != 0;
		mixed |= i && isupper((unsigned char)s[i]) &&
			 islower((unsigned char)s[i - 1]);
	}
	return len >= RANDOM && (digit || mixed);
}

/* --- after a word --------------------------------------------------------- */

/* Words that precede a credential, and whether its value must look random. */
static const struct word {
	const char *text;
	bool random;
} words[] = {
	{"password", false},
	{"passwd", false},
	{"pwd", false},
	{"passphrase", false},
	{"pgpassword", false},
	{"api-key", true},
	{"api_key", true},
	{"apikey", true},
	{"access-key", true},
	{"access_key", true},
	{"accesskey", true},
	{"secret-key", true},
	{"secret_key", true},
	{"secretkey", true},
	{"client-secret", true},
	{"client_secret", true},
	{"token", true},
	{"accountkey", true},
	{"sharedaccesskey", true},
};
enum { WORDS = ARRAY_SIZE(words) };
static const struct word any_value = {"api-key", false};

/* True if a part of a name starts here: after a character that is neither
 * letter nor digit, or with a capital after a small letter. */
static bool begins_part(const struct credential_scan *scan, size_t at)
{
	return !at || !isalnum((unsigned char)scan->s[at - 1]) ||
	       (isupper((unsigned char)scan->s[at]) &&
		islower((unsigned char)scan->s[at - 1]));
}

/* Returns the word that ends before text[end], or NULL. A text may have a sign
 * in every second byte, so the last two letters are compared first. */
static const struct word *word_before(const struct credential_scan *scan,
				      size_t end)
{
	static const char ends[] = "rd wd se ey et en";
	char last[] = {0, 0, '\0'};

	if (end < 2)
		return NULL;
	last[0] = (char)tolower((unsigned char)scan->s[end - 2]);
	last[1] = (char)tolower((unsigned char)scan->s[end - 1]);
	if (!isalpha((unsigned char)last[1]) || !strstr(ends, last))
		return NULL;
	for (size_t i = 0; i < WORDS; i++) {
		size_t n = strlen(words[i].text);

		if (n <= end &&
		    !strncasecmp(scan->s + end - n, words[i].text, n) &&
		    begins_part(scan, end - n))
			return &words[i];
	}
	return NULL;
}

bool credential_is_value(const char *text, size_t len)
{
	static const char *const none[] = {"true", "false", "null", "none"};

	if (len < LEAST || strchr("$<{[(/*&!|>%~", *text))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		if (strlen(none[i]) == len && !strncasecmp(none[i], text, len))
			return false;
	return true;
}

/* Reads the value from `at` on, in quotes or without, and reports it if it may
 * be a secret. Returns its end. */
static size_t take_value(struct credential_scan *scan, size_t at,
			 const struct word *word)
{
	size_t end;

	at = span(scan, at, " \t");
	at = span(scan, at, "\\\"'");
	end = until(scan, at, " \t\r\n\"'\\&;,}])`");
	if (at < end && credential_is_value(scan->s + at, end - at) &&
	    (!word->random || looks_random(scan->s + at, end - at)))
		report(scan, at, end);
	return end;
}

/* Finds values after the character `sign`, which follows a word such as
 * "password"; quotes and blanks may be between the word and the character. */
static void scan_sign(struct credential_scan *scan, char sign)
{
	const char *end = scan->s + scan->len, *at = scan->s;

	while ((at = memchr(at, sign, (size_t)(end - at)))) {
		size_t where = (size_t)(at++ - scan->s), stop = where;
		const struct word *word;

		while (stop && where - stop < ARGUMENTS &&
		       strchr(" \"'\\", scan->s[stop - 1]))
			stop--;
		word = word_before(scan, stop);
		if (word)
			at = scan->s + take_value(scan, where + 1, word);
	}
}

/* Calls take for each occurrence of `text`, except inside of the credential
 * that was reported last. */
static void each(struct credential_scan *scan, const char *text,
		 void (*take)(struct credential_scan *scan, size_t at,
			      size_t end))
{
	const char *end = scan->s + scan->len, *at = scan->s;
	size_t n = strlen(text);

	scan->before = scan->low = scan->high = 0;
	while ((at = text_find(at, (size_t)(end - at), text))) {
		size_t place = (size_t)(at - scan->s);

		if (place >= scan->low && place < scan->high) {
			at = scan->s + scan->high;
			continue;
		}
		take(scan, place, place + n);
		at += n;
		scan->before = place + n;
	}
}

/* Finds the value of `--password x`, which may be two items of a list. Any text
 * after `--api-key` may be the key of a server. */
static void take_option(struct credential_scan *scan, size_t at, size_t end)
{
	size_t stop = until(scan, end, " \t\r\n\"',=:"), next;
	const struct word *word = word_before(scan, stop);

	(void)at;
	if (!word || stop == scan->len || scan->s[stop] == '=' ||
	    scan->s[stop] == ':')
		return;
	next = span(scan, stop, "\\\"' \t\r\n,-");
	if (next > stop)
		take_value(scan, next,
			   text_eq(word->text, "api-key") ? &any_value : word);
}

/* --- by form -------------------------------------------------------------- */

/* Finds passwords in `://user:password@host`, and webhook URLs of Slack, whose
 * path is the secret. */
static void take_url(struct credential_scan *scan, size_t at, size_t end)
{
	static const char hooks[] = "hooks.slack.com/";
	size_t stop = until(scan, end, " \t\r\n\"'\\<>,/?#`");
	const char *host = memrchr(scan->s + end, '@', stop - end);
	const char *colon = host ? memchr(scan->s + end, ':',
					  (size_t)(host - scan->s) - end)
				 : NULL;

	(void)at;
	if (colon && colon + 1 < host && !strchr("$<{*", colon[1]))
		report(scan, (size_t)(colon + 1 - scan->s),
		       (size_t)(host - scan->s));
	if (scan->len - end < sizeof(hooks) - 1 ||
	    memcmp(scan->s + end, hooks, sizeof(hooks) - 1) != 0)
		return;
	at = until(scan, end + sizeof(hooks) - 1, "/ \t\r\n\"'\\");
	stop = until(scan, at, " \t\r\n\"'\\<>,`");
	if (at + RANDOM < stop) {
		report(scan, at + 1, stop);
		scan->low = end; /* each() skips other matches in the path */
	}
}

/* Finds the password in `user:password@tcp(host)` or
 * `user:password@unix(path)`. */
static void take_dsn(struct credential_scan *scan, size_t at, size_t end)
{
	size_t from = at;

	(void)end;
	while (from > scan->before && at - from < VALUE_MOST &&
	       !strchr(" \t\n\"'=:/", scan->s[from - 1]))
		from--;
	if (from && from < at && scan->s[from - 1] == ':' &&
	    !strchr("$<{*", scan->s[from]))
		report(scan, from, at);
}

/* Finds the value of `Bearer x` and `Basic x`. */
static void take_scheme(struct credential_scan *scan, size_t at, size_t end)
{
	size_t from = span(scan, end, " "), stop;

	stop = until(scan, from, " \t\r\n\"'\\,;`<>{}()$");
	if (begins_part(scan, at) && looks_random(scan->s + from, stop - from))
		report(scan, from, stop);
}

/* Finds the signature in a shared access signature. */
static void take_signature(struct credential_scan *scan, size_t at, size_t end)
{
	size_t stop = until(scan, end, " \t\r\n\"'\\&;,`");

	if (at && strchr("?&;", scan->s[at - 1]) && stop - end >= RANDOM)
		report(scan, end, stop);
}

/* Finds the key in `wandb login x`, whose words may be items of a list. */
static void take_login(struct credential_scan *scan, size_t at, size_t end)
{
	size_t stop, n = 0;

	(void)at;
	end = span(scan, end, "\\\"', \t");
	if (scan->len - end < 5 || memcmp(scan->s + end, "login", 5) != 0)
		return;
	for (end += 5; end < scan->len && n++ < ARGUMENTS; end = stop) {
		size_t from = span(scan, end, "\\\"', \t");

		stop = until(scan, from, "\\\"', \t\r\n;&|]");
		if (stop == end || stop - from > KEY_MOST ||
		    strchr(";&|]\r\n", scan->s[from]))
			return;
		if (stop - from >= HEX_KEY && scan->s[from] != '-' &&
		    looks_random(scan->s + from, stop - from))
			report(scan, from, stop);
	}
}

/* False for one word without a sign, as most names and values are. Each form of
 * a credential contains one of these characters. */
static bool may_contain(const char *text, size_t len)
{
	static const bool signs[256] = {
		[' '] = true, ['\t'] = true, ['\r'] = true, ['\n'] = true,
		['"'] = true, ['\''] = true, ['\\'] = true, [','] = true,
		['['] = true, [']'] = true,  ['('] = true,  [')'] = true,
		['`'] = true, [';'] = true,  ['|'] = true,  ['&'] = true,
		['='] = true, [':'] = true,  ['@'] = true,
	};

	for (size_t i = 0; i < len; i++)
		if (signs[(unsigned char)text[i]])
			return true;
	return false;
}

bool secret_credentials(const char *text, size_t len,
			void (*found)(void *context, size_t at, size_t len),
			void *context)
{
	struct credential_scan scan;

	if (!may_contain(text, len))
		return false;
	scan.s = text;
	scan.len = len;
	scan.found = found;
	scan.context = context;
	scan.any = false;
	scan.next = 0;
	/* The tables of characters are large, and most texts need none. */
	for (size_t i = 0; i < ARRAY_SIZE(scan.seen); i++)
		scan.seen[i].ends = NULL;

	scan_sign(&scan, '=');
	scan_sign(&scan, ':');
	each(&scan, "--", take_option);
	each(&scan, "://", take_url);
	each(&scan, "@tcp(", take_dsn);
	each(&scan, "@unix(", take_dsn);
	each(&scan, "Bearer ", take_scheme);
	each(&scan, "bearer ", take_scheme);
	each(&scan, "Basic ", take_scheme);
	each(&scan, "basic ", take_scheme);
	each(&scan, "sig=", take_signature);
	each(&scan, "wandb", take_login);
	return secret_options(text, len, found, context) || scan.any;
}
