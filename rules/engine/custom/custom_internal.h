/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule of a document of kind Rules, read and compiled. It lives in the arena
 * of its policy, as do the trees from which it was read; threads share it.
 */
#ifndef RULES_ENGINE_CUSTOM_INTERNAL_H
#define RULES_ENGINE_CUSTOM_INTERNAL_H

#include "cel/cel.h"
#include "engine/custom.h"
#include "rules/engine/policy/policy_internal.h"

enum custom_each { EACH_OBJECT, EACH_POD, EACH_CONTAINER };

struct custom_kind {
	const char *group; /* "" is core, NULL is any group */
	const char *kind;
};

struct custom_fix {
	enum custom_each base; /* object, pod or container */
	const char *path;      /* for people: "pod.spec.hostNetwork" */
	const char *dotted;    /* from the base */
	const char *key; /* one more key, which may contain dots, or NULL */
	const struct cel_program *value;
	bool safe;
};

struct custom_rule {
	struct rule rule; /* must be first: the engine converts it back */
	enum custom_each each;
	bool fail_ignore; /* failurePolicy: Ignore */
	bool gpus;	  /* match.gpus */
	struct patterns namespaces;
	struct custom_kind *kinds;
	size_t nkinds, kinds_size;
	const struct node *params; /* or NULL */
	/* NULL: missing, which `assert` never is. */
	const struct cel_program *when, *assert, *at, *message;
	struct custom_fix *fixes;
	size_t nfixes, fixes_size;
	struct custom_test *tests;
	size_t ntests, tests_size;
};

/* One evaluation: of the object, one of its pods, or a container of a pod. */
struct custom_subject {
	struct rule_run *run;
	const struct custom_rule *rule;
	const struct object *object;
	const struct pod *pod;		   /* or NULL */
	const struct container *container; /* or NULL */
	struct arena *arena;		   /* of values */
	/* expressions read the file as written, not the object as sent */
	bool as_written;
};

/* -- custom_facts.c: the variables of expressions, by `each` -- */
const struct cel_variable *custom_variables(struct arena *arena,
					    enum custom_each each);
struct cel_value custom_variable(struct cel_eval *eval, void *subject,
				 unsigned index);

/* Finds an object's node in the tree that expressions read; and back, or NULL
 * if the node is not part of the object. */
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
/* Parses "pod.spec.nodeSelector['a.b/c']"; false if it is not such a path. */
bool custom_fix_parse(struct arena *arena, const char *text,
		      struct custom_fix *out);
void custom_fix(struct custom_subject *subject, struct finding *finding);

#endif
