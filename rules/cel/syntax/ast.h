/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of an expression. Macros are expanded as in cel-go, because costs
 * are counted for the expansion. The parser creates the tree and the checker
 * adds types and the meaning of names; after that it does not change. It lives
 * in the program's arena.
 */
#ifndef CEL_AST_H
#define CEL_AST_H

#include "cel/cel.h"

enum cel_expr_kind {
	EXPR_CONST,
	EXPR_IDENT,
	EXPR_SELECT, /* `a.b` or has(a.b) */
	EXPR_CALL,   /* function or operator: `_+_`, `_[_]`, `_?._`, `_[?_]` */
	EXPR_LIST,
	EXPR_MAP,
	EXPR_FOLD, /* comprehension */
};

/* Kinds of names, which the checker determines. */
enum cel_name {
	NAME_VARIABLE, /* index into the environment's variables */
	NAME_LOCAL,    /* slot of a comprehension's variable in this program */
	NAME_TYPE,     /* `int`, `list`: the constant is a type */
};

/* Operations that the evaluator implements itself, or whose cost differs. */
enum cel_operation {
	OPERATION_CALL, /* an overload's function */
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

/* Parts of its arguments that a function reads (bits). */
enum cel_looks {
	LOOKS_AT_NONE = 1, /* at most one item, or sizes */
	LOOKS_WITHIN = 2,  /* all parts of all items */
	/* for `in`: one item of a map, all items of a list */
	LOOKS_UP = 4,
	LOOKS_AT_TIME = 8, /* a text that is parsed as a time */
	KNOWN_ALWAYS = 16, /* the result is known even if items are unknown */
	/* Like KNOWN_ALWAYS, unless the argument itself may lack items. */
	KNOWN_IF_COMPLETE = 32,
};

struct cel_signature;

/* Names of accumulators in macros, as in cel-go. */
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
	/* from 0 to the program's nexprs - 1; index into other tables */
	uint32_t id;
	uint32_t start, end; /* bytes of the expression's text */
	uint32_t at;	     /* position of the operator, field or name */
	const struct cel_type *type;
	/* Direct parts. A selection has its operand, a call its receiver and
	 * arguments, a list its items, a map its keys and values in turn. A
	 * fold has the parts of enum cel_fold_part. */
	struct cel_expr **parts;
	unsigned n;
	union {
		struct cel_value constant;
		struct {
			const char *name; /* the name, without a leading dot */
			bool absolute;	  /* written with a leading dot */
			enum cel_name is;
			unsigned index;
			const struct cel_type *named; /* for NAME_TYPE */
		} ident;
		struct {
			struct cel_text field;
			bool test; /* has() of the selection */
		} select;
		struct {
			const char *function;
			bool member; /* the first part is its receiver */
			/* Overloads that the checker kept. Ends with NULL. */
			const struct cel_overload *const *overloads;
			/* Overloads from which the arguments select one at run
			 * time. Set after type checking. Ends with NULL. */
			const struct cel_signature **signatures;
			enum cel_operation operation;
			unsigned looks; /* bits of enum cel_looks */
			/* Several overloads with different costs remain; cel-go
			 * uses the lowest cost. */
			bool flat;
			/* Overload that determines the cost (NULL: the one that
			 * is called). */
			const struct cel_overload *price;
		} call;
		/* For lists and maps: optional[i] is true if part i is an item
		 * of `[?x]` or a value of `{?k: v}`. NULL if there are none. */
		bool *optional;
		struct {
			/* var2 may be NULL */
			const char *var, *var2, *accumulator;
			unsigned slot, slot2, accumulator_slot;
			/* Name of the macro that was expanded: "all", "exists",
			 * ... */
			const char *macro;
		} fold;
	};
};

/* Parses a text into a tree and sets *nexprs to the number of its expressions.
 * Returns NULL if there is a syntax error. */
struct cel_expr *cel_parse(struct arena *arena, const char *text, size_t len,
			   uint32_t *nexprs, struct cel_issues *issues);
/* Calls the function for an expression and all of its parts, parents first. */
void cel_expr_each(struct cel_expr *root,
		   void (*visit)(struct cel_expr *expr, void *context),
		   void *context);
void cel_issue(struct cel_issues *issues, size_t start, size_t end,
	       const char *text);

#endif
