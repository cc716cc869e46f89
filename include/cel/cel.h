/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Common Expression Language as Kubernetes 1.37 implements it. An
 * expression is compiled once and evaluated over documents.
 *
 *	env = cel_env_new(arena, variables);
 *	program = cel_compile(arena, env, text, len, &issues);
 *	cel_eval_init(&eval, program, arena, &options);
 *	result = cel_eval_run(&eval);
 *	n = cel_eval_blame(&eval, nodes, max);	why it failed
 *
 * Environments and programs are immutable and may be used by several threads;
 * an evaluation belongs to one thread. Evaluation reads no files, clocks or
 * networks. Everything lives in the arenas passed in.
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
	/* gpugate's own limit in addition to those of Kubernetes, for functions
	 * whose cost in Kubernetes is 1 whatever they process: list elements,
	 * and units of 16 bytes of text. It takes about 0.1 s. */
	CEL_WORK = 1500000,
	CEL_MEMORY = 16 << 20, /* bytes of values, including garbage */
};

struct cel_variable {
	const char *name; /* may contain dots: `request.x` is one name */
	const struct cel_type *type;
};

struct cel_env;
/* variables ends with {0} and must outlive the environment. */
const struct cel_env *cel_env_new(struct arena *arena,
				  const struct cel_variable *variables);

/* An error in an expression. start and end are byte offsets in its text. */
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
/* Returns NULL if the text does not parse or type-check; issues contains the
 * errors. */
const struct cel_program *cel_compile(struct arena *arena,
				      const struct cel_env *env,
				      const char *text, size_t len,
				      struct cel_issues *issues);
/*
 * Returns the result type that the checker found. The caller checks that it is
 * acceptable (bool, string, dyn, ...).
 */
const struct cel_type *cel_program_type(const struct cel_program *program);
/* True if the program reads this variable of its environment. */
bool cel_program_reads(const struct cel_program *program, const char *name);
/* Returns the program's text with every read of the variable renamed. */
const char *cel_program_renamed(struct arena *arena,
				const struct cel_program *program,
				const char *name, const char *to);

struct cel_eval_options {
	/* Returns the value of a variable by its index in the environment, or
	 * cel_unknown() for a missing input. It is called for each read. */
	struct cel_value (*variable)(struct cel_eval *eval, void *context,
				     unsigned index);
	void *context;
	uint64_t budget; /* CEL_EXPRESSION_BUDGET, or the remaining part of a
			    larger budget */
	uint64_t work;	 /* limit below CEL_WORK (0: CEL_WORK) */
	/* Objects are fragments: absent fields are unknown. */
	bool fragment;
};

struct cel_eval {
	const struct cel_program *program;
	struct arena *arena; /* holds values; the caller resets it */
	struct cel_eval_options options;
	uint64_t cost;	      /* counted so far, as cel-go counts it */
	uint64_t work;	      /* counted so far; above its limit, over is set */
	size_t memory_before; /* bytes used in the arena when the evaluation
				 began */
	bool over;	      /* the budget is spent: evaluation stops */
	/* variables of the comprehensions being evaluated */
	struct cel_slot *slots;
};

void cel_eval_init(struct cel_eval *eval, const struct cel_program *program,
		   struct arena *arena, const struct cel_eval_options *options);
/* Returns a value, an error ("no such key: x", as cel-go words it), or unknown.
 * Beyond a limit (cost, work or memory) it returns an error and sets over. */
struct cel_value cel_eval_run(struct cel_eval *eval);

/*
 * Finds the nodes of the documents that decide the result of the last run,
 * which returned false or an error. Evaluates again, stores at most max nodes,
 * the most important first, and returns their number. A read is decided by its
 * node, or by the nearest present parent if the node is absent. A false `&&` is
 * decided by its leftmost false operand, a true `||` by its leftmost true
 * operand. Otherwise both operands of these decide. `?:` is decided by its
 * branch, then by its condition. A call is decided by its arguments in order, a
 * false all() by its first failing element, and a false exists() by the list.
 * Stores the work that this needs in the evaluation's work.
 */
size_t cel_eval_blame(struct cel_eval *eval, const struct node **nodes,
		      size_t max);

/* True if the text contains no match of a regular expression of Go. False if
 * the search takes too long. */
bool cel_regex_mismatches(struct arena *arena, const char *regex,
			  const char *text, size_t len);

#endif
