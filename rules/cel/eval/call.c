/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls and operators, and the work that they cause. `&&` and `||` ignore
 * errors and unknown values if the other side decides; all other functions are
 * strict. If one argument is unknown and another is an error, the result is
 * unknown (in cel-go, the first of them is the result).
 */
#include "base/text.h"

#include "eval_internal.h"

/*
 * Counts the elements and bytes that functions process as work. cel-go counts
 * many calls as 1 for arguments of any size, so that a rule could run for hours
 * within its budget.
 */

enum { BYTES = 16 };

static uint64_t of_node(const struct node *node, uint64_t most)
{
	uint64_t work = 1;

	if (node->type != NODE_MAP && node->type != NODE_SEQ)
		return work + node->len / BYTES;
	FOR_EACH_CHILD(node, child) {
		if (work > most)
			break;
		work += of_node(child, most - work) + (node->type == NODE_MAP);
	}
	return work;
}

/* Returns the work of reading a value. Stops counting above `most`. */
static uint64_t within(struct cel_eval *ev, struct cel_value v, uint64_t most)
{
	uint64_t work = 1;

	if (v.kind == CEL_STRING || v.kind == CEL_BYTES)
		return work + v.text.len / BYTES;
	if (v.kind == CEL_OPTIONAL && v.optional)
		return within(ev, *v.optional, most);
	if (v.kind != CEL_LIST && v.kind != CEL_MAP)
		return work;
	if (v.list->node)
		return of_node(v.list->node, most);
	for (size_t i = 0; i < cel_size(v) && work <= most; i++) {
		struct cel_value item =
			v.kind == CEL_LIST ? cel_list_at(ev->arena, v, i)
					   : cel_map_at(ev->arena, v, i).value;

		work += within(ev, item, most - work);
	}
	return work;
}

/* Returns the work of reading a value and everything in it. */
static uint64_t eval_work_of(struct cel_eval *ev, struct cel_value v)
{
	return within(ev, v, ev->options.work);
}

static uint64_t work_of_argument(struct cel_eval *ev, const struct cel_expr *e,
				 struct cel_value v)
{
	unsigned looks = e->call.looks;

	if (v.kind == CEL_STRING || v.kind == CEL_BYTES)
		return v.text.len / (looks & LOOKS_AT_TIME ? 2 : BYTES);
	if ((v.kind != CEL_LIST && v.kind != CEL_MAP) || looks & LOOKS_AT_NONE)
		return 0;
	if (looks & LOOKS_UP)
		return v.kind == CEL_MAP ? 0 : eval_work_of(ev, v);
	return looks & LOOKS_WITHIN ? eval_work_of(ev, v) : cel_size(v);
}

/* Adds the work of a call. Returns false if the call must not be made. */
static bool eval_may_call(struct cel_eval *ev, const struct cel_expr *e,
			  const struct cel_value *args)
{
	for (unsigned i = 0; i < e->n; i++)
		eval_work(ev, work_of_argument(ev, e, args[i]));
	return !ev->over;
}

bool eval_holds_more(const struct cel_eval *ev, struct cel_value v)
{
	const struct node *node =
		v.kind == CEL_LIST || v.kind == CEL_MAP ? v.list->node : NULL;

	return node && (ev->options.fragment ||
			(v.kind == CEL_MAP && node->flags & NODE_OPEN));
}

/* Numbers of nodes and of values that can be searched for one unit of work. */
enum { NODES_PER_WORK = 64, VALUES_PER_WORK = 4 };

/* True if a map in the tree may have more entries. Adds the number of nodes
 * searched to *nodes. */
static bool is_open_within(const struct node *node, uint64_t *nodes)
{
	++*nodes;
	if (node->type == NODE_MAP && node->flags & NODE_OPEN)
		return true;
	FOR_EACH_CHILD(node, child)
		if ((child->type == NODE_MAP || child->type == NODE_SEQ) &&
		    is_open_within(child, nodes))
			return true;
	return false;
}

/* True if a part of the value may contain unknown items. */
static bool has_more_within(struct cel_eval *ev, struct cel_value v)
{
	uint64_t nodes = 0;
	bool more = false;

	if (v.kind == CEL_OPTIONAL && v.optional)
		return has_more_within(ev, *v.optional);
	if (v.kind != CEL_LIST && v.kind != CEL_MAP)
		return false;
	if (v.list->node) {
		more = ev->options.fragment ||
		       is_open_within(v.list->node, &nodes);
		eval_work(ev, nodes / NODES_PER_WORK);
		return more;
	}
	eval_work(ev, cel_size(v) / VALUES_PER_WORK);
	for (size_t i = 0; !more && !ev->over && i < cel_size(v); i++) {
		struct cel_value item =
			v.kind == CEL_LIST ? cel_list_at(ev->arena, v, i)
					   : cel_map_at(ev->arena, v, i).value;

		more = has_more_within(ev, item);
	}
	return more;
}

/* --- `&&`, `||` ---------------------------------------------------------- */

/* decisive is the operand value that decides: true for `||`, false for `&&`. */
static struct cel_value eval_logic(struct cel_eval *ev,
				   const struct cel_expr *e, bool decisive)
{
	struct cel_value result = cel_bool(!decisive);

	for (unsigned i = 0; i < e->n; i++) {
		struct cel_value v = eval_expr(ev, e->parts[i]);

		if (v.kind == CEL_BOOL) {
			if (v.boolean == decisive)
				return v;
			continue;
		}
		if (!cel_is_abnormal(v))
			v = cel_error(ev->arena, "no such overload");
		result = eval_graver(result, v);
	}
	return result;
}

static struct cel_value not_strictly_false(struct cel_eval *ev,
					   const struct cel_expr *e)
{
	struct cel_value v = eval_expr(ev, e->parts[0]);

	eval_charge(ev, 1);
	return cel_bool(!cel_is_false(v));
}

/* --- `==` ---------------------------------------------------------------- */

/* Returns the work of `==`. It is 0 for values of different kinds or sizes,
 * whose items are not compared. */
static uint64_t work_of_equality(struct cel_eval *ev, struct cel_value a,
				 struct cel_value b)
{
	if (a.kind != b.kind || cel_cost_size(a) != cel_cost_size(b))
		return 0;
	return eval_work_of(ev, a);
}

static struct cel_value eval_equality(struct cel_eval *ev,
				      const struct cel_expr *e, bool equal)
{
	struct cel_value a = eval_expr(ev, e->parts[0]);
	struct cel_value b = eval_expr(ev, e->parts[1]);
	struct cel_value result = eval_graver(a, b);
	const struct cel_value args[] = {a, b};
	const struct cel_call call = {.args = args, .n = 2};

	eval_work(ev, work_of_equality(ev, a, b));
	if (ev->over)
		return cel_null();
	if (!cel_is_abnormal(result))
		result = ev->options.fragment && (has_more_within(ev, a) ||
						  has_more_within(ev, b))
				 ? cel_unknown(NULL)
				 : cel_equal(ev->arena, a, b);
	eval_charge(ev, equal && a.kind == CEL_OPAQUE
				? 1
				: cel_cost_shorter(&call, result));
	if (result.kind == CEL_BOOL)
		result.boolean ^= !equal;
	return result;
}

/* --- optionals ----------------------------------------------------------- */

/* Evaluates the alternative only if the optional is absent. The call costs
 * nothing. */
static struct cel_value eval_or(struct cel_eval *ev, const struct cel_expr *e)
{
	struct cel_value v = eval_expr(ev, e->parts[0]);

	if (cel_is_abnormal(v))
		return v;
	if (v.kind != CEL_OPTIONAL)
		return cel_error(ev->arena, "no such overload");
	if (!v.optional)
		return eval_expr(ev, e->parts[1]);
	return e->call.operation == OPERATION_OR_VALUE ? *v.optional : v;
}

/* --- functions ----------------------------------------------------------- */

/* True if the value has the type as far as cel-go checks it: of a list or map,
 * only the first element. */
static bool is_of(struct cel_eval *ev, struct cel_value v,
		  const struct cel_type *type)
{
	struct cel_entry first;

	if (type->kind == CEL_DYN || type->kind == CEL_PARAM)
		return true;
	if (v.kind != type->kind)
		return false;
	switch (v.kind) {
	case CEL_LIST:
		if (type->params[0]->kind >= CEL_DYN || !cel_size(v))
			return true;
		/* NOLINTNEXTLINE: all n are set */
		first.key = cel_list_at(ev->arena, v, 0);
		return cel_is_abnormal(first.key) ||
		       is_of(ev, first.key, type->params[0]);
	case CEL_MAP:
		if ((type->params[0]->kind >= CEL_DYN &&
		     type->params[1]->kind >= CEL_DYN) ||
		    !cel_size(v))
			return true;
		/* NOLINTNEXTLINE: all n are set */
		first = cel_map_at(ev->arena, v, 0);
		return is_of(ev, first.key, type->params[0]) &&
		       (cel_is_abnormal(first.value) ||
			is_of(ev, first.value, type->params[1]));
	case CEL_OPAQUE:
		return text_eq(v.opaque.type->type.name, type->name);
	default:
		return true;
	}
}

static const struct cel_signature *dispatch(struct cel_eval *ev,
					    const struct cel_expr *e,
					    const struct cel_value *args)
{
	for (size_t i = 0; e->call.signatures[i]; i++) {
		const struct cel_signature *s = e->call.signatures[i];
		unsigned j = 0;

		while (j < s->n && is_of(ev, args[j], s->args[j]))
			j++;
		if (j == s->n)
			return s;
	}
	/* For these functions, cel-go does not check the elements. */
	if (text_lists("flatten sort @sortByAssociatedKeys",
		       e->call.function) &&
	    args[0].kind == CEL_LIST) /* NOLINT: there is a receiver */
		return e->call.signatures[0];
	return NULL;
}

static bool has_receiver(enum cel_kind kind)
{
	return kind == CEL_STRING || kind == CEL_TIMESTAMP ||
	       kind == CEL_DURATION;
}

/* True if the operator exists for values of this kind with some other
 * operand. */
static bool has_operator(const char *name, enum cel_kind kind)
{
	bool number = kind == CEL_INT || kind == CEL_UINT || kind == CEL_DOUBLE;

	if (has_receiver(kind) || text_eq(name, "@in") || text_eq(name, "!_"))
		return true;
	if (text_eq(name, "_+_"))
		return number || kind == CEL_BYTES || kind == CEL_LIST;
	if (text_eq(name, "_%_"))
		return kind == CEL_INT || kind == CEL_UINT;
	if (text_eq(name, "-_"))
		return kind == CEL_INT || kind == CEL_DOUBLE ||
		       kind == CEL_BOOL;
	if (*name == '_' && (name[1] == '<' || name[1] == '>'))
		return number || kind == CEL_BYTES || kind == CEL_BOOL;
	return number;
}

/* True for functions that cel-go calls, and whose cost it counts, whatever
 * their arguments are. */
static bool is_unguarded(const char *name)
{
	return text_eq(name, "contains") || text_eq(name, "startsWith") ||
	       text_eq(name, "endsWith") || text_eq(name, "matches");
}

/* True if a call with a failed argument costs what the function costs, and not
 * 1. That is so if the cost depends only on the sizes of the arguments, and for
 * other functions if the receiver has the declared type. */
static bool is_priced(struct cel_eval *ev, const struct cel_expr *e,
		      const struct cel_value *args)
{
	const char *name = e->call.function;
	const struct cel_signature *s = e->call.signatures[0];

	return is_unguarded(name) || *name == '_' || text_eq(name, "@in") ||
	       text_starts(name, "sets.") || text_starts(name, "find") ||
	       text_lists("lists.range slice reverse flatten isSorted sum min "
			  "max indexOf lastIndexOf includes",
			  name) ||
	       (*name != '@' && is_of(ev, args[0], s->args[0]));
}

/* True if a constant pattern was compiled into the call, so that the arguments
 * are evaluated one by one. */
static bool has_pattern(const struct cel_expr *e)
{
	const char *name = e->call.function;

	return (text_eq(name, "matches") || text_starts(name, "find")) &&
	       e->parts[1]->kind == EXPR_CONST;
}

/* Adds the cost of a call with an argument that failed or has the wrong
 * type. */
static void charge_failure(struct cel_eval *ev, const struct cel_expr *e,
			   const struct cel_value *args)
{
	struct cel_call call = {
		.eval = ev, .arena = ev->arena, .args = args, .n = e->n};
	const struct cel_signature *s = e->call.signatures[0];
	const struct cel_overload *price = e->call.price;
	const struct cel_value failed = {.kind = CEL_ERROR};

	if (!price && s)
		price = s->overload;
	if (e->call.operation == OPERATION_IN_CONSTANTS)
		return;
	if (!price || !price->cost || e->call.flat || !is_priced(ev, e, args)) {
		eval_charge(ev, 1);
		return;
	}
	if (has_pattern(e) && cel_is_abnormal(args[0]))
		return;
	call.overload = price;
	eval_charge(ev, price->cost(&call, failed));
}

/* Returns the error in cel-go's words, which depend on how it calls a
 * function. */
static struct cel_value no_overload(struct cel_eval *ev,
				    const struct cel_expr *e,
				    const struct cel_value *args)
{
	const char *name = e->call.function;
	bool is_operator =
		*name == '_' || *name == '@' || *name == '!' || *name == '-';
	struct cel_value error;
	struct buf text;

	/* NOLINTNEXTLINE: all n are set */
	if (is_operator && has_operator(name, args[0].kind))
		return cel_error(ev->arena, "no such overload");
	if (is_unguarded(name) ||
	    /* NOLINTNEXTLINE: all n are set */
	    (text_eq(name, "size") && has_receiver(args[0].kind)))
		return cel_error(ev->arena, "no such overload");
	if (is_operator || text_eq(name, "size"))
		return cel_error(ev->arena, "no such overload: %s", name);
	buf_init(&text);
	for (unsigned i = 0; i < e->n; i++)
		buf_addf(&text, "%s%s", i ? ", " : "",
			 cel_type_name(cel_type_of(args[i])));
	error = cel_error(ev->arena, "no such overload: %s(%s)", name,
			  text.data);
	buf_release(&text);
	return error;
}

static uint64_t work_of_result(struct cel_value v)
{
	return v.kind == CEL_STRING ? v.text.len / 16
	       : v.kind == CEL_LIST ? cel_size(v)
				    : 0;
}

static struct cel_value call_overload(struct cel_eval *ev,
				      const struct cel_expr *e,
				      const struct cel_value *args)
{
	const struct cel_signature *s = dispatch(ev, e, args);
	struct cel_call call = {
		.eval = ev, .arena = ev->arena, .args = args, .n = e->n};
	struct cel_value result;
	const struct cel_overload *price;
	uint64_t cost = 1;

	if (!s || !s->overload->call) {
		charge_failure(ev, e, args);
		return no_overload(ev, e, args);
	}
	if (!eval_may_call(ev, e, args))
		return cel_null();
	call.overload = s->overload;
	result = s->overload->call(&call);
	eval_work(ev, work_of_result(result));
	price = e->call.price ? e->call.price : s->overload;
	if (e->call.operation == OPERATION_IN_CONSTANTS)
		cost = 0;
	else if (price->cost && !e->call.flat)
		cost = price->cost(&call, result);
	eval_charge(ev, cost);
	return result;
}

/*
 * Returns true if only the type of the result is known, because an argument may
 * contain unknown items. Items do not matter for functions that need only
 * sizes. `in` reports unknown items itself; what remains are incomplete maps
 * and lists, which a scalar never equals.
 */
static bool is_unknown_of(struct cel_eval *ev, const struct cel_expr *e,
			  const struct cel_value *args)
{
	bool more = false;

	if (!e->n || e->call.looks & KNOWN_ALWAYS)
		return false;
	if (e->call.looks & KNOWN_IF_COMPLETE)
		return eval_holds_more(ev, args[0]);
	/* NOLINTNEXTLINE: all n are set */
	if (e->call.looks & LOOKS_UP && args[0].kind != CEL_LIST &&
	    args[0].kind != CEL_MAP)
		return false;
	for (unsigned i = 0; i < e->n; i++)
		more |= has_more_within(ev, args[i]);
	return more;
}

static struct cel_value eval_function(struct cel_eval *ev,
				      const struct cel_expr *e)
{
	struct cel_value args[CEL_ARGS], graver = cel_null();
	unsigned n = e->n;
	/* With two arguments, cel-go evaluates both; with more, it stops at the
	 * first one that fails. */
	bool stops = n > 2 || (n == 2 && !e->call.price && !e->call.flat &&
			       e->call.signatures[0] && e->call.signatures[1]);

	for (unsigned i = 0; i < n; i++) {
		args[i] = eval_expr(ev, e->parts[i]);
		if (!cel_is_abnormal(args[i]))
			continue;
		if (stops && i + 1 < n)
			return args[i];
		graver = cel_is_abnormal(graver) ? eval_graver(graver, args[i])
						 : args[i];
	}
	if (ev->over)
		return cel_null();
	if (!cel_is_abnormal(graver) && is_unknown_of(ev, e, args))
		graver = cel_unknown(NULL);
	if (ev->over)
		return cel_null();
	if (!cel_is_abnormal(graver))
		return call_overload(ev, e, args);
	charge_failure(ev, e, args);
	return graver;
}

struct cel_value eval_call(struct cel_eval *ev, const struct cel_expr *e)
{
	struct cel_value out;

	switch (e->call.operation) {
	case OPERATION_AND:
	case OPERATION_OR:
		return eval_logic(ev, e, e->call.operation == OPERATION_OR);
	case OPERATION_CHOICE:
	case OPERATION_INDEX:
	case OPERATION_OPTIONAL_INDEX:
		return eval_attribute(ev, e);
	case OPERATION_EQUAL:
	case OPERATION_UNEQUAL:
		return eval_equality(ev, e,
				     e->call.operation == OPERATION_EQUAL);
	case OPERATION_NOT_STRICTLY_FALSE:
		return not_strictly_false(ev, e);
	case OPERATION_OR_OPTIONAL:
	case OPERATION_OR_VALUE:
		return eval_or(ev, e);
	case OPERATION_INSERT:
		return eval_fold_insert(ev, e);
	case OPERATION_ADD:
		if (eval_fold_add(ev, e, &out))
			return out;
		return eval_function(ev, e);
	default:
		return eval_function(ev, e);
	}
}
