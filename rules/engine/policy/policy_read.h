/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that read policy documents, shared by policy_read*.c and
 * policy_load.c. A reader checks a node and copies its value into the policy's
 * arena. It reports every problem and continues, so that one pass finds all
 * problems.
 */
#ifndef RULES_ENGINE_POLICY_READ_H
#define RULES_ENGINE_POLICY_READ_H

#include "doc/load.h"
#include "kube/object.h"
#include "policy_internal.h"

struct policy_reader {
	struct policy *policy;
	struct policy_problems *problems;
	struct policy_options options;
	struct source *source;
	const char *file; /* name of the file, in the policy's arena */
	const char *path; /* path of the policy; NULL for a text in memory */
	const struct rule_set *rules;
	bool in_override;
	int64_t today;
	/* namespaces of the Exemptions document that is being read */
	struct patterns *declared;
	struct accelerator *accelerators;
	size_t naccelerators, accelerators_size;
	struct policy_kind *kinds;
	size_t nkinds, kinds_size;
	struct pod_injection *injected;
	size_t ninjected, injected_size;
	const char **files; /* files of `custom:` that were read */
	size_t nfiles, files_size;
	const struct rule **rules_added;
	size_t nrules_added, rules_added_size;
	/* Custom rules could not be read, so that their names are unknown. */
	bool unread;
};

/* A kind of document that files listed in `custom:` may contain. Pointers into
 * a document may be kept: it lives as long as the policy. */
struct custom_reader {
	const char *kind, *api_version;
	void (*read)(struct policy_reader *r, const struct doc *doc);
};

/* A key of a map. A table of keys ends with a NULL name. */
struct policy_field {
	const char *name;
	void (*read)(struct policy_reader *r, const struct node *node,
		     void *into);
	/* LIST: call read() for each item */
	enum { REQUIRED = 1, LIST = 2 } flags;
	size_t offset; /* offset of read()'s target in read_fields()'s target */
};

/* -- problems. If node is NULL, the problem is about the whole file and its
 * position is 1:1, or 0:0 outside of the reading of a file. -- */
void problem(struct policy_reader *r, const struct node *node, const char *fmt,
	     ...) __attribute__((format(printf, 3, 4)));
void problem_key(struct policy_reader *r, const struct node *node,
		 const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void problem_offset(struct policy_reader *r, uint32_t offset, bool is_warning,
		    const char *text);
void problem_at(struct policy_reader *r, const char *file, struct position at,
		bool is_warning, const char *text);
void warning(struct policy_reader *r, const struct node *node, const char *fmt,
	     ...) __attribute__((format(printf, 3, 4)));
/* Returns the user's text in a form that is safe in a problem: short, without
 * control characters. */
const char *shown(struct policy_reader *r, const char *text);
/* Returns "; did you mean `x`?" or "". */
const char *did_you_mean(struct policy_reader *r, const char *nearest);
/* Returns the type of a node, for "found ...": "a map", "text", "nothing". */
const char *node_noun(const struct node *node);

/* -- types of values -- */
void read_fields(struct policy_reader *r, const struct node *map,
		 const struct policy_field *fields, void *into);
/* Reads each item of a list. Another type, or an empty list, is a problem. */
void read_list(struct policy_reader *r, const struct node *list,
	       void (*item)(struct policy_reader *r, const struct node *node,
			    void *into),
	       void *into);
/* Does nothing, because another function reads the key. */
void read_elsewhere(struct policy_reader *r, const struct node *node,
		    void *unused);
/* Reads a text that must not be empty and copies it. Returns NULL and reports a
 * problem if it is something else. */
const char *read_text(struct policy_reader *r, const struct node *node);
bool read_bool(struct policy_reader *r, const struct node *node, bool *out);
bool read_int(struct policy_reader *r, const struct node *node, int64_t low,
	      int64_t high, int64_t *out);
bool read_pattern(struct policy_reader *r, const struct node *node,
		  unsigned flags, struct path_pattern *out);
/*
 * -- readers of fields, by the type of the target: const char *, bool, struct
 * patterns, struct text_list, and a new array with a bool for each rule that
 * the words of a list select. An invalid text becomes NULL, an invalid flag
 * leaves the target unchanged, and invalid items of a list are left out. --
 */
void field_text(struct policy_reader *r, const struct node *node, void *into);
void field_flag(struct policy_reader *r, const struct node *node, void *into);
void field_patterns(struct policy_reader *r, const struct node *node,
		    void *into);
void field_texts(struct policy_reader *r, const struct node *node, void *into);
void field_rules(struct policy_reader *r, const struct node *node, void *into);
/* Reads a word that selects rules; into is an array with a bool for each
 * rule. */
void read_rule_word(struct policy_reader *r, const struct node *node,
		    void *into);

void add_text(struct policy_reader *r, struct text_list *list,
	      const char *text);
/* Returns "FILE:LINE" of a node. */
const char *read_from(struct policy_reader *r, const struct node *node);
/* Reads a word that must be in a list. Returns its index. For another value,
 * reports a problem with the valid words and returns -1. */
int read_choice(struct policy_reader *r, const struct node *node,
		const char *what, const char *const *words, size_t n);

/* -- policy_read_rules.c -- */
void read_rules(struct policy_reader *r, const struct node *node,
		void *entries);

/* -- policy_read_exempt.c -- */
void read_exemption(struct policy_reader *r, const struct node *node,
		    void *unused);
void read_exemptions_document(struct policy_reader *r, const struct node *root);
void read_suppressions(struct policy_reader *r, const struct node *node,
		       void *unused);
void read_break_glass(struct policy_reader *r, const struct node *node,
		      void *unused);
void read_controller(struct policy_reader *r, const struct node *node,
		     void *unused);

/* -- policy_read_scope.c: scopes of settings -- */
bool read_mode(struct policy_reader *r, const struct node *node,
	       enum mode *out);
bool read_preset(struct policy_reader *r, const struct node *node, bool may_pin,
		 struct preset_ref *out);
void read_overrides(struct policy_reader *r, const struct node *node,
		    void *unused);
void read_path(struct policy_reader *r, const struct node *node, void *unused);

/* -- policy_read_custom.c: called first, because other keys refer to its rules
 * -- */
void read_custom(struct policy_reader *r, const struct node *node);
/* Reads a document of such a file. Returns false if it has another kind. */
bool read_custom_document(struct policy_reader *r, const struct doc *doc);
/* Adds a custom rule, which must live as long as the policy. ACTION_OFF means
 * that the policy does not set the action. */
void add_custom_rule(struct policy_reader *r, const struct rule *rule,
		     enum action action, const struct node *at);

/* Compiles and binds the policies after the last document. */
void finish_admission(struct policy_reader *r);

/* -- policy_read_policy.c -- */
void read_policy_document(struct policy_reader *r, const struct node *root);

#endif
