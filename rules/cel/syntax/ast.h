/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of an expression, macros expanded as cel-go expands them: costs are
 * counted over the expansion. The parser makes it; the checker fills in types
 * and the meaning of names, and it does not change after that. It lives in the
 * program's arena.
 */
#ifndef CEL_AST_H
#define CEL_AST_H

#include "cel/cel.h"

enum cel_expr_kind {
	EXPR_CONST,
	EXPR_IDENT,
	EXPR_SELECT, /* a.b, has(a.b) */
	EXPR_CALL,   /* functions, operators: `_+_`, `_[_]`, `_?._`, `_[?_]` */
	EXPR_LIST,
	EXPR_MAP,
	EXPR_FOLD, /* a comprehension */
};

/* Kinds of names that the checker distinguishes. */
enum cel_name {
	NAME_VARIABLE, /* index into the environment's variables */
	NAME_LOCAL,    /* slot of a comprehension's variable in this program */
	NAME_TYPE,     /* `int`, `list`: a constant */
};

/* Operations that the evaluator performs itself or whose cost differs. */
enum cel_operation {
	OPERATION_CALL, /* none of these: an overload's function */
	OPERATION_AND,
	OPERATION_OR,
	OPERATION_CHOICE, /* `_?_:_` */
	OPERATION_INDEX,
	OPERATION_OPTIONAL_INDEX, /* `_[?_]`, `_?._` */
	OPERATION_EQUAL,
	OPERATION_UNEQUAL,
	OPERATION_NOT_STRICTLY_FALSE,
	OPERATION_OR_OPTIONAL, /* or() of optionals */
	OPERATION_OR_VALUE,
	OPERATION_ADD,
	OPERATION_INSERT,	/* `cel.@mapInsert` */
	OPERATION_IN_CONSTANTS, /* `x in ['a', 'b']`: costs nothing */
};

/* Parts of its arguments that a function reads. */
enum cel_looks {
	LOOKS_AT_NONE = 1, /* at most one item, or sizes */
	LOOKS_WITHIN = 2,  /* all parts of all items */
	LOOKS_UP = 4,	   /* `in`: one item of a map, all of a list */
	LOOKS_AT_TIME = 8, /* a text that is parsed as a time */
	KNOWN_ALWAYS = 16, /* the result is known even if items are unknown */
	/* likewise, unless the argument itself may lack items */
	KNOWN_IF_COMPLETE = 32,
};

struct cel_signature;

/* Names of accumulators in macros (cel-go's). */
#define CEL_ACCUMULATOR "@result"

/* The parts of a fold. */
enum cel_fold_part {
	FOLD_RANGE,
	FOLD_INIT,
	FOLD_CONDITION,
	FOLD_STEP,
	FOLD_RESULT,
	NFOLD_PARTS,
};

struct cel_expr {
	enum cel_expr_kind kind;
	uint32_t id; /* 0 ... program's nexprs - 1: index into side tables */
	uint32_t start, end; /* bytes of the expression's text */
	uint32_t at;	     /* position of its operator, field or name */
	const struct cel_type *type;
	/* Direct parts: the operand of a selection; the receiver and
	 * arguments of a call; the items of a list; the alternating keys and
	 * values of a map; enum cel_fold_part. */
	struct cel_expr **parts;
	unsigned n;
	union {
		struct cel_value constant;
		struct {
			const char *name; /* `.name`: without the dot */
			bool absolute;	  /* began with a dot */
			enum cel_name is;
			unsigned index;
			const struct cel_type *named; /* NAME_TYPE */
		} ident;
		struct {
			struct cel_text field;
			bool test; /* has() */
		} select;
		struct {
			const char *function;
			bool member; /* the first part is its receiver */
			/* for the name and arity; those that the checker kept;
			 * ends with NULL */
			const struct cel_overload *const *overloads;
			/* Overloads to choose from by the arguments, set
			 * after type checking; ends with NULL. */
			const struct cel_signature **signatures;
			enum cel_operation operation;
			unsigned looks; /* enum cel_looks */
			/* Several overloads with different costs remain: cel-go
			 * takes the lowest. */
			bool flat;
			/* The overload whose cost counts, or NULL: the called
			 * one's. */
			const struct cel_overload *price;
		} call;
		/* Lists and maps: optional[i] is true if part i is an item
		 * of `[?x]` or a value of `{?k: v}`. NULL if none is. */
		bool *optional;
		struct {
			const char *var, *var2, *accumulator; /* var2 or NULL */
			unsigned slot, slot2, accumulator_slot;
			/* The expanded macro: "all", "exists", ... */
			const char *macro;
		} fold;
	};
};

/* Parses a text into a tree. Returns NULL if it does not parse; *nexprs counts
 * its expressions. */
struct cel_expr *cel_parse(struct arena *arena, const char *text, size_t len,
			   uint32_t *nexprs, struct cel_issues *issues);
/* Calls the function for an expression and all below it, parents first. */
void cel_expr_each(struct cel_expr *root,
		   void (*visit)(struct cel_expr *expr, void *context),
		   void *context);
void cel_issue(struct cel_issues *issues, size_t start, size_t end,
	       const char *text);

#endif
