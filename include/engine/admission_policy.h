/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster's own policies, evaluated as the API server evaluates them:
 * ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding and parameter
 * objects (k8s.io/apiserver 0.36 pkg/admission/plugin/policy), and the
 * validation rules of CustomResourceDefinitions. A file counts as a CREATE, a
 * review as its own operation.
 *
 * A finished set is immutable and may be used by several threads.
 */
#ifndef ENGINE_ADMISSION_POLICY_H
#define ENGINE_ADMISSION_POLICY_H

#include "doc/load.h"
#include "engine/rule.h"

struct admission_policies;

struct admission_policies *admission_policies_new(void);
/* set may be NULL */
void admission_policies_free(struct admission_policies *set);

/* A problem or note about a policy file. The texts live as long as the set. */
struct admission_remark {
	const char *file;
	unsigned line, column;
	const char *text;
};

/* Receives problems and notes; each function may be NULL. */
struct admission_listener {
	void (*problem)(void *context, const struct admission_remark *remark);
	void (*note)(void *context, const struct admission_remark *remark);
	void *context;
};

/*
 * Adds the documents of a file: policies, bindings, definitions, namespaces,
 * and any other object, which may be a parameter. The text is copied.
 */
void admission_policies_add(struct admission_policies *set, const char *name,
			    const char *text, size_t len,
			    const struct admission_listener *listener);
/*
 * Like admission_policies_add(), for one parsed document. The document and its
 * source must live as long as the set.
 */
void admission_policies_add_document(struct admission_policies *set,
				     struct source *source,
				     const struct doc *doc);
/* Makes admission_policies_finish() report, as a problem, each object that no
 * policy can use as a parameter. */
void admission_policies_be_strict(struct admission_policies *set);
/*
 * Adds the policies of a snapshot: the JSON of a List of objects that
 * admission_save*() wrote, with a member `unread`, a list of {group, kind,
 * reason}. In a snapshot, a policy without a binding is not effective, and one
 * that does not compile is not checked.
 */
void admission_policies_add_saved(struct admission_policies *set,
				  const char *name, const char *list,
				  const struct admission_listener *listener);
/* Adds only the Namespaces of an input file. */
void admission_policies_add_namespaces(struct admission_policies *set,
				       const char *name, const char *text,
				       size_t len);
/* Adds only the MutatingAdmissionPolicies and their bindings of an input
 * file. */
void admission_policies_add_mutations(struct admission_policies *set,
				      const char *name, const char *text,
				      size_t len);
/* True if a result may depend on the labels or other fields of a namespace. */
bool admission_policies_want_namespaces(const struct admission_policies *set);
/* Compiles and binds all policies; call it after the last file. Returns the
 * number of problems found so far. */
size_t admission_policies_finish(struct admission_policies *set,
				 const struct admission_listener *listener);

struct admission_result {
	/* rejected by a rule of a CustomResourceDefinition, not of a policy */
	bool definition;
	enum severity severity;
	const char *policy, *binding, *expression, *message;
	/* The author's nodes that decide the result, the most important first;
	 * none if it concerns the object as a whole. */
	const struct node *const *nodes;
	size_t nnodes;
};

struct admission_request {
	const struct object *object;
	const struct cluster *cluster; /* may be NULL */
	/* Namespaces in addition to those of the set, or NULL. */
	const struct admission_policies *namespaces;
	/* A review's request and the root of its old object (NULL if there is
	 * none or it is unknown); both NULL for an object in a file. */
	const struct node *review, *old_object;
	bool old_unknown;
	/* The requesting user, NULL if unknown. groups ends with NULL. */
	const char *user;
	const char *const *groups;
	/* evaluate policies, evaluate definitions */
	bool policies, definitions;
	struct arena *arena; /* holds results until the next call */
	void (*found)(void *context, const struct admission_result *result);
	/* Called for each check that cannot be made because one of its inputs
	 * is unknown. */
	void (*not_run)(void *context, bool definition, const char *reason);
	void *context;
};

void admission_policies_judge(const struct admission_policies *set,
			      const struct admission_request *request);

/*
 * Returns the fields that MutatingAdmissionPolicies may set in the request's
 * object or, if pod is not NULL, in the pod that a controller makes from pod.
 * The fields are a tree of unknown values; NULL if there are none. Reads only
 * the object, cluster, namespaces and arena of the request.
 */
const struct node *
admission_policies_touched(const struct admission_policies *set,
			   const struct admission_request *request,
			   const struct pod *pod);

/* --- for snapshots (save.c) ----------------------------------------------- */

/* Appends the fields of a policy, a binding or a parameter that a snapshot
 * keeps, as JSON. */
void admission_save(const char *api_version, const char *kind,
		    const struct node *root, struct buf *out);
/* Appends a definition, with or without its schemas. left_out is the reason for
 * omitting them (NULL: they are not needed). */
void admission_save_definition(const struct node *root, bool schemas,
			       const char *left_out, struct buf *out);
/* True if the set, which may be NULL, has a definition of the kind. */
bool admission_policies_define(const struct admission_policies *set,
			       const char *group, const char *kind);
/* True if a schema of a served version has this key. */
bool admission_definition_has(const struct node *root, const char *key);

#endif
