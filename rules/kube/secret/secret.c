/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognizes secrets by the names of keys and the prefixes of tokens.
 *
 * Names are compared in full, by whole words or by their ends: a name added to
 * a table here needs no other change.
 *
 * Tokens begin with a prefix of their issuer, who documents the prefix and the
 * alphabet of the token so that leaks can be found.
 */
#include "kube/secret/secret.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"

enum {
	/* shortest value for a name that is recognized by its end */
	VALUE_LEAST = 8,
	/* longest text that is compared with words of placeholders */
	WORDS_MOST = 4096,
	/* shortest text of a token after its prefix, and shortest key in a
	 * path */
	TOKEN_LEAST = 16,
};

const char *const secret_names[] = {
	"HF_TOKEN",	     "HUGGING_FACE_HUB_TOKEN",
	"HUGGINGFACE_TOKEN", "HF_API_TOKEN",
	"WANDB_API_KEY",     "NGC_API_KEY",
	"OPENAI_API_KEY",    "AWS_SECRET_ACCESS_KEY",
	"AWS_SESSION_TOKEN", "COMET_API_KEY",
	"GITHUB_TOKEN",	     "PGPASSWORD",
	"MYSQL_PWD",	     NULL};

static const char *const ends[] = {"_API_KEY",	   "_SECRET_KEY", "_ACCESS_KEY",
				   "_PRIVATE_KEY", "_SECRET",	  "_TOKEN",
				   "_PASSWORD",	   NULL};

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

/* True for names that end like those of secrets, except names of settings such
 * as EOS_TOKEN or MAX_TOKEN, and names of variables with the name of a Secret,
 * such as Tailscale's TS_KUBE_SECRET (tailscale@0115672 cmd/containerboot). */
static bool sounds_secret(const char *name, size_t len)
{
	static const char *const not_secret[] = {
		"EOS_",	   "PAD_",	  "BOS_",	 "MAX_", "STOP_",
		"DISABLE", "KUBE_SECRET", "PULL_SECRET", NULL};
	bool ending = false;

	for (const char *const *end = ends; *end && !ending; end++) {
		size_t n = strlen(*end);

		ending = len >= n && !memcmp(name + len - n, *end, n);
	}
	for (const char *const *part = not_secret; ending && *part; part++)
		ending = !has_part(name, len, *part);
	return ending;
}

/* Letters with which a name in the tables ends. Most words of a manifest end
 * with another letter. */
static bool last_letters[256];

static void note_last_letters(void)
{
	const char *const *const tables[] = {secret_names, ends};

	for (size_t i = 0; i < 2; i++)
		for (const char *const *name = tables[i]; *name; name++)
			last_letters[(
				unsigned char)(*name)[strlen(*name) - 1]] =
				true;
}

const bool *secret_last_letters(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, note_last_letters);
	return last_letters;
}

bool secret_is_name(const char *name, size_t len)
{
	return len && secret_last_letters()[(unsigned char)name[len - 1]] &&
	       (is_known(name, len) || sounds_secret(name, len));
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
	return strlen(text) < WORDS_MOST &&
	       text_any(text, parts, text_contains_ci);
}

bool secret_is(const char *name, const char *value)
{
	size_t len = strlen(name);

	return secret_is_name(name, len) &&
	       (strlen(value) >= VALUE_LEAST || is_known(name, len)) &&
	       !stands_for_none(value);
}

/* --- webhooks ------------------------------------------------------------ */

static bool names_hook(const char *name, size_t len)
{
	static const char *const hooks[] = {"WEBHOOK", "WEBHOOK_URL",
					    "_HOOK_URL", NULL};

	for (const char *const *end = hooks; *end; end++) {
		size_t n = strlen(*end);

		if (len >= n && !strncasecmp(name + len - n, *end, n))
			return true;
	}
	return false;
}

/* True if the text contains a long word of letters and digits, which is more
 * likely a key than a name in a path. */
static bool has_key(const char *text)
{
	size_t len = 0, digits = 0, letters = 0;

	for (;; text++) {
		unsigned char c = (unsigned char)*text;

		if (isalnum(c) || c == '_' || c == '-') {
			len++;
			digits += isdigit(c) != 0;
			letters += isalpha(c) != 0;
			continue;
		}
		if (len >= TOKEN_LEAST && digits && letters)
			return true;
		if (!c)
			return false;
		len = digits = letters = 0;
	}
}

bool secret_may_be_name(const char *name, size_t len)
{
	return secret_is_name(name, len) || names_hook(name, len);
}

bool secret_may_be(const char *name, const char *value)
{
	return secret_is(name, value) ||
	       (names_hook(name, strlen(name)) && has_key(value) &&
		!stands_for_none(value));
}

/* --- tokens by prefix ----------------------------------------------------- */

/*
 * Prefixes, grouped by their last letter, which is searched for because few
 * words of a manifest contain it. cased is set if ordinary words start in the
 * same way ("sk-learn-..."), so that a token must contain a capital letter.
 */
#define PREFIX(text, cased)                                                    \
	{                                                                      \
		text, sizeof(text) - 1, cased                                  \
	}
static const struct group {
	char last;
	struct prefix {
		const char *text; /* without the last letter */
		size_t len;
		bool cased;
	} items[10];
} groups[] = {
	{'_',
	 {PREFIX("hf", false),		 /* Hugging Face */
	  PREFIX("api_org", false),	 /* Hugging Face: organization */
	  PREFIX("ghp", false),		 /* GitHub: user */
	  PREFIX("gho", false),		 /* GitHub: OAuth app */
	  PREFIX("ghu", false),		 /* GitHub: app, for a user */
	  PREFIX("ghs", false),		 /* GitHub: app installation */
	  PREFIX("ghr", false),		 /* GitHub: refreshes tokens */
	  PREFIX("github_pat", false)}}, /* GitHub: fine-grained */
	{'-',
	 {PREFIX("sk", true),	   /* OpenAI, Anthropic */
	  PREFIX("nvapi", false),  /* NGC */
	  PREFIX("glpat", false),  /* GitLab */
	  PREFIX("xoxb", false),   /* Slack: bot */
	  PREFIX("xoxp", false)}}, /* Slack: user */
	{'A',
	 {PREFIX("AKI", true),	 /* AWS: user */
	  PREFIX("ASI", true)}}, /* AWS: session */
};
#undef PREFIX

enum { GROUPS = ARRAY_SIZE(groups) };

/* Returns the prefix of the group that ends with text[at], or NULL. The group
 * has only prefixes with this last character. Compares the character before it
 * first, because most dashes follow a blank. */
static const struct prefix *prefix_at(const struct group *group,
				      const char *text, size_t at)
{
	for (const struct prefix *p = group->items; at && p->text; p++)
		if (text[at - 1] == p->text[p->len - 1] && p->len <= at &&
		    !memcmp(p->text, text + at - p->len, p->len))
			return p;
	return NULL;
}

size_t secret_prefix(const char *value, size_t len)
{
	for (size_t i = 0; i < GROUPS; i++)
		for (const struct prefix *p = groups[i].items; p->text; p++)
			if (len > p->len + 1 &&
			    !memcmp(value, p->text, p->len) &&
			    value[p->len] == groups[i].last)
				return p->len + 1;
	return 0;
}

/* True for letters, digits, and characters inside of names and tokens. */
static bool is_inner(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Returns the number of bytes of the token after the prefix that ends at
 * text[at]; 0 if it is not a token. */
static size_t body_length(const struct prefix *prefix, const char *text,
			  size_t len, size_t at)
{
	size_t n = prefix->len, end = at + 1;
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
			const struct prefix *prefix =
				prefix_at(&groups[i], text, where);

			if (prefix)
				n = body_length(prefix, text, len, where);
			any |= n > 0;
			if (n && !found)
				return true;
			if (n)
				found(context, where - prefix->len,
				      prefix->len + 1 + n);
		}
	}
	return any;
}
