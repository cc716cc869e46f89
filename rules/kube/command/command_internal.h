/* SPDX-License-Identifier: Apache-2.0 */
/* Private parts of this folder. */
#ifndef RULES_COMMAND_INTERNAL_H
#define RULES_COMMAND_INTERNAL_H

#include "base/buf.h"
#include "kube/command/command.h"
#include "kube/command/parallel.h"
#include "rules/kube/kinds.h"

/*
 * Tables of programs that use several devices, and of their flags. Each table
 * ends with a row of zeros.
 */

enum parallel_id {
	ID_TORCHRUN,
	ID_TUNE,
	ID_ACCELERATE,
	ID_DEEPSPEED,
	ID_MPIRUN,
	ID_HOROVODRUN,
	ID_VLLM,
	ID_SGLANG,
	ID_TGI,
	ID_LMDEPLOY,
	ID_TRTLLM,
	ID_TRITON,
};

struct parallel_program {
	const char *name;
	enum parallel_id id;
	enum parallel_type type;
	struct argv_names words; /* base names of the program or module */
	/* word that must follow the program's name, or NULL */
	const char *then;
	const char *image;  /* part of the name of images that start it */
	const char *format; /* KServe's model format that starts it */
	/* the number for each node is known from its flags and --nnodes */
	bool per_node;
	bool by_env;	/* environment variables are read as well */
	bool takes_all; /* by default it uses all devices */
	/* flags by which processes may run on other nodes */
	const char *const *spread;
};
extern struct parallel_program parallel_programs[];

/* A name without a dash is a variable, listed after the flag with the same
 * meaning; rows are in the order of the programs' ids. */
struct parallel_flag {
	enum parallel_id program;
	enum degree_of of;
	const char *name;
};
extern const struct parallel_flag parallel_flags[];

/* Returns the value that the container's command assigns to a variable by
 * NAME=value, and sets *set to whether it is assigned. Returns NULL if it is
 * not assigned, or if its value is unknown, as after several assignments. */
const char *assigned_value(const struct container *c, const char *name,
			   bool *set);

/*
 * Splits shell scripts into words, for argv.c. Texts live in the lexer's arena
 * or in the document.
 */

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
