/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The suppressions of one file: comments by position in the text, annotations
 * by position in the objects. Private to suppress*.c. Everything is in the
 * arena given to suppressions_scan(); nothing points into documents, which are
 * freed when the file is finished.
 */
#ifndef RULES_ENGINE_SUPPRESS_INTERNAL_H
#define RULES_ENGINE_SUPPRESS_INTERNAL_H

#include "engine/suppress.h"
#include "rules/engine/rule_word.h"

struct suppress_word {
	const char *text;
	bool used;
};

struct suppress_words {
	struct suppress_word *items;
	size_t n, size;
};

/* Common members of comments and annotations. */
struct suppress_clause {
	uint32_t start, end; /* byte offsets in the source */
	/* JSON pointer of an annotation; NULL for a comment. */
	const char *pointer;
	unsigned document;
	uint64_t named_path;
	struct object_id id;
	struct suppress_words words;
	const char *reason;  /* "" if missing */
	int64_t until;	     /* DATE_NONE: never expires */
	const char *problem; /* description of the malformed part, or NULL */
	bool broken;	     /* so malformed that it suppresses nothing */
	struct suppress_refusal {
		const struct rule *rule;
		const char *text;
		struct suppress_refusal *next;
	} * refused; /* one entry per rule, the last one first */
};

struct suppress_comment {
	struct suppress_clause clause;
	uint32_t line; /* line that it covers */
	bool whole_file;
	bool excluded; /* not a comment, but text in a scalar */
};

struct suppress_annotation {
	struct suppress_clause clause;
	const char *object;   /* pointer of the annotated object */
	const char *template; /* pointer of the annotated template (NULL: the
				 object itself) */
	const char *role;     /* role of that template's pods, may be "" */
	bool of_pods;	      /* the pods' own template has it */
};

struct suppressions {
	struct arena *arena;
	struct source *source;
	int64_t today;
	/* Lint has a separate rule for expired suppressions and reads the
	 * author's object; /validate reads the object that /mutate has
	 * patched. */
	bool is_admission;
	struct suppress_comment *comments;
	size_t ncomments, comments_size;
	size_t *whole_file; /* indexes of ignore-file comments */
	size_t nwhole_file, whole_file_size;
	struct suppress_annotation *annotations;
	size_t nannotations, annotations_size;
	/* Roots of the current document's objects whose annotations were
	 * read. */
	const struct node **seen;
	size_t nseen, seen_size;
	unsigned seen_document;
	/* Settings of the run, from which the rules that are on are known
	 * (NULL: all are on). */
	const struct setting *settings;
	/* Unknown values may hide findings that comments, or annotations, would
	 * suppress. */
	bool unsure_comments, unsure_annotations;
	/* The admission policy, or NULL: suppressions then need no
	 * permission. */
	const struct policy *admission;
};

/* Largest number of words per clause, more than there are rules, because each
 * finding is compared with each word. */
enum { SUPPRESS_WORDS_MAX = 256 };

/* -- suppress_comment.c; also reads the words "a, b" of annotations -- */
void suppress_read_words(struct arena *arena, const char *text, size_t len,
			 struct suppress_words *words);
void suppress_read_comments(struct suppressions *s);

/* -- suppress_annotation.c -- */
/* Suppresses the finding if an annotation of object covers it. */
void suppress_by_annotation(struct suppressions *s, const struct object *object,
			    const struct setting *setting,
			    struct finding *finding);

/* -- suppress.c -- */
/* True if the clause names the rule and has suppressed the finding. */
bool suppress_by_clause(const struct suppressions *s,
			struct suppress_clause *clause,
			const struct setting *setting, struct finding *finding,
			enum suppressed_via via);

#endif
