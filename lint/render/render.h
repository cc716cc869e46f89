/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources that become manifests only when a program builds them: which there
 * are, what they hold, what comes out of them, and where in the sources a
 * place of that is. All of it lives in the arena until render_release(); one
 * thread works on it, but for the building.
 */
#ifndef LINT_RENDER_H
#define LINT_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/thread_pool.h"
#include "cli/words.h"
#include "doc/load.h"
#include "kube/set/index.h"
#include "lint/files/kustomize.h"

/* A file, or a text within one, with the objects in it. */
struct render_text {
	const char *path; /* absolute; with "#" and a number: within it */
	struct source source;
	size_t bytes;  /* of the file */
	bool template; /* read without its actions */
	/* Objects, items of Lists one by one, with their documents. */
	struct render_item {
		const struct node *root;
		unsigned document;
	} * items;
	size_t n, size;
	/* A text within another one: its scalar there. */
	struct render_text *host;
	const struct node *host_node;
	const struct render_item *host_item;
};

/* An object of a rendered text. */
struct render_object {
	uint32_t start;	    /* of its document */
	const char *origin; /* absolute path of the file it is from, or NULL */
	bool generated;	    /* by that kustomization */
	/* Absolute paths of kustomizations that changed it, the last one
	 * first. */
	struct list layers;
};

/* Values that a chart gets. */
struct render_values {
	struct render_text *text;
	const struct render_item *item;
	const struct node *root;
	bool given; /* beside those that the chart has */
};

struct render_root {
	const char *folder, *file; /* absolute: of its kustomization */
	const char *real;	   /* the folder without symbolic links */
	/* Absolute paths of its sources: kustomizations, manifests, patches. */
	struct list sources;
	/* The sources that it lists as resources. */
	struct list resources;
	/* A chart: its folder, and the values that it gets, the strongest
	 * first; NULL: a kustomization. */
	const char *chart;
	struct render_values *values;
	size_t nvalues, values_size;
	/* The installer of a chart: its object, names, arguments; or NULL. */
	struct render_text *installer; /* in which it is; a file, or built */
	const struct render_item *item;
	const char *release, *namespace;
	struct list sets;
	const char *refused; /* why it is judged by its sources, or NULL */
	bool apart;	     /* another one has resources of it */
	struct buf text;
	struct render_object *objects; /* in the order of the text */
	size_t nobjects, objects_size;
	struct render_text *rendered; /* the text, read */
	uint32_t index;		      /* the caller's */
};

struct render_tool {
	const char *path;    /* NULL: there is none */
	const char *name;    /* as it is called: "kubectl kustomize" */
	const char *version; /* "" when it does not say */
};

struct render {
	struct arena arena;
	const char *cwd;
	bool network; /* may be used */
	struct render_tool kustomize, helm;
	struct render_root *roots; /* sorted by folder */
	size_t nroots, roots_size;
	size_t nbuilt; /* those before are built, or refused */
	struct render_text **texts;
	size_t ntexts, texts_size;
};

void render_release(struct render *r);

/* roots.c: kustomizations of the list that no other one refers to, and their
 * sources. */
void render_find(struct render *r, struct kustomize *k);
/* releases.c: charts that objects of this file install. */
void render_find_releases(struct render *r, const char *path);
/* ... that rendered objects install. */
void render_find_built_releases(struct render *r);
/* charts.c: charts of the list that are not in another one, and that no
 * object installs. */
void render_find_charts(struct render *r, const struct kustomize *k);
/* The root is built from the chart in this folder. */
void render_use_chart(struct render *r, struct render_root *root,
		      const char *folder);
/* tool.c: looks for the programs that the roots need. */
void render_find_tools(struct render *r);
/* outside.c: what the root would read is checked to be in its repository. */
void render_refuse_outside(struct render *r, struct render_root *root);
/* build.c: all that are not built yet, nor refused, in several threads. */
void render_build(struct render *r, struct thread_pool *thread_pool);
/* origin.c: take the annotations off a built text, and note what they say;
 * folder is the one that their paths are relative to. */
void render_take_origins(struct render *r, struct render_root *root,
			 const struct buf *built, const char *folder);
/* ... note which templates the objects of a chart are from. */
void render_take_templates(struct render *r, struct render_root *root,
			   const struct buf *built);

/* texts.c: an absolute path, where path is relative to folder if it is. */
const char *render_path(struct render *r, const char *folder, const char *path);
/* Returns the text of a file, read once. NULL: it cannot be read. */
struct render_text *render_text_of(struct render *r, const char *path);
/* A text that is in memory. */
struct render_text *render_text_make(struct render *r, const char *path,
				     const char *text, size_t len);
/* Returns the text that a string of another text holds. */
struct render_text *render_text_within(struct render *r,
				       struct render_text *host,
				       const struct render_item *item,
				       const struct node *node);

/* template.c: returns the text of a template without its actions. */
struct render_text *render_template_of(struct render *r, const char *path);
/* True if a template action gives this text, or a part of it. */
bool render_is_marked(const char *text);

/* place.c: returns the build result, read once; and its object at an offset, or
 * NULL. */
struct render_text *render_built(struct render *r, struct render_root *root);
const struct render_object *render_object_at(const struct render_root *root,
					     uint32_t offset);

/* A place in a file of the sources. */
struct render_place {
	struct render_text *text; /* of a file; NULL: unknown */
	const struct render_item *item;
	const struct node *node;  /* NULL: the file alone is known */
	bool key;		  /* the key of the node is meant */
	const struct node *inner; /* of a text that node holds, or NULL */
	unsigned depth;		  /* how many steps of the path are there */
	bool whole;		  /* all of them */
};

/* place.c: a node of a text; one within another text is shown in that. */
void render_place_in(struct render_place *place, struct render_text *text,
		     const struct render_item *item, const struct node *node);
/* Where bytes of a rendered text come from. */
struct render_place render_place_of(struct render *r, struct render_root *root,
				    const struct place *place);

/* A search: a rendered node, of which below, it or a parent, has a
 * counterpart in a template, so many steps down. */
struct render_want {
	const struct node *node, *below;
	unsigned depth;
};
/* template.c: in the values that the template inserts at its own place. */
bool render_value_of(struct render *r, struct render_root *root,
		     const struct render_place *own,
		     const struct render_want *want, struct render_place *out);

/* match.c: the counterpart of a rendered node in another tree of the object. */
struct render_match {
	const struct node *node; /* the deepest */
	unsigned depth;
	bool whole;
};
enum { RENDER_DEPTH = 128 };
/* want is below from, which is at; of more than RENDER_DEPTH steps the first
 * ones count. */
struct render_match render_match(const struct node *want,
				 const struct node *from,
				 const struct node *at);
/* True if both are list items for the same thing. */
bool render_same_item(const struct node *a, const struct node *b);
/* True if this may be the object before it was changed. */
bool render_same_object(const struct node *rendered, const struct node *source);

/* fields.c: fields of a kustomization that set single values: images,
 * replicas, namespace, labels. NULL: none of them. */
const struct node *render_field_of(const struct node *kustomization,
				   const struct node *object,
				   const struct node *want);

#endif
