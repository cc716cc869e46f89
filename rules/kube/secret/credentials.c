/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials recognized by their position: after a word for them and an
 * assignment sign, in a URL or a data source name, after an authentication
 * scheme. They are masked in all output; no rule reports them, because a
 * preceding word proves less than the name of a variable.
 */
#include "kube/secret/secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "rules/kube/secret/secret_internal.h"

enum {
	LEAST = 4,    /* bytes of a password */
	RANDOM = 8,   /* length of a text that must look random */
	HEX_KEY = 20, /* length of a hexadecimal key in an argument without a
			 name */
	KEY_MOST = 256,
	VALUE_MOST = 4096, /* longest value: keeps the scan linear */
	BETWEEN_MOST = 64, /* longest distance between a word and its value */
	ARGUMENTS = 8,	   /* after `wandb login` */
};

struct credential_scan {
	const char *s;
	size_t len;
	void (*found)(void *context, size_t at, size_t len);
	void *context;
	bool any;
	/* Positions overlap: the bytes that until() has scanned, one for each
	 * set of end characters; and the end of the previous position. */
	struct seen {
		const char *ends;
		size_t from, to;
		bool stops[256];
	} seen[4];
	unsigned next;
	size_t before;
	size_t low, high; /* the credential reported last */
};

static void report(struct credential_scan *scan, size_t at, size_t end)
{
	scan->any = true;
	scan->low = at;
	scan->high = end;
	if (scan->found)
		scan->found(scan->context, at, end - at);
}

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

/* True if it has a digit, or a capital after a small letter. */
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

/* Words, and whether the value must look random. */
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

/* A part of a name starts after one of these, or with a capital. */
static bool begins_part(const struct credential_scan *scan, size_t at)
{
	return !at || !isalnum((unsigned char)scan->s[at - 1]) ||
	       (isupper((unsigned char)scan->s[at]) &&
		islower((unsigned char)scan->s[at - 1]));
}

/* The word that ends before text[end], or NULL. */
static const struct word *word_before(const struct credential_scan *scan,
				      size_t end)
{
	char last;

	/* A text may have a sign in every second byte. */
	if (!end)
		return NULL;
	last = (char)tolower((unsigned char)scan->s[end - 1]);
	if (!strchr("denty", last))
		return NULL;
	for (size_t i = 0; i < WORDS; i++) {
		size_t n = strlen(words[i].text);

		if (n <= end && words[i].text[n - 1] == last &&
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

/* The value from at on, in quotes or not; returns its end. */
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

/* Takes values after a sign; quotes and blanks may follow the word. */
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

/* Calls take for every position of the text, except those inside of a
 * credential. */
static void each(struct credential_scan *scan, const char *text,
		 void (*take)(struct credential_scan *scan, size_t at,
			      size_t end))
{
	const char *end = scan->s + scan->len, *at = scan->s;
	size_t n = strlen(text);

	scan->before = scan->low = scan->high = 0;
	while ((at = memmem(at, (size_t)(end - at), text, n))) {
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

/* Takes the value of `--password x`, also as two items of a list. */
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
		take_value(scan, next, word);
}

/* --- by form -------------------------------------------------------------- */

/* Takes passwords in `://user:password@host`, and web hooks, whose path is the
 * secret. */
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
		scan->low = end; /* the path may start another position */
	}
}

/* Takes the password of `user:password@tcp(host)`. */
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

/* Takes the value of `Bearer x`, `Basic x`; at is after the first letter. */
static void take_scheme(struct credential_scan *scan, size_t at, size_t end)
{
	size_t from = span(scan, end, " "), stop;

	stop = until(scan, from, " \t\r\n\"'\\,;`<>{}()$");
	if (at && strchr("bB", scan->s[at - 1]) && begins_part(scan, at - 1) &&
	    looks_random(scan->s + from, stop - from))
		report(scan, from, stop);
}

/* Takes the signature of a shared access signature. */
static void take_signature(struct credential_scan *scan, size_t at, size_t end)
{
	size_t stop = until(scan, end, " \t\r\n\"'\\&;,`");

	if (at && strchr("?&;", scan->s[at - 1]) && stop - end >= RANDOM)
		report(scan, end, stop);
}

/* Takes the value of `wandb login x`, also as items of a list. */
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

bool secret_credentials(const char *text, size_t len,
			void (*found)(void *context, size_t at, size_t len),
			void *context)
{
	struct credential_scan scan = {
		.s = text, .len = len, .found = found, .context = context};

	scan_sign(&scan, '=');
	scan_sign(&scan, ':');
	each(&scan, "--", take_option);
	each(&scan, "://", take_url);
	each(&scan, "@tcp(", take_dsn);
	each(&scan, "@unix(", take_dsn);
	each(&scan, "earer ", take_scheme);
	each(&scan, "asic ", take_scheme);
	each(&scan, "sig=", take_signature);
	each(&scan, "wandb", take_login);
	return secret_options(text, len, found, context) || scan.any;
}
