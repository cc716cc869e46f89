/* SPDX-License-Identifier: Apache-2.0 */
/* Environments: variables, and the signatures of all functions. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/text.h"
#include "base/vec.h"
#include "rules/cel/check/check.h"

/* --- functions: read once, then the same for all ------------------------- */

static struct function_index {
	struct arena arena;
	struct cel_signature *signatures; /* by name, then as in the tables */
	size_t nsignatures;
	const char **names; /* each once, without operators */
	size_t nnames;
	const struct cel_type **types; /* names that denote a type */
	size_t ntypes;
} functions;

static bool is_generic(const struct cel_type *type)
{
	if (!type)
		return false;
	return type->kind == CEL_PARAM || is_generic(type->params[0]) ||
	       is_generic(type->params[1]);
}

static const struct cel_type *read_type(struct cel_signature *s,
					struct arena *arena, const char **text)
{
	const struct cel_type *type;

	*text += strspn(*text, " ");
	type = cel_type_parse(arena, text);
	s->generic |= is_generic(type);
	return type;
}

static struct cel_signature read_signature(struct arena *arena,
					   const struct cel_overload *overload)
{
	struct cel_signature s = {.overload = overload};
	const char *text = overload->signature;

	s.member = *text != '(';
	if (s.member) {
		s.args[s.n++] = cel_type_parse(arena, &text);
		if (*text++ != '.')
			BUG("signature of %s: %s", overload->name,
			    overload->signature);
	}
	if (text[1] == ')')
		text++;
	while (*text != ')') {
		if (s.n == CEL_ARGS || !*text)
			BUG("signature of %s: %s", overload->name,
			    overload->signature);
		text++;
		s.args[s.n++] = read_type(&s, arena, &text);
	}
	text++;
	s.result = read_type(&s, arena, &text);
	s.generic |= s.n && is_generic(s.args[0]);
	return s;
}

static int by_name(const void *a, const void *b)
{
	const struct cel_signature *x = a, *y = b;
	int order = strcmp(x->overload->name, y->overload->name);

	/* Equal names keep the order of the tables. */
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

static void read_libraries(struct function_index *index)
{
	size_t size = 0;
	struct cel_signature s;

	for (size_t i = 0; cel_libraries[i]; i++)
		for (const struct cel_overload *o = cel_libraries[i]; o->name;
		     o++) {
			s = read_signature(&index->arena, o);
			s.order = (unsigned)index->nsignatures;
			*VEC_PUSH(&index->arena, index->signatures,
				  index->nsignatures, size) = s;
		}
	qsort(index->signatures, index->nsignatures, sizeof(*index->signatures),
	      by_name);
}

static void read_names(struct function_index *index)
{
	size_t size = 0;

	for (size_t i = 0; i < index->nsignatures; i++) {
		const char *name = index->signatures[i].overload->name;

		if (!strchr("!-_@", *name) &&
		    (!index->nnames ||
		     !text_eq(name, index->names[index->nnames - 1])))
			*VEC_PUSH(&index->arena, index->names, index->nnames,
				  size) = name;
	}
}

/*
 * Standard types, optionals, and those that Kubernetes' libraries declare with
 * cel.Types() (apiserver pkg/cel/library/ip.go, cidr.go).
 */
static void read_types(struct function_index *index)
{
	static const char *const texts[] = {
		"bool", "bytes", "double",   "duration", "int",
		"list", "map",	 "null",     "string",	 "timestamp",
		"type", "uint",	 "optional", "net.IP",	 "net.CIDR",
	};

	const size_t n = sizeof(texts) / sizeof(*texts);

	index->types = ARENA_ARRAY(&index->arena, const struct cel_type *, n);
	for (size_t i = 0; i < n; i++) {
		const char *text = texts[i];

		index->types[i] = cel_type_parse(&index->arena, &text);
	}
	index->ntypes = n;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void drop_functions(void *index)
{
	struct function_index *torn = index;

	arena_release(&torn->arena);
	*torn = (struct function_index){0};
	pthread_mutex_unlock(&lock);
}

/* Not by pthread_once(), whose function must not be left for lack of memory. */
static void need_functions(void)
{
	struct escape_guard guard;

	pthread_mutex_lock(&lock);
	if (!functions.ntypes) {
		escape_guard(&guard, drop_functions, &functions);
		read_libraries(&functions);
		read_names(&functions);
		read_types(&functions);
		escape_unguard(&guard);
	}
	pthread_mutex_unlock(&lock);
}

static int name_order(const void *name, const void *signature)
{
	const struct cel_signature *s = signature;

	return strcmp(name, s->overload->name);
}

const struct cel_signature *cel_env_overloads(const char *name, size_t *n)
{
	const struct cel_signature *first, *end;

	*n = 0;
	first = bsearch(name, functions.signatures, functions.nsignatures,
			sizeof(*first), name_order);
	if (!first)
		return NULL;
	while (first > functions.signatures &&
	       text_eq(first[-1].overload->name, name))
		first--;
	end = functions.signatures + functions.nsignatures;
	while (first + *n < end && text_eq(first[*n].overload->name, name))
		++*n;
	return first;
}

const char *cel_env_nearest_function(const char *name)
{
	return text_nearest(name, functions.names, functions.nnames);
}

const struct cel_type *cel_env_type(const char *name)
{
	for (size_t i = 0; i < functions.ntypes; i++)
		if (text_eq(cel_type_name(functions.types[i]), name))
			return functions.types[i];
	return NULL;
}

/* --- variables ----------------------------------------------------------- */

const struct cel_env *cel_env_new(struct arena *arena,
				  const struct cel_variable *variables)
{
	struct cel_env *env = ARENA_NEW(arena, struct cel_env);

	need_functions();
	env->variables = variables;
	while (variables[env->n].name)
		env->n++;
	return env;
}

int cel_env_variable(const struct cel_env *env, const char *name)
{
	for (size_t i = 0; i < env->n; i++)
		if (text_eq(env->variables[i].name, name))
			return (int)i;
	return -1;
}
