/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of a shell's script, for argv.c. Texts live in the lexer's arena, or
 * are those of the document.
 */
#ifndef KUBE_SHELL_H
#define KUBE_SHELL_H

#include "base/buf.h"
#include "kube/command/argv.h"

struct lexer {
	struct arena *arena;
	struct arg *argv;
	size_t nwords, size;
	bool any;		 /* some word could be any flag */
	const struct node *node; /* item being read */
	const char *begin, *at, *end;
	struct buf arg;
	bool started; /* a word has begun, perhaps empty */
	bool hidden;  /* part of it is not known */
	bool quoted;
	bool several;	  /* ... but for any number of words */
	bool fresh;	  /* the next word begins a command */
	size_t known;	  /* bytes before the first unknown part */
	const char *name; /* of the variable that alone is unknown, or NULL */
	size_t name_len;
	const char *here; /* delimiter of a here-document, or NULL */
	size_t here_len;
};

/* A new word, all zero but for whether it begins a command. */
struct arg *word_push(struct lexer *lexer);
/* A word of which the first bytes are known; any: it may be several, or any
 * flag. */
void word_add_unknown(struct lexer *lexer, const char *text, size_t known,
		      bool any);
/* Add the words of a script. */
void lex_script(struct lexer *lexer, const char *text, size_t len);
/* Bytes of the variable's name at the text, before end. */
size_t shell_name_len(const char *text, const char *end);

#endif
