/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognizes values that are filled in later, by shapes collected from
 * manifests in public repositories: envsubst and Katib (`${X}`, `$X`), Argo
 * Workflows and KServe (`{{x}}`), hand-edited documents (`<X>`), sed (`__X__`,
 * `@X@`, `%X%`, and bare names where a number must be), Chainsaw (`($x)`),
 * marker words and `...`. Prose, scripts and patterns use the same characters,
 * so each shape requires a complete token: a lower-case `$request` in a text,
 * `$1`, `$$X`, the kubelet's own `$(X)` and `<x>` between words are none. A
 * lower-case `$replicas` (Python's string.Template, here-documents) is a
 * placeholder if it is the whole value.
 *
 * A missed placeholder causes a false finding; a value taken for one by mistake
 * is only not checked. So an unclear shape counts as a placeholder.
 */
#include "doc/load.h"

#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/block.h"
#include "base/text.h"

enum {
	LONGEST = 256, /* longer values are scripts or embedded documents */
	WINDOW = 200,  /* longest token */
};

/* A part of the text; before() reads p[-1]. */
struct span {
	const char *start, *end;
};

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_upper(c) || is_lower(c) || is_digit(c);
}

static bool is_word(char c)
{
	return ((unsigned)(c | 32) - 'a') < 26 || is_digit(c) || c == '_';
}

static char before(const struct span *text, const char *p)
{
	return p > text->start ? p[-1] : '\0';
}

static char at(const struct span *text, const char *p)
{
	return p < text->end ? *p : '\0';
}

/* Returns the number of bytes from p on within which a token must end, so that
 * scanning takes linear time. */
static size_t window(const struct span *text, const char *p)
{
	size_t left = (size_t)(text->end - p);

	return left < WINDOW ? left : WINDOW;
}

/* Returns the end of the name in capitals that begins at p; p if there is
 * none. */
static const char *capitals(const struct span *text, const char *p)
{
	if (!is_upper(at(text, p)) && at(text, p) != '_')
		return p;
	while (p < text->end && (is_upper(*p) || is_digit(*p) || *p == '_'))
		p++;
	return p;
}

/* True for `$NAME` and `${name...}`; `$$` and `\$` are escapes, `$(NAME)` is
 * not a placeholder. */
static bool dollar(const struct span *text, const char *p)
{
	char previous = before(text, p);
	const char *name = p + 1, *end;

	if (previous == '$' || previous == '\\')
		return false;
	if (at(text, name) == '{') {
		name++;
		if (!is_word(at(text, name)) || is_digit(*name))
			return false;
		end = memchr(name, '}', window(text, name));
		return end && !memchr(name, '\n', (size_t)(end - name));
	}
	end = capitals(text, name);
	/* In `pa$W0rd` and `$Patch` the name is a part of a longer word. */
	return end > name && !is_lower(at(text, end)) && !is_alnum(previous);
}

/* True for `{{x}}`, `{{ .Name }}`, `{{=x}}`, but not for `{{ $labels.x }}` in
 * alerts. */
static bool braces(const struct span *text, const char *p)
{
	const char *s = p + 2;

	if (at(text, p + 1) != '{')
		return false;
	while (s < text->end && strchr(" -=", *s) && *s)
		s++;
	if (!is_word(at(text, s)) && at(text, s) != '.')
		return false;
	return memmem(s, window(text, s), "}}", 2);
}

/* Returns the '>' that closes a token opened at p, or NULL if it is not a
 * token. */
static const char *angle_end(const struct span *text, const char *p)
{
	const char *s = p + 1;

	if (!is_alnum(at(text, s)) && at(text, s) != '_')
		return NULL;
	while (s < text->end && (is_word(*s) || strchr(" .,'/#()-", *s)) && *s)
		s++;
	return at(text, s) == '>' ? s : NULL;
}

/* True if the text has blanks outside of `<...>` tokens, as prose and command
 * lines do. */
static bool is_prose(const struct span *text)
{
	if (text->end - text->start > LONGEST)
		return true;
	for (const char *s = text->start; s < text->end; s++) {
		const char *end = *s == '<' ? angle_end(text, s) : NULL;

		if (end)
			s = end;
		else if (*s == ' ' || *s == '\t' || *s == '\n')
			return true;
	}
	return false;
}

/*
 * True for `<BUCKET>` anywhere; for `<your bucket>` and `<job-name>` if the
 * rest is one word. `List<x>` is a type and `<b>...</b>` is markup.
 */
static bool angle(const struct span *text, const char *p)
{
	const char *end = angle_end(text, p);
	const char *s;

	if (!end)
		return false;
	for (s = p + 1; s < end; s++)
		if (!is_upper(*s) && !is_digit(*s) && *s != '_' && *s != '-')
			break;
	if (s == end && is_upper(p[1]) && end - p > 2)
		return true;
	if (is_alnum(before(text, p)) || is_prose(text))
		return false;
	return !memmem(text->start, (size_t)(text->end - text->start), "</", 2);
}

/* True for `@NAME@` and `__NAME__` with a name of at least three characters. */
static bool fenced(const struct span *text, const char *p)
{
	const char *name = p + 1, *end;

	if ((*p != '@' && *p != '_') || is_word(before(text, p)))
		return false;
	if (*p == '_') {
		if (at(text, name) != '_' || !is_upper(at(text, name + 1)))
			return false;
		end = capitals(text, name + 1);
		return end - p >= 7 && end[-1] == '_' && end[-2] == '_' &&
		       !is_word(at(text, end));
	}
	end = capitals(text, name);
	return end - name >= 3 && at(text, end) == '@' &&
	       !is_word(at(text, end + 1));
}

/* True for `%NAME%`. Two hexadecimal digits are an escape of a URL: `%C3%`. */
static bool percent(const struct span *text, const char *p)
{
	const char *name = p + 1, *end = capitals(text, name);

	return at(text, end) == '%' && before(text, p) != '%' &&
	       (end - name > 2 || (end - name == 2 && *name > 'F'));
}

static bool word_starts(const char *s, size_t len, const char *prefix)
{
	size_t n = strlen(prefix);

	return len >= n && memcmp(s, prefix, n) == 0;
}

/* True for a word in capitals that marks a value to be replaced. */
static bool marker(const char *s, size_t len)
{
	static const char prefixes[][16] = {
		"PLACEHOLDER",	"REPLACE_ME",	"REPLACEME", "REPLACE_WITH_",
		"REPLACE_THIS", "CHANGE_ME",	"CHANGEME",  "YOUR_",
		"FILLED_BY_",	"TO_BE_FILLED",
	};
	static const char suffix[] = "_PLACEHOLDER";
	const size_t n = sizeof(suffix) - 1;

	for (size_t i = 0; i < len; i++)
		if (is_lower(s[i]))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (*s == *prefixes[i] && word_starts(s, len, prefixes[i]))
			return true;
	return len > n && memcmp(s + len - n, suffix, n) == 0;
}

/* True for three or more x, or X, as in `xxx` and `XXXX`. */
static bool is_row_of_x(const char *s, size_t len)
{
	if (len < 3 || (*s != 'x' && *s != 'X'))
		return false;
	for (size_t i = 1; i < len; i++)
		if (s[i] != s[0])
			return false;
	return true;
}

/* True for `...` or the character for it, which mark an omitted value. */
static bool is_ellipsis(const char *s, size_t len)
{
	return len == 3 && (!memcmp(s, "...", 3) || !memcmp(s, "\u2026", 3));
}

/* True for `($name)`, a binding of Chainsaw. */
static bool is_binding(const char *s, size_t len)
{
	if (len < 4 || memcmp(s, "($", 2) != 0 || s[len - 1] != ')')
		return false;
	for (size_t i = 2; i < len - 1; i++)
		if (!is_word(s[i]) && s[i] != '.')
			return false;
	return true;
}

/* True for `your-node-name` and `replaced-by-kustomize`: one word that names
 * the value that replaces it. */
static bool is_named(const char *s, size_t len)
{
	static const char prefixes[][16] = {
		"replaced-by-",
		"replace-by-",
		"replace-with-",
		"to-be-replaced",
	};

	bool named = len > 10 && word_starts(s, len, "your-") &&
		     !memcmp(s + len - 5, "-name", 5);

	for (size_t i = 0; !named && i < ARRAY_SIZE(prefixes); i++)
		named = word_starts(s, len, prefixes[i]);
	for (size_t i = 0; named && i < len; i++)
		named = is_alnum(s[i]) || s[i] == '-' || s[i] == '_';
	return named;
}

/* True for a value that SOPS has encrypted, which Flux and others decrypt
 * before they apply the object (getsops/sops@0486373 aes/cipher.go, Encrypt).
 */
static bool is_encrypted(const char *s, size_t len)
{
	static const char start[] = "ENC[AES256_GCM,";

	return len > sizeof(start) && s[len - 1] == ']' &&
	       !memcmp(s, start, sizeof(start) - 1);
}

/* True for texts that are placeholders only if they are the whole value. */
static bool is_whole(const struct span *text)
{
	static const struct {
		size_t len;
		const char *text;
	} values[] = {
#define VALUE(text) {sizeof(text) - 1, text}
		VALUE("changeme"),
		VALUE("change-me"),
		VALUE("change_me"),
		VALUE("replaceme"),
		VALUE("replace-me"),
		VALUE("replace_me"),
		VALUE("change me"),
		VALUE("replace me"),
		VALUE("filled by the operator"),
		VALUE("filled by operator"),
#undef VALUE
	};
	size_t len = (size_t)(text->end - text->start);
	bool todo = word_starts(text->start, len, "TODO");

	if (is_ellipsis(text->start, len) || is_binding(text->start, len) ||
	    is_named(text->start, len) || is_encrypted(text->start, len))
		return true;
	if (todo || word_starts(text->start, len, "FIXME"))
		return !is_alnum(at(text, text->start + (todo ? 4 : 5)));
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (len == values[i].len &&
		    strncasecmp(text->start, values[i].text, len) == 0)
			return true;
	return false;
}

/* True if a placeholder begins at p. */
static bool opens(const struct span *text, const char *p)
{
	switch (*p) {
	case '$':
		return dollar(text, p);
	case '{':
		return braces(text, p);
	case '<':
		return angle(text, p);
	case '%':
		return percent(text, p);
	default:
		return fenced(text, p);
	}
}

/* True for marker words and rows of x. Most words begin with another letter. */
static bool is_word_shape(const char *s, size_t len)
{
	return (is_upper(*s) || *s == 'x') &&
	       (marker(s, len) || is_row_of_x(s, len));
}

/*
 * True if the text may contain a placeholder other than those of is_whole().
 * All others begin with few characters, which most texts lack.
 */
static bool may_open_few(const char *text, size_t len)
{
	static const bool first[256] = {
		['A' ... 'Z'] = true, ['x'] = true, ['$'] = true, ['{'] = true,
		['<'] = true,	      ['@'] = true, ['_'] = true,
	};

	const unsigned char *p = (const unsigned char *)text;
	bool any = false;

	for (; len >= 4 && !any; len -= 4, p += 4)
		any = first[p[0]] | first[p[1]] | first[p[2]] | first[p[3]];
	for (; len; len--, p++)
		any |= first[*p];
	return any;
}

static struct block opening(struct block b)
{
	/* '@' precedes the capitals in ASCII */
	struct block capitals =
		block_without(block_below(b, 'Z' + 1), block_below(b, '@'));
	struct block signs = block_or(block_is(b, '$'), block_is(b, '{'));
	struct block rest = block_or(block_is(b, '<'), block_is(b, '_'));

	return block_or(block_or(capitals, block_is(b, 'x')),
			block_or(signs, rest));
}

static bool may_open(const char *text, size_t len)
{
	struct block any;

	if (len < BLOCK)
		return may_open_few(text, len);
	/* The last block may overlap the one before. */
	any = opening(block_read(text + len - BLOCK));
	for (size_t i = 0; i + BLOCK < len; i += BLOCK)
		any = block_or(any, opening(block_read(text + i)));
	return block_any(any);
}

static bool find_shape(const char *text, size_t len)
{
	struct span span = {text, text + len};
	const char *p = text;

	while (p < span.end) {
		const char *word = p;

		while (p < span.end && is_word(*p) && (p > word || *p != '_'))
			p++;
		if (p > word && is_word_shape(word, (size_t)(p - word)))
			return true;
		if (p < span.end && opens(&span, p))
			return true;
		p++;
	}
	return false;
}

bool placeholder_in(const char *text, size_t len)
{
	/* First bytes of all texts for which is_whole() can be true. */
	static const bool first[256] = {
		['C'] = true,  ['E'] = true, ['F'] = true, ['R'] = true,
		['T'] = true,  ['c'] = true, ['f'] = true, ['r'] = true,
		['.'] = true,  ['('] = true, ['t'] = true, ['y'] = true,
		[0xe2] = true,
	};
	struct span span = {text, text + len};

	if (may_open(text, len) && find_shape(text, len))
		return true;
	return len && first[(unsigned char)*text] && is_whole(&span);
}

/* Inline, because most keys differ in length, known at compile time. */
static inline bool key_is(const struct node *node, const char *key)
{
	size_t len = strlen(key);

	return node && node->key && node->key_len == len &&
	       memcmp(node->key, key, len) == 0;
}

/* True for an item of command or args, or for such a field that is written as
 * one string. */
static bool in_command(const struct node *node)
{
	const struct node *holder = node->key ? node : node->parent;

	return key_is(holder, "command") || key_is(holder, "args");
}

static bool is_env_value(const struct node *node)
{
	return key_is(node, "value") && node->parent &&
	       key_is(node->parent->parent, "env");
}

/*
 * True if the text consists of one `${X}`, `$X`, `<X>`, `{{x}}` or marker word.
 * The value is then unknown even in fields in which longer text is kept.
 */
static bool is_one_token(const char *s, size_t len)
{
	char last = s[len - 1];
	size_t i = 0;

	if (is_ellipsis(s, len) || is_encrypted(s, len))
		return true;
	if (*s == '<')
		return last == '>' && !memchr(s + 1, '<', len - 1);
	if (*s == '{')
		return last == '}' && !memmem(s + 2, len - 2, "{{", 2);
	if (*s == '$' && len > 1 && s[1] == '{')
		return last == '}' && !memchr(s + 1, '$', len - 1);
	for (i = *s == '$' || *s == '@'; i < len && is_word(s[i]); i++)
		;
	return i == len || (*s == '@' && i == len - 1);
}

/* True for a name in capitals in place of a number: `nvidia.com/gpu: GPUS`. */
static bool is_named_number(const struct node *node)
{
	static const char *const keys[] = {"replicas", "parallelism",
					   "completions", "minAvailable"};
	struct span text = {node->str, node->str + node->len};
	bool number;

	if (node->len < 3 || !is_upper(*text.start) ||
	    capitals(&text, text.start) != text.end)
		return false;
	number = key_is(node->parent, "limits") ||
		 key_is(node->parent, "requests");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		number = number || key_is(node, keys[i]);
	return number;
}

/* True for `$replicas`: a single name, in a field that no shell expands. */
static bool is_lower_name(const char *s, size_t len)
{
	size_t i = 1;

	if (len < 3 || *s != '$' || !is_lower(s[1]))
		return false;
	while (i < len && is_word(s[i]))
		i++;
	return i == len;
}

/* True for `command: ${COMMAND}`, where the whole list is filled in later.
 * `$RUN` may be a shell's variable. */
static bool is_list_token(const struct node *node)
{
	return node->key && node->len > 1 && node->len <= LONGEST &&
	       (*node->str != '$' || node->str[1] == '{') &&
	       placeholder_in(node->str, node->len) &&
	       is_one_token(node->str, node->len);
}

static bool is_placeholder(const struct node *node)
{
	size_t len = node->len;
	bool block = node->flags & NODE_BLOCK;

	if (node->type != NODE_STRING)
		return false;
	if (in_command(node))
		return is_list_token(node);
	if (is_named_number(node) || is_lower_name(node->str, len))
		return true;
	if (block && len && node->str[len - 1] == '\n')
		len--;
	if (!len || len > LONGEST || memchr(node->str, '\n', len) ||
	    !placeholder_in(node->str, len))
		return false;
	return !(block || is_env_value(node)) || is_one_token(node->str, len);
}

static struct node *following(struct node *node, const struct node *root)
{
	if (node->first)
		return node->first;
	while (node != root && !node->next)
		node = node->parent;
	return node == root ? NULL : node->next;
}

/* True if the byte is in a block scalar, which cannot contain comments. */
static bool in_block(const struct node *root, size_t at)
{
	const struct node *node = node_first(root);

	while (node) {
		if (node->start > at || node->end <= at)
			node = node->next;
		else if (node->type == NODE_MAP || node->type == NODE_SEQ)
			node = node->first;
		else
			return true;
	}
	return false;
}

/* True for a comment line such as `# ... other config`. */
static bool is_abridged(const struct doc *doc)
{
	static const char dots[] = "# ...";
	const char *text = doc->source->text;
	const char *from = text + doc->start, *end = text + doc->end;
	const char *at;

	for (; (at = text_find(from, (size_t)(end - from), dots));
	     from = at + 1) {
		const char *line = at;

		while (line > text + doc->start && line[-1] == ' ')
			line--;
		if ((line == text + doc->start || line[-1] == '\n') &&
		    !in_block(doc->root, (size_t)(at - text)))
			return true;
	}
	return false;
}

unsigned placeholder_mark(struct doc *doc)
{
	/* The tree may still be changed, because no rule has used it yet. */
	struct node *root = (struct node *)(uintptr_t)doc->root;
	unsigned count = 0;

	doc->abridged = doc->source && !doc->json && is_abridged(doc);
	for (struct node *node = root; node; node = following(node, root)) {
		if (!is_placeholder(node))
			continue;
		node->flags |= NODE_UNKNOWN;
		doc->placeholders = true;
		/* A copy of an anchor was written once, so it is not counted
		 * again. */
		count += !(node->flags & (NODE_ALIASED | NODE_MERGED));
	}
	return count;
}
