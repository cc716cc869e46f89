/* SPDX-License-Identifier: Apache-2.0 */
/* Unifies types. After a failed attempt, the list of bindings is used to undo
 * them. */
#include "check.h"

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"

static bool assignable(struct unifier *u, const struct cel_type *from,
		       const struct cel_type *to);

const struct cel_type *unify_variable(struct unifier *u)
{
	struct type_variable *v = ARENA_NEW(u->arena, struct type_variable);

	v->index = (unsigned)u->nvariables;
	v->type.kind = CEL_PARAM;
	v->type.name = arena_printf(u->arena, "_var%u", v->index);
	*VEC_PUSH(u->arena, u->bound, u->nvariables, u->variables_size) = NULL;
	return &v->type;
}

static unsigned index_of(const struct cel_type *variable)
{
	return ((const struct type_variable *)variable)->index;
}

static const struct cel_type *bound(const struct unifier *u,
				    const struct cel_type *type)
{
	return type->kind == CEL_PARAM ? u->bound[index_of(type)] : NULL;
}

static void bind(struct unifier *u, const struct cel_type *variable,
		 const struct cel_type *type)
{
	unsigned i = index_of(variable);

	*VEC_PUSH(u->arena, u->bindings, u->n, u->size) =
		(struct binding){i, u->bound[i]};
	u->bound[i] = type;
}

/* --- substitution -------------------------------------------------------- */

static const struct cel_type *with_params(struct arena *arena,
					  const struct cel_type *type,
					  const struct cel_type *const *params)
{
	struct cel_type *copy;

	if (params[0] == type->params[0] && params[1] == type->params[1])
		return type;
	copy = ARENA_NEW(arena, struct cel_type);
	*copy = *type;
	copy->params[0] = params[0];
	copy->params[1] = params[1];
	return copy;
}

const struct cel_type *
unify_substitute(struct unifier *u, const struct cel_type *type, bool to_dyn)
{
	const struct cel_type *params[CEL_TYPE_PARAMS] = {0};

	while (bound(u, type))
		type = bound(u, type);
	if (type->kind == CEL_PARAM)
		return to_dyn ? cel_type_of_kind(CEL_DYN) : type;
	for (int i = 0; i < CEL_TYPE_PARAMS; i++)
		if (type->params[i])
			params[i] =
				unify_substitute(u, type->params[i], to_dyn);
	return with_params(u->arena, type, params);
}

static const struct cel_type *variable_named(struct instance *instance,
					     const char *name)
{
	unsigned i = 0;

	while (i < instance->n && !text_eq(instance->names[i], name))
		i++;
	if (i == CEL_ARGS)
		BUG("%u type parameters", i);
	if (i == instance->n) {
		instance->names[i] = name;
		instance->variables[i] = unify_variable(instance->unifier);
		instance->n++;
	}
	return instance->variables[i];
}

const struct cel_type *unify_instantiate(struct instance *instance,
					 const struct cel_type *type)
{
	const struct cel_type *params[CEL_TYPE_PARAMS] = {0};

	if (type->kind == CEL_PARAM)
		return variable_named(instance, type->name);
	for (int i = 0; i < CEL_TYPE_PARAMS; i++)
		if (type->params[i])
			params[i] =
				unify_instantiate(instance, type->params[i]);
	return with_params(instance->unifier->arena, type, params);
}

/* --- assignment ---------------------------------------------------------- */

/* True if the type contains the variable, in which case the variable must not
 * be bound to it. */
static bool occurs(const struct unifier *u, const struct cel_type *variable,
		   const struct cel_type *type)
{
	while (type != variable && bound(u, type))
		type = bound(u, type);
	if (type == variable)
		return true;
	for (int i = 0; i < CEL_TYPE_PARAMS; i++)
		if (type->params[i] && occurs(u, variable, type->params[i]))
			return true;
	return false;
}

static bool less_specific(const struct cel_type *a, const struct cel_type *b)
{
	if (a->kind == CEL_DYN || a->kind == CEL_PARAM)
		return true;
	if (b->kind == CEL_DYN || b->kind == CEL_PARAM || a->kind != b->kind)
		return false;
	if (a->kind == CEL_TYPE)
		return true;
	if (!text_eq(a->name, b->name))
		return false;
	for (int i = 0; i < CEL_TYPE_PARAMS && a->params[i]; i++)
		if (!b->params[i] || !less_specific(a->params[i], b->params[i]))
			return false;
	return true;
}

const struct cel_type *unify_general(const struct cel_type *a,
				     const struct cel_type *b)
{
	return less_specific(a, b) ? a : b;
}

/* True if the variable can have this type. Sets *has if it is bound already. */
static bool variable_takes(struct unifier *u, const struct cel_type *variable,
			   const struct cel_type *type, bool *has)
{
	const struct cel_type *old = bound(u, variable), *general;

	*has = true;
	if (variable == type || (old && cel_type_same(old, type)))
		return true;
	if (old) {
		if (!assignable(u, type, old))
			return false;
		general = unify_general(type, old);
		if (!occurs(u, variable, general))
			bind(u, variable, general);
		return true;
	}
	*has = false;
	if (occurs(u, variable, type))
		return false;
	bind(u, variable, type);
	return true;
}

static bool is_wild(const struct cel_type *type)
{
	return type->kind == CEL_DYN || type->kind == CEL_ERROR;
}

/* True for types that have the value null. */
static bool takes_null(const struct cel_type *type)
{
	switch (type->kind) {
	case CEL_NULL:
	case CEL_OPAQUE:
	case CEL_OPTIONAL:
	case CEL_OBJECT:
	case CEL_DURATION:
	case CEL_TIMESTAMP:
		return true;
	default:
		return false;
	}
}

static bool params_assignable(struct unifier *u, const struct cel_type *from,
			      const struct cel_type *to)
{
	for (int i = 0; i < CEL_TYPE_PARAMS; i++) {
		if (!from->params[i] != !to->params[i])
			return false;
		if (from->params[i] &&
		    !assignable(u, from->params[i], to->params[i]))
			return false;
	}
	return true;
}

static bool assignable(struct unifier *u, const struct cel_type *from,
		       const struct cel_type *to)
{
	bool has;

	if (from == to)
		return true;
	if (to->kind == CEL_PARAM) {
		if (variable_takes(u, to, from, &has))
			return true;
		if (has)
			return false;
	}
	if (from->kind == CEL_PARAM)
		return variable_takes(u, from, to, &has);
	if (is_wild(from) || is_wild(to))
		return true;
	if (from->kind == CEL_NULL)
		return takes_null(to);
	if (to->kind == CEL_NULL)
		return takes_null(from);
	if (from->kind != to->kind)
		return false;
	return from->kind == CEL_TYPE || (text_eq(from->name, to->name) &&
					  params_assignable(u, from, to));
}

bool unify_all_assignable(struct unifier *u, const struct cel_type *const *from,
			  const struct cel_type *const *to, size_t n)
{
	size_t before = u->n;

	for (size_t i = 0; i < n; i++) {
		if (assignable(u, from[i], to[i]))
			continue;
		for (; u->n > before; u->n--)
			u->bound[u->bindings[u->n - 1].variable] =
				u->bindings[u->n - 1].before;
		return false;
	}
	return true;
}

bool unify_assignable(struct unifier *u, const struct cel_type *from,
		      const struct cel_type *to)
{
	return unify_all_assignable(u, &from, &to, 1);
}
