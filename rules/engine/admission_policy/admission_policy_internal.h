/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the files of this folder. */
#ifndef RULES_ENGINE_ADMISSION_POLICY_INTERNAL_H
#define RULES_ENGINE_ADMISSION_POLICY_INTERNAL_H

#include "cel/cel.h"
#include "engine/admission_policy.h"
#include "kube/typed.h"

/* Variables of a policy's expressions, in this order. Expressions for messages
 * have no authorizer. */
enum admission_variable {
	VARIABLE_OBJECT,
	VARIABLE_OLD_OBJECT,
	VARIABLE_REQUEST,
	VARIABLE_NAMESPACE,
	VARIABLE_VARIABLES,
	VARIABLE_PARAMS,
	VARIABLE_AUTHORIZER,
	VARIABLE_RESOURCE_AUTHORIZER,
	VARIABLE_COUNT,
};

struct expression {
	const char *text;
	const struct node *node;
	const struct cel_program *program;
};

struct named_expression {
	const char *name;
	struct expression expression;
};

struct validation {
	struct expression expression;
	const char *message;		 /* may be NULL */
	struct expression *message_expr; /* may be NULL */
};

struct parameter_kind {
	/* kind is NULL if the policy has no parameters */
	const char *group, *version, *kind;
	bool namespaced;
};

/* One object from --admission-policy files. */
struct input_object {
	const struct object *object;
	/* the object as the API server would store it, set when the set is
	 * finished */
	const struct node *typed;
	struct source *source;
	bool copy; /* repeats an earlier object, see load.c */
};

struct admission_binding {
	/* NULL for a binding that is assumed because files contain none */
	const char *name;
	const struct node *spec;
	enum severity severity;
	/* parameter object of an assumed binding */
	const struct input_object *parameter;
	struct admission_binding *next;
};

struct admission_policy {
	const char *name;
	const struct input_object *input;
	const struct node *spec;
	bool fails;  /* failurePolicy is Fail */
	bool broken; /* some expression does not compile */
	struct parameter_kind parameter;
	struct named_expression *variables, *conditions, *annotations;
	size_t nvariables, nconditions, nannotations;
	struct validation *validations;
	size_t nvalidations;
	struct admission_binding *bindings;
	struct admission_policy *next;
};

/* A rule of a definition's schema, and the schema that contains it. */
struct crd_rule {
	const struct node *schema;
	const struct expression *expression;
	const char *message;
	struct expression *message_expr;
	const char *field; /* fieldPath, such as ".a.b", or NULL */
	struct crd_rule *next;
};

struct crd_version {
	const char *version;
	/* openAPIV3Schema with the fields of every object, or NULL */
	const struct node *schema;
	/* status is a subresource, which a create request cannot set */
	bool has_status;
	struct crd_rule *rules;
	struct crd_version *next;
};

struct crd {
	const char *name, *group, *kind, *plural;
	const char *left_out; /* reason why its schemas are missing, or NULL */
	bool cluster_scoped;
	const struct input_object *input;
	struct crd_version *versions;
	struct crd *next;
};

struct admission_policies {
	struct arena arena;
	struct input_object *inputs;
	size_t ninputs, inputs_size;
	struct admission_policy *policies, **last_policy;
	struct crd *definitions;
	bool wants_namespaces, strict;
	bool mutates;		   /* the set has MutatingAdmissionPolicies */
	const struct node *unread; /* kinds that could not be read for the
				      snapshot, or NULL */
	bool saved;
	size_t problems;
	/* during admission_policies_finish() */
	const struct admission_listener *listener;
};

/* --- input_object.c ------------------------------------------------------ */

/* Reports a problem at a node of an input object. */
void admission_problem(struct admission_policies *set,
		       const struct input_object *input, const struct node *at,
		       const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Like admission_problem(), at a byte of the file or of a scalar's text. */
void admission_problem_at(struct admission_policies *set,
			  const struct input_object *input, uint32_t offset,
			  const char *text);
void admission_problem_in(struct admission_policies *set,
			  const struct input_object *input,
			  const struct node *scalar, size_t offset,
			  const char *text);
void admission_note(struct admission_policies *set,
		    const struct input_object *input, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const char *admission_string(const struct node *map, const char *key);
/* Returns the reason why objects of the kind could not be read for the
 * snapshot; NULL if they were, or without a snapshot. */
const char *admission_unread(const struct admission_policies *set,
			     const char *group, const char *kind);
bool input_is(const struct input_object *input, const char *group,
	      const char *kind);
extern const char admission_group[]; /* API group of policies and bindings */

void policy_require(struct admission_policies *set,
		    const struct input_object *input, const struct node *spec);
void binding_require(struct admission_policies *set,
		     const struct input_object *input, const struct node *spec);

/* --- compile.c, bind.c, definition.c -------------------------------------- */

/* Compiles an expression; returns NULL if the node is not a string, or is
 * empty. wanted has a bit for each allowed cel_kind. */
struct expression *expression_new(struct admission_policies *set,
				  const struct input_object *input,
				  const struct cel_env *env, unsigned wanted,
				  const struct node *node);
struct admission_policy *policy_compile(struct admission_policies *set,
					const struct input_object *input);
void policies_bind(struct admission_policies *set);
void definition_add(struct admission_policies *set,
		    const struct input_object *input);
void definitions_compile(struct admission_policies *set);
const struct crd *definition_find(const struct admission_policies *set,
				  const char *group, const char *kind);
const struct crd_version *definition_version(const struct crd *definition,
					     const char *version);

/* --- definition_type.c ---------------------------------------------------- */

/* Returns the type of a schema's values; NULL if expressions cannot read
 * them. */
const struct cel_type *definition_type(struct arena *arena,
				       const struct node *schema,
				       const char *name);
/* Returns the schema of a whole object, with apiVersion, kind and metadata,
 * also in embedded objects. The rest of the tree is unchanged. */
const struct node *definition_schema(struct arena *arena,
				     const struct node *schema);

/* Adds a new map under a key. */
struct node *schema_put_map(struct arena *arena, struct node *map,
			    const char *key);
/* Adds a copy of child, unless it is NULL; its own children stay shared. */
void schema_put_shared(struct arena *arena, struct node *map,
		       const struct node *child);

/* --- match.c, request.c --------------------------------------------------- */

/* State of an evaluation that all policies share for an object. */
struct admission_case {
	const struct admission_policies *set;
	const struct admission_request *request;
	const struct object *object;
	struct arena *arena;
	const char *operation, *plural, *subresource;
	bool cluster_scoped;
	/* labels of the object's namespace (NULL: only its name is known) */
	const struct node *labels;
	bool labels_known;
	/* NULL until it is built, or if that is impossible */
	const struct node *typed;
	/* name of a policy that may change the object, or NULL */
	const char *mutation;
	const struct node *request_node, *namespace_node;
};

/* Returns whether spec.matchConstraints of a policy, or spec.matchResources of
 * a binding, match. */
enum tri resources_match(struct admission_case *a,
			 const struct node *resources);
/* True if the input is a bound MutatingAdmissionPolicy that may match. */
bool mutation_applies(struct admission_case *a,
		      const struct input_object *input);
/* Returns the name of a MutatingAdmissionPolicy that may change the object
 * first, or NULL. */
const char *mutation_of(struct admission_case *a);
/* Finds the labels of the object's namespace, if they are known. */
void admission_find_namespace(struct admission_case *a);
const struct node *admission_request_node(struct admission_case *a);
/* Returns the variable namespaceObject; NULL for a cluster-scoped object. */
const struct node *admission_namespace_node(struct admission_case *a);

/* --- judge.c, definition_judge.c ------------------------------------------ */

/* Builds the object as the API server creates it. Returns false for an unknown
 * native kind. */
bool admission_make_typed(struct admission_case *a);
void policy_judge(struct admission_case *a,
		  const struct admission_policy *policy);
void definition_judge(struct admission_case *a, const struct crd *definition);
/* Passes the result to the caller, as an info if another policy may change the
 * object first. */
void admission_tell(struct admission_case *a, struct admission_result *result);
/*
 * Finds the nodes of the author's tree that decide the result of an evaluation;
 * returns their number.
 */
size_t admission_blame(struct admission_case *a, struct cel_eval *eval,
		       const struct node **nodes, size_t max);
/* Returns the text with each run of white space replaced by one blank, and none
 * at the ends. */
const char *admission_line(struct arena *arena, const char *text, size_t len);

/* Returns the text of a messageExpression's value, without blanks around it.
 * Returns NULL if the server uses the message instead: if the value is not a
 * string, or the text is empty, has several lines or is too long. */
const char *admission_message(struct arena *arena, struct cel_value value);

enum { BLAMED = 4 };

#endif
