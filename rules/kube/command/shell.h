/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of a shell script, for argv.c. Texts live in the lexer's arena or in
 * the document.
 */
#ifndef KUBE_SHELL_H
#define KUBE_SHELL_H

#include "base/buf.h"
#include "kube/command/argv.h"

struct lexer {
	struct arena *arena;
	struct arg *argv;
	size_t nwords, size;
	bool any;		 /* some word may be any flag */
	const struct node *node; /* item being read */
	const char *begin, *at, *end;
	struct buf arg;
	bool started; /* a word has begun, possibly an empty one */
	bool hidden;  /* part of it is unknown */
	bool quoted;
	bool several; /* the word may be any number of words */
	bool fresh;   /* the next word starts a command */
	size_t known; /* bytes before the first unknown part */
	const char
		*name; /* the variable that is the only unknown part, or NULL */
	size_t name_len;
	const char *here; /* delimiter of a here-document, or NULL */
	size_t here_len;
};

/* Adds a word, all zero except for whether it starts a command. */
struct arg *word_push(struct lexer *lexer);
/* Adds a word of which only the first bytes are known; any: it may be several
 * words, or any flag. */
void word_add_unknown(struct lexer *lexer, const char *text, size_t known,
		      bool any);
/* Add the words of a script. */
void lex_script(struct lexer *lexer, const char *text, size_t len);
/* Length of the variable name at the text, which ends at end. */
size_t shell_name_len(const char *text, const char *end);

#endif
