/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits a shell script into words: quotes, backslashes, comments,
 * here-documents, operators. Nothing is expanded: a word with a variable, a
 * command substitution or a placeholder is unknown, except for a flag before
 * '='. Sources of the rules: POSIX shell command language, 2.2-2.3.
 */
#include "rules/kube/kinds.h"

#include <string.h>

#include "base/array.h"
#include "command_internal.h"
#include "doc/budget.h"
#include "doc/load.h"

struct arg *word_push(struct lexer *lexer)
{
	struct arg *arg =
		VEC_PUSH(lexer->arena, lexer->argv, lexer->nwords, lexer->size);

	arg->first = lexer->fresh;
	lexer->fresh = false;
	return arg;
}

/* True if the last word is a flag without '=', so that the next word may be its
 * value. */
static bool follows_flag(const struct lexer *lexer)
{
	const struct arg *last;

	if (!lexer->nwords)
		return false;
	last = &lexer->argv[lexer->nwords - 1];
	return last->text && last->text[0] == '-' && last->text[1] &&
	       !strchr(last->text, '=');
}

/*
 * Adds a word that is unknown after the first `known` bytes. "--flag=" keeps
 * its flag, and "name=" is an assignment or a Hydra override. A word that is
 * entirely unknown may be a flag if it may be several words, or if `any` is set
 * and it does not follow a flag.
 */
void word_add_unknown(struct lexer *lexer, const char *text, size_t known,
		      bool any)
{
	const char *equals = memchr(text, '=', known);
	bool value = follows_flag(lexer);
	struct arg *arg = word_push(lexer);

	arg->node = lexer->node;
	arg->text = NULL;
	if (lexer->name && (!known || (equals && equals + 1 == text + known)))
		arg->variable = arena_strndup(lexer->arena, lexer->name,
					      lexer->name_len);
	if (equals && equals > text) {
		arg->len = (size_t)(equals - text) + 1;
		arg->text = arena_strndup(lexer->arena, text, arg->len);
		arg->unknown = true;
		return;
	}
	if (known == 0 && (lexer->several || (any && !value)))
		arg->any = lexer->any = true;
}

static void word_end(struct lexer *lexer)
{
	if (!lexer->started)
		return;
	if (lexer->arg.len > lexer->known)
		lexer->name = NULL;
	if (!lexer->hidden && placeholder_in(lexer->arg.data, lexer->arg.len)) {
		word_add_unknown(lexer, lexer->arg.data, lexer->arg.len, false);
	} else if (lexer->hidden) {
		word_add_unknown(lexer, lexer->arg.data, lexer->known,
				 !lexer->quoted);
	} else {
		struct arg *arg = word_push(lexer);

		arg->len = lexer->arg.len;
		arg->text =
			arena_strndup(lexer->arena, lexer->arg.data, arg->len);
		arg->node = lexer->node;
	}
	buf_reset(&lexer->arg);
	lexer->started = lexer->hidden = lexer->quoted = false;
	lexer->several = false;
	lexer->name = NULL;
}

static void word_byte(struct lexer *lexer, char c)
{
	buf_addc(&lexer->arg, c);
	lexer->started = true;
}

static void word_bytes(struct lexer *lexer, const char *end)
{
	buf_add(&lexer->arg, lexer->at, (size_t)(end - lexer->at));
	lexer->at = end;
	lexer->started = true;
}

static void word_hide(struct lexer *lexer)
{
	lexer->name = NULL;
	if (!lexer->hidden)
		lexer->known = lexer->arg.len;
	lexer->started = true;
	lexer->hidden = true;
}

/* Skips the text between brackets, including nested ones. */
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

/* Marks the word as unknown at a reference to the variable. Stores the
 * variable's name, unless an earlier part of the word is unknown. */
static void word_hide_variable(struct lexer *lexer, const char *name,
			       size_t len)
{
	bool alone = !lexer->hidden;

	word_hide(lexer);
	if (!alone)
		return;
	lexer->name = name;
	lexer->name_len = len;
}

size_t shell_name_len(const char *text, const char *end)
{
	const char *p = text;

	while (p < end && is_name(*p))
		p++;
	return (size_t)(p - text);
}

/* True for "$@", "${@:2}" and "${ARGS[@]}", which are one word for each item,
 * even in quotes. */
static bool is_list(const char *text, const char *end)
{
	if (*text != '{')
		return *text == '@';
	while (++text < end && is_name(*text))
		;
	return text < end &&
	       (*text == '@' || (end - text > 2 && !memcmp(text, "[@]", 3)));
}

/* Reads an expansion, or a dollar sign without a meaning, at '$'. */
static void lex_dollar(struct lexer *lexer)
{
	char c = lexer->at + 1 < lexer->end ? lexer->at[1] : 0;

	if (c && is_list(lexer->at + 1, lexer->end))
		lexer->several = true;
	if (c == '(' || c == '{') {
		const char *name = lexer->at + 2;
		size_t len = shell_name_len(name, lexer->end);

		lexer->at++;
		skip_brackets(lexer, c, c == '(' ? ')' : '}');
		/* The kubelet expands $(NAME) before the shell runs. */
		if (len && lexer->at == name + len + 1)
			word_hide_variable(lexer, name, len);
		else
			word_hide(lexer);
	} else if (is_name(c)) {
		const char *name = ++lexer->at;
		size_t len = shell_name_len(name, lexer->end);

		lexer->at += len;
		word_hide_variable(lexer, name, len);
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

/* Stores the delimiter of a here-document, at "<<". If it is "<<<", which
 * starts a here-string, skips only the operator. */
static void lex_here(struct lexer *lexer)
{
	lexer->at += 2;
	if (lexer->at < lexer->end && *lexer->at == '<') {
		lexer->at++;
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

/* Skips the lines of a here-document, at the first byte of a line. */
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

/* Reads `<BUCKET>`, a placeholder. Returns false for a redirection. */
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
	lexer->quoted = true; /* the placeholder is one value, not a flag */
	return true;
}

/* True for the ampersand of `2>&1` and of `&>file`. */
static bool is_redirection(const struct lexer *lexer)
{
	return *lexer->at == '&' &&
	       ((lexer->at > lexer->begin && lexer->at[-1] == '>') ||
		(lexer->at + 1 < lexer->end && lexer->at[1] == '>'));
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
	if (!strchr("<>", *lexer->at) && !is_redirection(lexer))
		lexer->fresh = true;
	if (*lexer->at++ == '\n' && lexer->here)
		skip_here(lexer);
}

/* Reads `{{inputs.parameters.x}}`, a placeholder of a workflow engine. Returns
 * false for other text. */
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

/* Reads a byte without special meaning, and the ones after it that never have
 * one. */
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

/* Cost of a word in the budget, which is counted in bytes of scripts. */
enum { WORD_COST = 7 };

void lex_script(struct lexer *lexer, const char *text, size_t len)
{
	struct load_budget *budget = lexer->arena->budget;
	uint64_t left = budget ? load_budget_left(budget).script : UINT64_MAX;
	size_t from = lexer->nwords;
	struct load_cost cost = {0};

	lexer->begin = lexer->at = text;
	lexer->end = text + len;
	lexer->here = NULL;
	lexer->fresh = true;
	while (lexer->at < lexer->end && cost.script <= left) {
		lex_next(lexer);
		cost.script = (uint64_t)(lexer->at - text) +
			      (lexer->nwords - from) * WORD_COST;
	}
	word_end(lexer);
	lexer->fresh = true;
	if (!load_budget_spend(budget, &cost))
		lexer->any = true;
}
