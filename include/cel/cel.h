/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Common Expression Language as Kubernetes 1.37 has it: compile an
 * expression once, evaluate it over documents.
 *
 *	env = cel_env_new(arena, variables);
 *	program = cel_compile(arena, env, text, len, &issues);
 *	cel_eval_init(&eval, program, arena, &options);
 *	result = cel_eval_run(&eval);
 *	node = cel_eval_blame(&eval);        where it failed
 *
 * Environments and programs are immutable and may be used by several threads;
 * an evaluation belongs to one. It reads no files, clocks or networks.
 * Everything lives in the arenas passed in.
 */
#ifndef CEL_CEL_H
#define CEL_CEL_H

#include "base/err.h"
#include "cel/value.h"

/* Limits, as the API server's (apiserver pkg/apis/cel/config.go, cel-go). */
enum {
	CEL_EXPRESSION_BUDGET = 1000000,
	CEL_POLICY_BUDGET = 10000000,
	CEL_MATCH_BUDGET = 2500000,
	CEL_CODE_POINTS = 100000,
	CEL_RECURSION = 250,
	/* A limit of gpugate beside those of Kubernetes: elements, and units of
	 * 16 bytes of text, that functions process, where costs count a call as
	 * 1. About 0.1 s. */
	CEL_WORK = 1500000,
	CEL_MEMORY = 16 << 20, /* bytes of values, some of them garbage */
};

struct cel_variable {
	const char *name; /* may contain dots: `request.x` is one name */
	const struct cel_type *type;
};

struct cel_env;
/* variables ends with {0} and must outlive the environment. */
const struct cel_env *cel_env_new(struct arena *arena,
				  const struct cel_variable *variables);

/* An error in an expression; start and end are byte offsets in its text. */
struct cel_issue {
	size_t start, end;
	const char *text;
};

struct cel_issues {
	struct arena *arena;
	struct cel_issue *items;
	size_t n, size;
};

struct cel_program;
/* NULL if the text does not parse or type-check; issues say why. */
const struct cel_program *cel_compile(struct arena *arena,
				      const struct cel_env *env,
				      const char *text, size_t len,
				      struct cel_issues *issues);
/*
 * Returns the result type that the checker found; the caller checks that it is
 * bool, string, dyn, ...
 */
const struct cel_type *cel_program_type(const struct cel_program *program);
/* True if the program reads this variable of its environment. */
bool cel_program_reads(const struct cel_program *program, const char *name);
/* Returns the program's text with every read of the variable renamed. */
const char *cel_program_renamed(struct arena *arena,
				const struct cel_program *program,
				const char *name, const char *to);

struct cel_eval_options {
	/* The value of a variable of the environment, by its index there;
	 * called at each read. A missing input is cel_unknown(). */
	struct cel_value (*variable)(struct cel_eval *eval, void *context,
				     unsigned index);
	void *context;
	uint64_t budget; /* CEL_EXPRESSION_BUDGET, or the rest of a larger
			    budget */
	uint64_t work;	 /* less than CEL_WORK; 0: CEL_WORK */
	/* Objects are fragments: absent fields are unknown. */
	bool fragment;
};

struct cel_eval {
	const struct cel_program *program;
	struct arena *arena; /* holds values; the caller resets it */
	struct cel_eval_options options;
	uint64_t cost;	      /* so far, as cel-go counts it */
	uint64_t work;	      /* so far; beyond its limit the budget is spent */
	size_t memory_before; /* used of the arena */
	bool over;	      /* the budget is spent: evaluation stops */
	struct cel_slot *slots; /* variables of comprehensions */
};

void cel_eval_init(struct cel_eval *eval, const struct cel_program *program,
		   struct arena *arena, const struct cel_eval_options *options);
/* A value, an error ("no such key: x", as cel-go words it), or unknown. Beyond
 * the budget it is an error, and over is set. */
struct cel_value cel_eval_run(struct cel_eval *eval);

/*
 * After a run that was false, or an error: the nodes that decide it, the
 * gravest first, those of the documents' trees only; evaluates again. At most
 * max; how many. a read: its node; absent: the nearest present parent; false
 * `&&`: its leftmost false operand; true `||`: its leftmost true one; else
 * both; `?:`: branch, then condition; a call: its arguments in order; false
 * all(): its first failing element; false exists(): the list. Sets the
 * evaluation's work to the work of finding them.
 */
size_t cel_eval_blame(struct cel_eval *eval, const struct node **nodes,
		      size_t max);

#endif
