/* SPDX-License-Identifier: Apache-2.0 */
/* Environments: variables, and the signatures of all functions. */
#include <pthread.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/text.h"
#include "base/vec.h"
#include "rules/cel/check/check.h"

/* --- functions: the same for all environments ---------------------------- */

enum { BUCKETS = 256 }; /* a power of two */

struct named_overload {
	const struct cel_overload *overload;
	struct named_overload *next;
};

/* The overloads of a function. Their signatures are parsed on first use. */
struct function {
	const char *name;
	struct named_overload *overloads, **end;
	size_t n;
	const struct cel_signature *signatures;
	struct function *next;
};

static struct function_index {
	struct arena arena;
	struct function *buckets[BUCKETS];
	size_t nfunctions;
	const char **names; /* sorted, without operators; set on first use */
	size_t nnames;
	const struct cel_type **types; /* names of types */
	size_t ntypes;		       /* 0 until the index is built */
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

static struct function **function_at(const char *name)
{
	uint64_t hash = text_hash(name, strlen(name), 0);
	struct function **f = &functions.buckets[hash & (BUCKETS - 1)];

	while (*f && !text_eq((*f)->name, name))
		f = &(*f)->next;
	return f;
}

static void add_overload(struct arena *arena,
			 const struct cel_overload *overload)
{
	struct function **at = function_at(overload->name), *f = *at;
	struct named_overload *named = ARENA_NEW(arena, struct named_overload);

	if (!f) {
		f = *at = ARENA_NEW(arena, struct function);
		f->name = overload->name;
		f->end = &f->overloads;
		functions.nfunctions++;
	}
	named->overload = overload;
	*f->end = named;
	f->end = &named->next;
	f->n++;
}

static void read_libraries(struct arena *arena)
{
	for (size_t i = 0; cel_libraries[i]; i++)
		for (const struct cel_overload *o = cel_libraries[i]; o->name;
		     o++)
			add_overload(arena, o);
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

static void read_signatures(struct arena *arena, struct function *f)
{
	struct cel_signature *all =
		ARENA_ARRAY(arena, struct cel_signature, f->n);
	unsigned looks = looks_of(f->name);
	size_t n = 0;

	for (const struct named_overload *o = f->overloads; o; o = o->next) {
		all[n] = read_signature(arena, o->overload);
		all[n++].looks = looks;
	}
	f->signatures = all;
}

static void read_names(struct function_index *index)
{
	const char **names =
		ARENA_ARRAY(&index->arena, const char *, index->nfunctions);

	index->nnames = 0;
	for (size_t i = 0; i < BUCKETS; i++)
		for (const struct function *f = index->buckets[i]; f;
		     f = f->next)
			if (!strchr("!-_@", *f->name))
				names[index->nnames++] = f->name;
	texts_sort(names, index->nnames);
	index->names = names;
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

static void build_index(struct function_index *index)
{
	read_libraries(&index->arena);
	read_types(index);
}

/* Builds the index of functions once. pthread_once() is not used, because its
 * function must not be left by a jump when memory runs out. */
static void need_functions(void)
{
	struct escape_guard guard;

	pthread_mutex_lock(&lock);
	escape_guard(&guard, drop_functions, &functions);
	if (!functions.ntypes)
		build_index(&functions);
	escape_unguard(&guard);
	pthread_mutex_unlock(&lock);
}

const struct cel_signature *cel_env_overloads(const char *name, size_t *n)
{
	struct function *f = *function_at(name);
	struct escape_guard guard;

	*n = 0;
	if (!f)
		return NULL;
	*n = f->n;
	pthread_mutex_lock(&lock);
	escape_guard(&guard, drop_functions, &functions);
	if (!f->signatures)
		read_signatures(&functions.arena, f);
	escape_unguard(&guard);
	pthread_mutex_unlock(&lock);
	return f->signatures;
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
