/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule of a document of kind Rules, after it was read and compiled, and its
 * export. The rule and the trees from which it was read are in the arena of
 * the policy; threads share them.
 */
#ifndef RULES_ENGINE_CUSTOM_INTERNAL_H
#define RULES_ENGINE_CUSTOM_INTERNAL_H

#include "base/buf.h"
#include "cel/cel.h"
#include "engine/registry.h"
#include "rules/engine/policy/policy_internal.h"

enum custom_each { EACH_OBJECT, EACH_POD, EACH_CONTAINER };

struct custom_kind {
	const char *group; /* "" is the core group, NULL any group */
	const char *kind;
};

struct custom_fix {
	enum custom_each base; /* object, pod or container */
	/* as the user writes it: "pod.spec.hostNetwork" */
	const char *path;
	const char *dotted; /* path from the base */
	const char *key;    /* further key, which may contain dots, or NULL */
	const struct cel_program *value;
	bool safe;
};

struct custom_rule {
	/* must be first, because the engine casts its address */
	struct rule rule;
	enum custom_each each;
	bool fail_ignore; /* failurePolicy: Ignore */
	bool gpus;	  /* match.gpus */
	struct patterns namespaces;
	struct custom_kind *kinds;
	size_t nkinds, kinds_size;
	const struct node *params; /* may be NULL */
	/* Expressions; NULL if missing. `assert` is never missing. */
	const struct cel_program *when, *assert, *at, *message;
	struct custom_fix *fixes;
	size_t nfixes, fixes_size;
	struct custom_test *tests;
	size_t ntests, tests_size;
};

/* Subject of one evaluation: an object, one of its pods, or a container of a
 * pod. */
struct custom_subject {
	struct rule_run *run;
	const struct custom_rule *rule;
	const struct object *object;
	const struct pod *pod;		   /* may be NULL */
	const struct container *container; /* may be NULL */
	struct arena *arena;		   /* memory of values */
	/* Expressions read the file as written, not the object as the API
	 * server would send it. */
	bool as_written;
};

/* -- custom_facts.c: variables of expressions, which depend on `each` -- */
const struct cel_variable *custom_variables(struct arena *arena,
					    enum custom_each each);
struct cel_value custom_variable(struct cel_eval *eval, void *subject,
				 unsigned index);

/* Convert between nodes of an object and nodes of the tree that expressions
 * read. A node without a counterpart gives that of its nearest parent. For a
 * node of another tree, custom_seen() returns the node itself, custom_place()
 * NULL. */
const struct node *custom_seen(struct custom_subject *subject,
			       const struct node *node);
const struct node *custom_place(struct custom_subject *subject,
				const struct node *node);

/* -- custom_rule.c -- */
void custom_check(struct rule_run *run, const struct object *object);
struct cel_value custom_run(struct cel_eval *eval,
			    struct custom_subject *subject,
			    const struct cel_program *program);
const struct node *custom_base(const struct custom_subject *subject,
			       enum custom_each each);

/* -- custom_fix.c -- */
/* Parses a path such as "pod.spec.nodeSelector['a.b/c']". Returns false if it
 * is not such a path. */
bool custom_fix_parse(struct arena *arena, const char *text,
		      struct custom_fix *out);
void custom_fix(struct custom_subject *subject, struct finding *finding);

/* Parts of custom_export() that write CEL expressions. */

/* State of an export. `why` is the reason why the rule cannot be exported, a
 * clause in the arena, or NULL. */
struct custom_export {
	struct arena *arena;
	const struct custom_rule *rule;
	const char *const *given; /* setting->params */
	/* kinds that the rule matches, with their groups */
	struct custom_kind *kinds;
	size_t nkinds, kinds_size;
	const char *why;
};

/* Writes a text as a CEL literal in single quotes. */
void export_quoted(struct buf *out, const char *text, size_t len);
/* Writes `params` as a literal with the policy's values. */
void export_params(struct custom_export *e, struct buf *out);
/* Writes an expression for the list of an object's pods, for all kinds that the
 * rule matches. */
void export_pods(struct custom_export *e, struct buf *out);

#endif
