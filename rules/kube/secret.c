/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names are compared by whole words or by their ends, in full: a name that is
 * added to a table here is found without anything else being said of it.
 *
 * Tokens carry their maker's letters in front; those letters and the alphabet
 * behind them are documented by each maker so that leaks can be searched for.
 */
#include "kube/secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

enum {
	VALUE_LEAST = 8,  /* of what only a name's end speaks for */
	TOKEN_LEAST = 16, /* behind the prefix, of what only its look does */
};

const char *const secret_names[] = {
	"HF_TOKEN",	  "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_TOKEN",
	"HF_API_TOKEN",	  "WANDB_API_KEY",	    "NGC_API_KEY",
	"OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY",  "AWS_SESSION_TOKEN",
	"COMET_API_KEY",  "GITHUB_TOKEN",	    NULL};

static bool is_known(const char *name, size_t len)
{
	for (const char *const *known = secret_names; *known; known++)
		if (**known == *name && !strncmp(*known, name, len) &&
		    !(*known)[len])
			return true;
	return false;
}

static bool has_part(const char *name, size_t len, const char *part)
{
	return memmem(name, len, part, strlen(part)) != NULL;
}

/* Names that end like a secret's, and are not some other sort of key. */
static bool sounds_secret(const char *name, size_t len)
{
#define END(text)                                                              \
	{                                                                      \
		text, sizeof(text) - 1, text[sizeof(text) - 2]                 \
	}
	static const struct {
		const char *text;
		size_t len;
		char last;
	} ends[] = {
		END("_API_KEY"),     END("_SECRET_KEY"), END("_ACCESS_KEY"),
		END("_PRIVATE_KEY"), END("_SECRET"),	 END("_TOKEN"),
		END("_PASSWORD"),
	};
#undef END
	static const char *const not_secret[] = {
		"EOS_", "PAD_", "BOS_", "MAX_", "STOP_", "DISABLE", NULL};
	bool ending = false;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends) && !ending; i++) {
		size_t n = ends[i].len;

		ending = len >= n && name[len - 1] == ends[i].last &&
			 !memcmp(name + len - n, ends[i].text, n);
	}
	for (const char *const *part = not_secret; ending && *part; part++)
		ending = !has_part(name, len, *part);
	return ending;
}

bool secret_is_name(const char *name, size_t len)
{
	return len && (is_known(name, len) || sounds_secret(name, len));
}

static bool stands_for_none(const char *text)
{
	static const char *const words[] = {
		"empty", "dummy",  "none",     "null",	 "fake",  "changeme",
		"test",	 "token",  "password", "secret", "false", "true",
		"key",	 "foobar", "unused",   NULL};
	static const char *const parts[] = {"your",    "xxx",	  "...",
					    "replace", "example", "changeme",
					    "dummy",   NULL};

	if (!*text || strchr(text, '<') || strstr(text, "$(") || *text == '/')
		return true;
	for (const char *const *word = words; *word; word++)
		if (!strcasecmp(text, *word))
			return true;
	for (const char *const *part = parts; *part; part++)
		if (text_contains_ci(text, *part))
			return true;
	return false;
}

bool secret_is(const char *name, const char *value)
{
	size_t len = strlen(name);

	return (is_known(name, len) ||
		(sounds_secret(name, len) && strlen(value) >= VALUE_LEAST)) &&
	       !stands_for_none(value);
}

/* --- by their look ------------------------------------------------------- */

/*
 * Prefixes by the letter in which they end, which few words of a manifest
 * have: that is searched for. cased: words of small letters begin so too
 * ("sk-learn-...").
 */
static const struct group {
	char last;
	struct prefix {
		const char *text; /* without the last letter */
		bool cased;
	} items[10];
} groups[] = {
	{'_',
	 {{"hf", false},	   /* Hugging Face */
	  {"api_org", false},	   /* the same, of an organization */
	  {"ghp", false},	   /* GitHub: of a person, */
	  {"gho", false},	   /* OAuth, */
	  {"ghu", false},	   /* of a user to an app, */
	  {"ghs", false},	   /* of an app, */
	  {"ghr", false},	   /* to refresh one, */
	  {"github_pat", false}}}, /* fine-grained */
	{'-',
	 {{"sk", true},	     /* OpenAI, Anthropic */
	  {"nvapi", false},  /* NGC */
	  {"glpat", false},  /* GitLab */
	  {"xoxb", false},   /* Slack: of a bot, */
	  {"xoxp", false}}}, /* of a person */
	{'A',
	 {{"AKI", true},   /* AWS: of a user, */
	  {"ASI", true}}}, /* for a session */
};

enum { GROUPS = sizeof(groups) / sizeof(*groups) };

/* The letter before the last one of a prefix: most dashes stand behind a
 * blank. tests/unit/test_mask.c tries each prefix. */
static bool may_end(char before, char last)
{
	switch (before) {
	case 'p':
	case 't':
		return last == '_' || last == '-';
	case 'b':
	case 'i':
	case 'k':
		return last == '-';
	case 'f':
	case 'g':
	case 'o':
	case 'r':
	case 's':
	case 'u':
		return last == '_';
	case 'I':
		return last == 'A';
	default:
		return false;
	}
}

/* Does a prefix of the group end at text[at], its last letter? */
static const struct prefix *prefix_at(const struct group *group,
				      const char *text, size_t at)
{
	for (const struct prefix *p = group->items; p->text; p++) {
		size_t n = strlen(p->text);

		if (n <= at && *p->text == text[at - n] &&
		    !memcmp(p->text, text + at - n, n))
			return p;
	}
	return NULL;
}

size_t secret_prefix(const char *value, size_t len)
{
	for (size_t i = 0; i < GROUPS; i++)
		for (const struct prefix *p = groups[i].items; p->text; p++) {
			size_t n = strlen(p->text);

			if (len > n + 1 && !memcmp(value, p->text, n) &&
			    value[n] == groups[i].last)
				return n + 1;
		}
	return 0;
}

/* Letters, digits, and what names and tokens join their parts with. */
static bool is_inner(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Bytes behind the prefix that ends at text[at]; 0: it is no token's. */
static size_t body_length(const struct prefix *prefix, const char *text,
			  size_t len, size_t at)
{
	size_t n = strlen(prefix->text), end = at + 1;
	bool capital = false, digit = false;

	if (n < at && is_inner(text[at - n - 1]))
		return 0;
	for (; end < len && is_inner(text[end]); end++) {
		capital |= isupper((unsigned char)text[end]) != 0;
		digit |= isdigit((unsigned char)text[end]) != 0;
	}
	if (end - at - 1 < TOKEN_LEAST || (prefix->cased && !capital) ||
	    (!capital && !digit))
		return 0;
	return end - at - 1;
}

/* Two of the bytes that a token has there: most words end sooner. */
static bool may_follow(const char *text, size_t len, size_t at)
{
	return len - at > TOKEN_LEAST && is_inner(text[at + 1]) &&
	       is_inner(text[at + TOKEN_LEAST]) &&
	       is_inner(text[at + TOKEN_LEAST / 2]);
}

bool secret_tokens(const char *text, size_t len,
		   void (*found)(void *context, size_t at, size_t len),
		   void *context)
{
	const char *end = text + len;
	bool any = false;

	for (size_t i = 0; i < GROUPS; i++) {
		const char *at = text;

		while ((at = memchr(at, groups[i].last, (size_t)(end - at)))) {
			size_t where = (size_t)(at++ - text), n = 0;
			const struct prefix *prefix = NULL;

			if (where && may_end(text[where - 1], groups[i].last) &&
			    may_follow(text, len, where))
				prefix = prefix_at(&groups[i], text, where);
			if (prefix)
				n = body_length(prefix, text, len, where);
			any |= n > 0;
			if (n && !found)
				return true;
			if (n)
				found(context, where - strlen(prefix->text),
				      strlen(prefix->text) + 1 + n);
		}
	}
	return any;
}
