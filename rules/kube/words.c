/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of a container's command. Plain items are one word each; the string
 * behind `sh -c` (or bash -lc, -euxo pipefail -c, ...) is split as a shell
 * would: quotes, backslashes, comments, here-documents, operators. Nothing
 * is expanded: a word with a variable, a command substitution or a
 * placeholder is unknown, except that the flag in front of '=' stays
 * readable. Sources of the rules: POSIX shell command language, 2.2-2.3.
 */
#include "kinds.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/vec.h"
#include "doc/placeholder.h"

enum shell_state {
	SHELL_NONE,
	SHELL_NAMED,	/* the last item was a shell */
	SHELL_ARGUMENT, /* ... and then an option that takes an argument */
	SHELL_SCRIPT,	/* ... and then -c: the next item is a script */
};

struct lexer {
	struct arena *arena;
	struct word *words;
	size_t nwords, size;
	bool any;		 /* some word could be any flag */
	const struct node *node; /* item being read */
	const char *at, *end;
	struct buf word;
	bool started; /* a word is under way, perhaps empty */
	bool hidden;  /* part of it is not known */
	bool quoted;
	size_t known;	  /* bytes in front of the first unknown part */
	const char *here; /* delimiter of a here-document, or NULL */
	size_t here_len;
};

static struct word *word_push(struct lexer *lexer)
{
	return VEC_PUSH(lexer->arena, lexer->words, lexer->nwords, lexer->size);
}

/* Does the word before take this one as its value? */
static bool follows_flag(const struct lexer *lexer)
{
	const struct word *last;

	if (!lexer->nwords)
		return false;
	last = &lexer->words[lexer->nwords - 1];
	return last->text && last->text[0] == '-' && last->text[1] &&
	       !strchr(last->text, '=');
}

/*
 * Unknown words: "--flag=" keeps its flag, "name=" is an assignment or a
 * Hydra override; anything else that is not a flag's value could be a flag.
 */
static void word_add_unknown(struct lexer *lexer, const char *text,
			     size_t known, bool any)
{
	const char *equals = memchr(text, '=', known);
	bool value = follows_flag(lexer);
	struct word *word = word_push(lexer);

	word->node = lexer->node;
	word->text = NULL;
	if (equals && equals > text) {
		word->len = (size_t)(equals - text) + 1;
		word->text = arena_strndup(lexer->arena, text, word->len);
		word->unknown = true;
		return;
	}
	if (any && known == 0 && !value)
		lexer->any = true;
}

static void word_end(struct lexer *lexer)
{
	if (!lexer->started)
		return;
	/* A value that somebody fills in before a shell sees it. */
	if (!lexer->hidden &&
	    placeholder_in(lexer->word.data, lexer->word.len)) {
		word_add_unknown(lexer, lexer->word.data, lexer->word.len,
				 false);
	} else if (lexer->hidden) {
		word_add_unknown(lexer, lexer->word.data, lexer->known,
				 !lexer->quoted);
	} else {
		struct word *word = word_push(lexer);

		word->len = lexer->word.len;
		word->text = arena_strndup(lexer->arena, lexer->word.data,
					   word->len);
		word->node = lexer->node;
	}
	buf_reset(&lexer->word);
	lexer->started = lexer->hidden = lexer->quoted = false;
}

static void word_byte(struct lexer *lexer, char c)
{
	buf_addc(&lexer->word, c);
	lexer->started = true;
}

static void word_bytes(struct lexer *lexer, const char *end)
{
	buf_add(&lexer->word, lexer->at, (size_t)(end - lexer->at));
	lexer->at = end;
	lexer->started = true;
}

static void word_hide(struct lexer *lexer)
{
	if (!lexer->hidden)
		lexer->known = lexer->word.len;
	lexer->started = true;
	lexer->hidden = true;
}

/* Skip what stands between brackets, nested ones included. */
static void skip_brackets(struct lexer *lexer, char open, char close)
{
	unsigned depth = 0;

	for (; lexer->at < lexer->end; lexer->at++) {
		if (*lexer->at == open)
			depth++;
		else if (*lexer->at == close && --depth == 0) {
			lexer->at++;
			return;
		}
	}
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/* At '$': an expansion, or a plain dollar sign. */
static void lex_dollar(struct lexer *lexer)
{
	char c = lexer->at + 1 < lexer->end ? lexer->at[1] : 0;

	if (c == '(' || c == '{') {
		lexer->at++;
		skip_brackets(lexer, c, c == '(' ? ')' : '}');
		word_hide(lexer);
	} else if (is_name(c)) {
		for (lexer->at++; lexer->at < lexer->end && is_name(*lexer->at);
		     lexer->at++)
			;
		word_hide(lexer);
	} else if (c && strchr("@*#?$!-", c)) {
		lexer->at += 2;
		word_hide(lexer);
	} else {
		word_byte(lexer, *lexer->at++);
	}
}

static void lex_backquote(struct lexer *lexer)
{
	for (lexer->at++; lexer->at < lexer->end && *lexer->at != '`';
	     lexer->at++)
		if (*lexer->at == '\\' && lexer->at + 1 < lexer->end)
			lexer->at++;
	if (lexer->at < lexer->end)
		lexer->at++;
	word_hide(lexer);
}

static void lex_single(struct lexer *lexer)
{
	size_t left = (size_t)(lexer->end - ++lexer->at);
	const char *stop = memchr(lexer->at, '\'', left);

	word_bytes(lexer, stop ? stop : lexer->end);
	if (stop)
		lexer->at++;
}

static void lex_double(struct lexer *lexer)
{
	lexer->started = lexer->quoted = true;
	for (lexer->at++; lexer->at < lexer->end && *lexer->at != '"';) {
		if (*lexer->at == '$') {
			lex_dollar(lexer);
		} else if (*lexer->at == '`') {
			lex_backquote(lexer);
		} else if (*lexer->at == '\\' && lexer->at + 1 < lexer->end &&
			   strchr("$`\"\\\n", lexer->at[1])) {
			if (lexer->at[1] != '\n')
				word_byte(lexer, lexer->at[1]);
			lexer->at += 2;
		} else {
			word_byte(lexer, *lexer->at++);
		}
	}
	if (lexer->at < lexer->end)
		lexer->at++;
}

/* At "<<": remember the delimiter of a here-document. */
static void lex_here(struct lexer *lexer)
{
	lexer->at += 2;
	if (lexer->at < lexer->end && *lexer->at == '<') {
		lexer->at++; /* <<< is a here-string: an ordinary word */
		return;
	}
	while (lexer->at < lexer->end && strchr("- \t'\"\\", *lexer->at) &&
	       *lexer->at)
		lexer->at++;
	lexer->here = lexer->at;
	while (lexer->at < lexer->end && is_name(*lexer->at))
		lexer->at++;
	lexer->here_len = (size_t)(lexer->at - lexer->here);
	while (lexer->at < lexer->end &&
	       (*lexer->at == '\'' || *lexer->at == '"'))
		lexer->at++;
	if (!lexer->here_len)
		lexer->here = NULL;
}

/* Skip the lines of a here-document; at the first byte of a line. */
static void skip_here(struct lexer *lexer)
{
	while (lexer->at < lexer->end) {
		const char *line = lexer->at;
		const char *stop =
			memchr(line, '\n', (size_t)(lexer->end - line));

		lexer->at = stop ? stop + 1 : lexer->end;
		if (!stop)
			stop = lexer->end;
		while (line < stop && (*line == '\t' || *line == ' '))
			line++;
		if ((size_t)(stop - line) == lexer->here_len &&
		    !memcmp(line, lexer->here, lexer->here_len))
			break;
	}
	lexer->here = NULL;
}

static void lex_comment(struct lexer *lexer)
{
	while (lexer->at < lexer->end && *lexer->at != '\n')
		lexer->at++;
}

/* `<BUCKET>`: to be filled in, and no redirection. */
static bool lex_angle(struct lexer *lexer)
{
	size_t left = (size_t)(lexer->end - lexer->at);
	const char *stop = memchr(lexer->at, '>', left < 64 ? left : 64);
	size_t len = stop ? (size_t)(stop - lexer->at) + 1 : 0;

	if (*lexer->at != '<' || !len || memchr(lexer->at, ' ', len) ||
	    memchr(lexer->at, '\n', len) || lexer->at[1] == '<' ||
	    !placeholder_in(lexer->at, len))
		return false;
	lexer->at += len;
	word_hide(lexer);
	lexer->quoted = true; /* one value, not any flag */
	return true;
}

static void lex_operator(struct lexer *lexer)
{
	if (lex_angle(lexer))
		return;
	word_end(lexer);
	if (*lexer->at == '<' && lexer->at + 1 < lexer->end &&
	    lexer->at[1] == '<') {
		lex_here(lexer);
		return;
	}
	if (*lexer->at++ == '\n' && lexer->here)
		skip_here(lexer);
}

/* `{{inputs.parameters.x}}`: a placeholder of a workflow engine. */
static bool lex_markup(struct lexer *lexer)
{
	const char *stop;

	size_t left = (size_t)(lexer->end - lexer->at);

	if (left < 4 || memcmp(lexer->at, "{{", 2))
		return false;
	stop = memmem(lexer->at, left < 256 ? left : 256, "}}", 2);
	if (!stop)
		return false;
	lexer->at = stop + 2;
	word_hide(lexer);
	return true;
}

static void lex_escape(struct lexer *lexer)
{
	if (lexer->at + 1 >= lexer->end) {
		lexer->at++;
		return;
	}
	if (lexer->at[1] != '\n')
		word_byte(lexer, lexer->at[1]);
	lexer->at += 2;
}

/* A byte that does nothing here, and those behind that never do. */
static void lex_plain(struct lexer *lexer)
{
	static const bool special[256] = {
		['\''] = true, ['"'] = true, ['$'] = true,  ['`'] = true,
		['\\'] = true, ['#'] = true, [' '] = true,  ['\t'] = true,
		['\r'] = true, ['{'] = true, ['\n'] = true, [';'] = true,
		['&'] = true,  ['|'] = true, ['('] = true,  [')'] = true,
		['<'] = true,  ['>'] = true,
	};
	const char *p = lexer->at + 1;

	while (p < lexer->end && !special[(unsigned char)*p])
		p++;
	word_bytes(lexer, p);
}

static void lex_next(struct lexer *lexer)
{
	switch (*lexer->at) {
	case '\'':
		lex_single(lexer);
		return;
	case '"':
		lex_double(lexer);
		return;
	case '$':
		lex_dollar(lexer);
		return;
	case '`':
		lex_backquote(lexer);
		return;
	case '\\':
		lex_escape(lexer);
		return;
	case ' ':
	case '\t':
	case '\r':
		word_end(lexer);
		lexer->at++;
		return;
	case '\n':
	case ';':
	case '&':
	case '|':
	case '(':
	case ')':
	case '<':
	case '>':
		lex_operator(lexer);
		return;
	case '#':
		if (!lexer->started)
			lex_comment(lexer);
		else
			lex_plain(lexer);
		return;
	case '{':
		if (lex_markup(lexer))
			return;
		/* fall through */
	default:
		lex_plain(lexer);
	}
}

static void lex_script(struct lexer *lexer, const char *text, size_t len)
{
	lexer->at = text;
	lexer->end = text + len;
	lexer->here = NULL;
	while (lexer->at < lexer->end)
		lex_next(lexer);
	word_end(lexer);
}

/* -- items --------------------------------------------------------------- */

static bool is_shell(const char *text)
{
	static const char *const names[] = {"sh",  "bash", "dash", "ash",
					    "zsh", "ksh",  NULL};

	size_t len = strlen(text);

	if (len < 2 || memcmp(text + len - 2, "sh", 2) != 0)
		return false;
	text = base_name(text);
	for (const char *const *name = names; *name; name++)
		if (text_eq(text, *name))
			return true;
	return false;
}

/* Where does a plain item stop being known? Its length when all of it is. */
static size_t known_len(const char *text, size_t len)
{
	const char *dollar = strchr(text, '$'), *markup;

	dollar = dollar ? strstr(dollar, "$(") : NULL;
	if (dollar && strchr(dollar, ')'))
		return (size_t)(dollar - text);
	if (!placeholder_in(text, len))
		return len;
	markup = strstr(text, "{{");
	dollar = strchr(text, '$');
	if (markup && (!dollar || markup < dollar))
		dollar = markup;
	return dollar ? (size_t)(dollar - text) : 0;
}

static void item_add(struct lexer *lexer, const struct node *item)
{
	const char *text = item->str;
	size_t known = known_len(text, item->len);
	struct word *word;

	if (known < item->len) {
		word_add_unknown(lexer, text, known, true);
		return;
	}
	word = word_push(lexer);
	word->text = text;
	word->len = item->len;
	word->node = item;
}

/* Is this item an option of the shell, and which state follows it? */
static enum shell_state shell_option(enum shell_state state, const char *text)
{
	size_t len = strlen(text);

	if (state == SHELL_ARGUMENT)
		return SHELL_NAMED;
	if ((text[0] != '-' && text[0] != '+') || len < 2)
		return SHELL_NONE;
	if (text[1] == '-')
		return state; /* -- and long options */
	if (memchr(text, 'c', len))
		return SHELL_SCRIPT;
	if (state == SHELL_NAMED && text[len - 1] == 'o')
		return SHELL_ARGUMENT;
	return state;
}

/*
 * A shell called within the script has a script of its own: its words come
 * behind all others. Each is shorter than the one around it.
 */
static void lex_nested(struct lexer *lexer, size_t from)
{
	enum shell_state state = SHELL_NONE, next;

	for (size_t i = from; i < lexer->nwords; i++) {
		const char *text = lexer->words[i].text;

		next = SHELL_NONE;
		if (text && state != SHELL_NONE)
			next = shell_option(state, text);
		if (text && state == SHELL_SCRIPT && next == SHELL_NONE &&
		    strpbrk(text, " \t\n"))
			lex_script(lexer, text, strlen(text));
		else if (text && next == SHELL_NONE && is_shell(text))
			next = SHELL_NAMED;
		state = next;
	}
}

static enum shell_state item_read(struct lexer *lexer, const struct node *item,
				  enum shell_state state)
{
	enum shell_state next = SHELL_NONE;
	size_t from = lexer->nwords;

	lexer->node = item;
	if (item->type != NODE_STRING) {
		item_add(lexer, item);
		return SHELL_NONE;
	}
	if (state != SHELL_NONE)
		next = shell_option(state, item->str);
	if (state == SHELL_SCRIPT && next == SHELL_NONE) {
		lex_script(lexer, item->str, item->len);
		lex_nested(lexer, from);
		return SHELL_NONE;
	}
	item_add(lexer, item);
	if (next == SHELL_NONE && is_shell(item->str))
		return SHELL_NAMED;
	return next;
}

static enum shell_state list_read(struct lexer *lexer, const struct node *list,
				  enum shell_state state)
{
	/* A placeholder for the whole list. */
	if (list && list->type == NODE_STRING &&
	    (node_is_unknown(list) || placeholder_in(list->str, list->len)))
		lexer->any = true;
	FOR_EACH_CHILD(list, item) {
		if (node_is_map(item) || node_is_seq(item) || !item->str)
			continue;
		state = item_read(lexer, item, state);
	}
	return state;
}

static struct words split(struct arena *arena, const struct container *c)
{
	struct lexer lexer = {.arena = arena};
	const struct node *source = node_get(c->node, "source");
	enum shell_state state;

	buf_init(&lexer.word);
	state = list_read(&lexer, node_get(c->node, "command"), SHELL_NONE);
	state = list_read(&lexer, node_get(c->node, "args"), state);
	/* Argo hands the source of a script to its command as a file. */
	if (source && source->type == NODE_STRING && source->str &&
	    state != SHELL_NONE) {
		lexer.node = source;
		lex_script(&lexer, source->str, source->len);
	}
	buf_release(&lexer.word);
	return words_finish((struct words){
		.items = lexer.words, .n = lexer.nwords, .unknown = lexer.any});
}

/* Most rules ask: every container is split once. */
struct words container_words(struct arena *arena, const struct container *c)
{
	struct container_memo *memo = c->memo;
	struct words *words;

	if (!memo->words) {
		words = ARENA_NEW(c->pod->memo->arena, struct words);
		*words = split(c->pod->memo->arena, c);
		memo->words = words;
	}
	return *memo->words;
}
