/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates reads: variables, fields, indexes, has(), and `?:` between them
 * (cel-go interpreter/attributes.go). A read costs 1, plus 1 for each field or
 * index; `?:` and has() themselves cost nothing. After an absent optional, the
 * following steps cost nothing and are not evaluated.
 */
#include "base/array.h"
#include "rules/cel/eval/eval_internal.h"
#include "rules/cel/lib/lib_internal.h"
#include "rules/cel/value/value_internal.h"

enum chain {
	CHAIN_PLAIN,
	CHAIN_OPTIONAL, /* the value is that of a present optional */
	CHAIN_NONE,	/* an optional was absent: further steps are skipped */
};

static bool is_operation(const struct cel_expr *e, enum cel_operation operation)
{
	return e->kind == EXPR_CALL && e->call.operation == operation;
}

static bool is_index(const struct cel_expr *e)
{
	return is_operation(e, OPERATION_INDEX) ||
	       is_operation(e, OPERATION_OPTIONAL_INDEX);
}

static bool is_attribute(const struct cel_expr *e)
{
	return e->kind == EXPR_IDENT || e->kind == EXPR_SELECT || is_index(e) ||
	       is_operation(e, OPERATION_CHOICE);
}

/* Returns the start of a chain of fields and indexes. */
static const struct cel_expr *operand(const struct cel_expr *e)
{
	return e->kind == EXPR_SELECT || is_index(e) ? e->parts[0] : NULL;
}

static bool begins_with_choice(const struct cel_expr *e)
{
	while (operand(e))
		e = operand(e);
	return is_operation(e, OPERATION_CHOICE);
}

/* --- one step ------------------------------------------------------------ */

static struct cel_value missing_key(struct cel_eval *ev, struct cel_value key)
{
	if (key.kind == CEL_STRING)
		eval_work(ev, key.text.len / 16);
	return cel_error(ev->arena, "no such key: %s",
			 cel_value_text(ev->arena, key));
}

/* Looks up a step of the chain in a map. Sets *found. */
static struct cel_value in_map(struct cel_eval *ev, struct cel_value map,
			       struct cel_value key, bool *found)
{
	struct cel_value out = cel_null();

	if (map.map->field)
		*found = key.kind == CEL_STRING &&
			 map.map->field(ev, map.map->context, key.text, &out);
	else
		*found = cel_map_find(ev->arena, map, key, &out);
	if (!*found && ev->options.fragment && map.map->node) {
		*found = true;
		return cel_unknown(NULL);
	}
	return out;
}

const char *eval_go_type(struct cel_value value)
{
	static const char *const names[] = {
		[CEL_NULL] = "types.Null",
		[CEL_BOOL] = "types.Bool",
		[CEL_INT] = "types.Int",
		[CEL_UINT] = "types.Uint",
		[CEL_DOUBLE] = "types.Double",
		[CEL_STRING] = "types.String",
		[CEL_BYTES] = "types.Bytes",
		[CEL_LIST] = "*types.baseList",
		[CEL_MAP] = "*types.baseMap",
		[CEL_TYPE] = "*types.Type",
		[CEL_TIMESTAMP] = "types.Timestamp",
		[CEL_DURATION] = "types.Duration",
		[CEL_OPTIONAL] = "*types.Optional",
	};

	if (value.kind < ARRAY_SIZE(names) && names[value.kind])
		return names[value.kind];
	return cel_type_name(cel_type_of(value));
}

static struct cel_value bad_index(struct cel_eval *ev, struct cel_value key)
{
	if (key.kind != CEL_DOUBLE && key.kind != CEL_UINT)
		return cel_error(ev->arena,
				 "unsupported index type '%s' in list",
				 cel_type_name(cel_type_of(key)));
	return cel_error(ev->arena, "unsupported index value %s in list",
			 cel_value_text(ev->arena, key));
}

/* Returns false if the key is not an index. */
static bool index_of(struct cel_value key, int64_t *index)
{
	__extension__ __int128 whole;

	if (!cel_is_number(key) || !cel_whole(key, &whole) ||
	    whole > INT64_MAX || whole < INT64_MIN)
		return false;
	*index = (int64_t)whole;
	return true;
}

static struct cel_value in_list(struct cel_eval *ev, struct cel_value list,
				struct cel_value key, bool *found)
{
	int64_t i;

	*found = true; /* a key that is not an index is always an error */
	if (!index_of(key, &i))
		return bad_index(ev, key);
	if (i >= 0 && (uint64_t)i < cel_size(list))
		return cel_list_at(ev->arena, list, (size_t)i);
	*found = i >= 0 && eval_holds_more(ev, list);
	return *found ? cel_unknown(NULL) : cel_null();
}

static bool is_key(struct cel_value key)
{
	return key.kind >= CEL_BOOL && key.kind <= CEL_STRING;
}

static struct cel_value look_up(struct cel_eval *ev, struct cel_value value,
				struct cel_value key, bool *found)
{
	*found = true;
	if (!is_key(key))
		return cel_error(ev->arena, "invalid qualifier type: %s",
				 eval_go_type(key));
	if (value.kind == CEL_MAP || value.kind == CEL_OBJECT)
		return in_map(ev, value, key, found);
	if (value.kind == CEL_LIST)
		return in_list(ev, value, key, found);
	*found = false;
	return cel_null();
}

/* Returns the error for a step that does not exist. */
static struct cel_value missing(struct cel_eval *ev, struct cel_value value,
				struct cel_value key)
{
	int64_t i;

	if (value.kind != CEL_LIST || !index_of(key, &i))
		return missing_key(ev, key);
	return cel_error(ev->arena, "index out of bounds: %lld", (long long)i);
}

/* --- chains -------------------------------------------------------------- */

static struct cel_value read_chain(struct cel_eval *ev,
				   const struct cel_expr *e, enum chain *chain);

/* Starts a chain with a value. An optional is replaced by its value. */
static struct cel_value begin(struct cel_value value, enum chain *chain)
{
	*chain = CHAIN_PLAIN;
	if (value.kind != CEL_OPTIONAL)
		return value;
	*chain = value.optional ? CHAIN_OPTIONAL : CHAIN_NONE;
	return value.optional ? *value.optional : value;
}

static struct cel_value finish(struct cel_eval *ev, struct cel_value value,
			       enum chain chain)
{
	if (chain == CHAIN_PLAIN || cel_is_abnormal(value))
		return value;
	return chain == CHAIN_NONE ? cel_optional_none()
				   : cel_optional(ev->arena, value);
}

static struct cel_value key_of(struct cel_eval *ev, const struct cel_expr *e)
{
	const struct cel_expr *key;
	struct cel_value value;
	enum chain chain;

	if (e->kind == EXPR_SELECT)
		return cel_stringn(e->select.field.data, e->select.field.len);
	key = e->parts[1];
	if (key->kind == EXPR_CONST)
		return key->constant;
	if (!is_attribute(key))
		return eval_expr(ev, key);
	value = read_chain(ev, key, &chain);
	return finish(ev, value, chain);
}

/* Follows one field or index. */
static struct cel_value step(struct cel_eval *ev, const struct cel_expr *e,
			     struct cel_value value, enum chain *chain)
{
	bool test = e->kind == EXPR_SELECT && e->select.test, found = false;
	struct cel_value key = key_of(ev, e), out;

	if (is_operation(e, OPERATION_OPTIONAL_INDEX))
		*chain = CHAIN_OPTIONAL;
	out = cel_is_abnormal(key) ? key : look_up(ev, value, key, &found);
	if (*chain == CHAIN_PLAIN || found)
		eval_charge(ev, 1);
	if (cel_is_abnormal(key))
		return key;
	if (test) {
		*chain = CHAIN_PLAIN;
		/* If an optional step finds a placeholder, the value is
		 * present; if it is a field that a fragment lacks, it may
		 * be. */
		return found && cel_is_abnormal(out) && !out.node
			       ? out
			       : cel_bool(found);
	}
	if (found)
		return out;
	if (*chain == CHAIN_PLAIN)
		return missing(ev, value, key);
	*chain = CHAIN_NONE;
	return cel_optional_none();
}

static struct cel_value choose(struct cel_eval *ev, const struct cel_expr *e,
			       enum chain *chain)
{
	struct cel_value condition = eval_expr(ev, e->parts[0]);
	const struct cel_expr *branch;

	*chain = CHAIN_PLAIN;
	if (cel_is_abnormal(condition))
		return condition;
	if (condition.kind != CEL_BOOL)
		return cel_error(ev->arena, "no such overload");
	branch = e->parts[condition.boolean ? 1 : 2];
	if (is_attribute(branch))
		return read_chain(ev, branch, chain);
	return begin(eval_expr(ev, branch), chain);
}

static struct cel_value read_chain(struct cel_eval *ev,
				   const struct cel_expr *e, enum chain *chain)
{
	const struct cel_expr *of = operand(e);
	struct cel_value value;

	if (is_operation(e, OPERATION_CHOICE))
		return choose(ev, e, chain);
	if (e->kind == EXPR_IDENT)
		return begin(eval_ident(ev, e), chain);
	if (!of)
		return begin(eval_expr(ev, e), chain);
	value = read_chain(ev, of, chain);
	if (cel_is_abnormal(value))
		return value;
	if (*chain != CHAIN_NONE)
		return step(ev, e, value, chain);
	if (e->kind == EXPR_SELECT && e->select.test) {
		*chain = CHAIN_PLAIN;
		return cel_bool(false);
	}
	return value;
}

struct cel_value eval_attribute(struct cel_eval *ev, const struct cel_expr *e)
{
	bool test = e->kind == EXPR_SELECT && e->select.test;
	enum chain chain;
	struct cel_value value;

	if (e->kind == EXPR_IDENT) {
		eval_charge(ev, 1);
		return eval_ident(ev, e);
	}
	value = read_chain(ev, e, &chain);
	if (!begins_with_choice(e))
		eval_charge(ev, !test);
	else if (test && ev->cost)
		ev->cost--; /* cel-go's tracker does the same */
	return finish(ev, value, chain);
}
