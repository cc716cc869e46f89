/* SPDX-License-Identifier: Apache-2.0 */
/* Environments: variables, and the signatures of all functions. */
#include <pthread.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/text.h"
#include "rules/cel/check/check.h"

/* --- functions: the same for all environments ---------------------------- */

/* A function that was used. */
struct function {
	const char *name;
	struct cel_signature *signatures;
	size_t n;
	struct function *next;
};

static struct function_index {
	struct arena arena;
	struct function *buckets[64];
	const char **names; /* sorted, without operators; set on first use */
	size_t nnames;
	const struct cel_type **types; /* names of types */
	size_t ntypes;		       /* 0 until they are read */
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

/* Returns the bits of enum cel_looks for a function. */
static unsigned looks_of(const char *name)
{
	static const struct {
		const char *names;
		unsigned looks;
	} table[] = {
		{"size first last optional.ofNonZeroValue",
		 LOOKS_AT_NONE | KNOWN_IF_COMPLETE},
		{"dyn type hasValue value optional.of",
		 LOOKS_AT_NONE | KNOWN_ALWAYS},
		{"format distinct indexOf lastIndexOf sort isSorted min max"
		 " join flatten",
		 LOOKS_WITHIN},
		{"@in", LOOKS_UP},
		{"duration timestamp", LOOKS_AT_TIME},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (text_lists(table[i].names, name))
			return table[i].looks;
	return text_starts(name, "sets.") ? LOOKS_WITHIN : 0;
}

static struct cel_signature read_signature(struct arena *arena,
					   const struct cel_overload *overload,
					   unsigned looks)
{
	struct cel_signature s = {.overload = overload, .looks = looks};
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

static struct function **function_at(const char *name)
{
	uint64_t hash = text_hash(name, strlen(name), 0);
	struct function **f =
		&functions.buckets[hash % ARRAY_SIZE(functions.buckets)];

	while (*f && !text_eq((*f)->name, name))
		f = &(*f)->next;
	return f;
}

/* Reads the overloads of a function; returns NULL for an unknown name. */
static struct function *read_function(struct arena *arena, const char *name)
{
	unsigned looks = looks_of(name);
	struct function read = {0}, *f;
	size_t size = 0;

	for (size_t i = 0; cel_libraries[i]; i++)
		for (const struct cel_overload *o = cel_libraries[i]; o->name;
		     o++)
			if (*o->name == *name && text_eq(o->name, name)) {
				read.name = o->name;
				*VEC_PUSH(arena, read.signatures, read.n,
					  size) =
					read_signature(arena, o, looks);
			}
	if (!read.n)
		return NULL;
	f = ARENA_NEW(arena, struct function);
	*f = read;
	return f;
}

static void read_names(struct function_index *index)
{
	struct arena *arena = &index->arena;
	const char **names = NULL;
	size_t n = 0, size = 0;

	for (size_t i = 0; cel_libraries[i]; i++)
		for (const struct cel_overload *o = cel_libraries[i]; o->name;
		     o++)
			if (!strchr("!-_@", *o->name))
				*VEC_PUSH(arena, names, n, size) = o->name;
	texts_sort(names, n);
	index->names = names;
	index->nnames = n;
}

/*
 * Reads standard types, optionals, and types that Kubernetes' libraries declare
 * with cel.Types() (apiserver pkg/cel/library/ip.go, cidr.go).
 */
static void read_types(struct function_index *index)
{
	static const char *const texts[] = {
		"bool", "bytes", "double",   "duration", "int",
		"list", "map",	 "null",     "string",	 "timestamp",
		"type", "uint",	 "optional", "net.IP",	 "net.CIDR",
	};

	const size_t n = ARRAY_SIZE(texts);

	index->types = ARENA_ARRAY(&index->arena, const struct cel_type *, n);
	for (size_t i = 0; i < n; i++) {
		const char *text = texts[i];

		index->types[i] = cel_type_parse(&index->arena, &text);
	}
	index->ntypes = n;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Unlocks the index, and releases it if it was not completed. A complete index
 * stays, because programs refer to its signatures. */
static void drop_functions(void *index)
{
	struct function_index *torn = index;

	if (!torn->ntypes) {
		arena_release(&torn->arena);
		*torn = (struct function_index){0};
	}
	pthread_mutex_unlock(&lock);
}

/* pthread_once() is not used, because its function must not be left by a jump
 * when memory runs out. */
static void need_types(void)
{
	struct escape_guard guard;

	pthread_mutex_lock(&lock);
	escape_guard(&guard, drop_functions, &functions);
	if (!functions.ntypes)
		read_types(&functions);
	escape_unguard(&guard);
	pthread_mutex_unlock(&lock);
}

const struct cel_signature *cel_env_overloads(const char *name, size_t *n)
{
	struct function **f;
	struct escape_guard guard;

	pthread_mutex_lock(&lock);
	escape_guard(&guard, drop_functions, &functions);
	f = function_at(name);
	if (!*f)
		*f = read_function(&functions.arena, name);
	escape_unguard(&guard);
	pthread_mutex_unlock(&lock);
	*n = *f ? (*f)->n : 0;
	return *f ? (*f)->signatures : NULL;
}

const char *cel_env_nearest_function(const char *name)
{
	struct escape_guard guard;

	pthread_mutex_lock(&lock);
	escape_guard(&guard, drop_functions, &functions);
	if (!functions.names)
		read_names(&functions);
	escape_unguard(&guard);
	pthread_mutex_unlock(&lock);
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

	need_types();
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
