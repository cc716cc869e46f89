/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits shell scripts into words, for argv.c. Texts live in the lexer's arena
 * or in the document.
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
	const struct node *node; /* list item that is being read */
	const char *begin, *at, *end;
	struct buf arg;
	bool started; /* a word has begun, possibly an empty one */
	bool hidden;  /* part of the word is unknown */
	bool quoted;
	bool several;	  /* the word may become any number of words */
	bool fresh;	  /* the next word starts a command */
	size_t known;	  /* bytes of the word before its first unknown part */
	const char *name; /* name of the variable that is the only unknown part,
			     or NULL */
	size_t name_len;
	const char *here; /* delimiter of a here-document, or NULL */
	size_t here_len;
};

/* Adds a word, with zeros except for whether it starts a command. */
struct arg *word_push(struct lexer *lexer);
/* Adds a word of which only the first `known` bytes are known. With `any`, it
 * may be several words, or any flag. */
void word_add_unknown(struct lexer *lexer, const char *text, size_t known,
		      bool any);
/* Adds the words of a script until the arena's budget is spent; sets `any` if
 * words are missing. */
void lex_script(struct lexer *lexer, const char *text, size_t len);
/* Returns the length of the variable name at text, which ends at end or before
 * it. */
size_t shell_name_len(const char *text, const char *end);

#endif
