/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources that a program must build into manifests: finds and builds them, and
 * maps places in the results to the sources. All of it lives in the arena until
 * render_release(); except for the builds, only one thread uses it.
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

/* A file, or a text inside of one, with its objects. */
struct render_text {
	const char *path; /* absolute; with "#" and a number for a text inside
			     of the file */
	struct source source;
	size_t bytes;  /* of the file */
	bool template; /* read without its actions */
	/* Objects, including single items of Lists, with their documents. */
	struct render_item {
		const struct node *root;
		unsigned document;
	} * items;
	size_t n, size;
	/* For a text inside of another one: its scalar there. */
	struct render_text *host;
	const struct node *host_node;
	const struct render_item *host_item;
};

/* An object of a rendered text. */
struct render_object {
	uint32_t start;	    /* of its document */
	const char *origin; /* absolute path of its source file, or NULL */
	bool generated;	    /* by that kustomization */
	/* Absolute paths of kustomizations that changed it, the last one
	 * first. */
	struct list layers;
};

/* Values for a chart. */
struct render_values {
	struct render_text *text;
	const struct render_item *item;
	const struct node *root;
	bool given; /* in addition to the chart's own */
};

struct render_root {
	const char *folder, *file; /* absolute: of its kustomization */
	const char *real;	   /* the folder without symbolic links */
	/* Absolute paths of its sources: kustomizations, manifests, patches. */
	struct list sources;
	/* Sources that it lists as resources. */
	struct list resources;
	/* For a chart: its folder, and its values, the strongest first; NULL
	 * for a kustomization. */
	const char *chart;
	struct render_values *values;
	size_t nvalues, values_size;
	/* The installer of a chart: the text that contains its object (a file,
	 * or built), the object, names, arguments; or NULL. */
	struct render_text *installer;
	const struct render_item *item;
	const char *release, *namespace;
	struct list sets;
	const char *refused; /* why its sources are checked instead, or NULL */
	bool apart;	     /* another root shares its resources */
	struct buf text;
	struct render_object *objects; /* in the order of the text */
	size_t nobjects, objects_size;
	struct render_text *rendered; /* the text, read */
	uint32_t index;		      /* the caller's */
};

struct render_tool {
	const char *path;    /* NULL: there is none */
	const char *name;    /* command as typed: "kubectl kustomize" */
	const char *version; /* "" if it is unknown */
};

struct render {
	struct arena arena;
	const char *cwd;
	bool network; /* may be used */
	/* The text will be applied: the user's program prints it, in
	 * this environment, without origins. */
	bool applied;
	const char *border; /* real: no path leads out of it; NULL: the
			       repository of each root */
	struct render_tool kustomize, helm;
	struct render_root *roots; /* sorted by folder */
	size_t nroots, roots_size;
	size_t nbuilt; /* earlier ones are built, or rejected */
	struct render_text **texts;
	size_t ntexts, texts_size;
};

void render_release(struct render *r);

/* roots.c: adds a root, whose address lives until the next one is added. */
struct render_root *render_add(struct render *r, const char *folder,
			       const char *file);
/* Adds the kustomization of this folder, with its sources. */
struct render_root *render_add_kustomization(struct render *r,
					     const char *folder);

/* roots.c: finds kustomizations of the list to which no other one refers, and
 * their sources. */
void render_find(struct render *r, struct kustomize *k);
/* releases.c: finds charts that objects of this file install. */
void render_find_releases(struct render *r, const char *path);
/* Finds charts that rendered objects install. */
void render_find_built_releases(struct render *r);
/* charts.c: finds charts of the list that are not inside of another one, and
 * that no object installs. */
void render_find_charts(struct render *r, const struct kustomize *k);
/* Uses the chart in this folder to build the root. */
void render_use_chart(struct render *r, struct render_root *root,
		      const char *folder);
/* tool.c: looks for the programs that the roots need. */
void render_find_tools(struct render *r);
/* outside.c: rejects the root if it would read files outside of its
 * repository. */
void render_refuse_outside(struct render *r, struct render_root *root);
/* build.c: builds all roots that are neither built nor rejected, in several
 * threads. */
void render_build(struct render *r, struct thread_pool *thread_pool);
/* origin.c: removes the annotations from a built text, and notes their content;
 * folder is the one to which their paths are relative. */
void render_take_origins(struct render *r, struct render_root *root,
			 const struct buf *built, const char *folder);
/* origin.c: notes the templates of a chart's objects. */
void render_take_templates(struct render *r, struct render_root *root,
			   const struct buf *built);

/* texts.c: returns an absolute path; a relative path is relative to folder. */
const char *render_path(struct render *r, const char *folder, const char *path);
/* Returns the text of a file, read once. NULL: it cannot be read. */
struct render_text *render_text_of(struct render *r, const char *path);
/* Makes a text that is in memory. */
struct render_text *render_text_make(struct render *r, const char *path,
				     const char *text, size_t len);
/* Returns the text inside of a string of another text. */
struct render_text *render_text_within(struct render *r,
				       struct render_text *host,
				       const struct render_item *item,
				       const struct node *node);

/* template.c: returns the text of a template without its actions. */
struct render_text *render_template_of(struct render *r, const char *path);
/* True if a template action produces this text, or a part of it. */
bool render_is_marked(const char *text);

/* place.c: returns the build result, read once; and its object at an offset, or
 * NULL. */
struct render_text *render_built(struct render *r, struct render_root *root);
const struct render_object *render_object_at(const struct render_root *root,
					     uint32_t offset);

/* A place in one of the source files. */
struct render_place {
	struct render_text *text; /* of a file; NULL: unknown */
	const struct render_item *item;
	const struct node *node;  /* NULL: only the file is known */
	bool key;		  /* the key of the node, not its value */
	const struct node *inner; /* of a text inside of node, or NULL */
	unsigned depth;		  /* number of steps of the path that exist */
	bool whole;		  /* all of them */
};

/* place.c: sets the place of a node of a text; a text inside of another one is
 * shown in that one. */
void render_place_in(struct render_place *place, struct render_text *text,
		     const struct render_item *item, const struct node *node);
/* Finds the source of bytes of a rendered text. */
struct render_place render_place_of(struct render *r, struct render_root *root,
				    const struct place *place);

/* A search for the counterpart of a rendered node in a template. below, which
 * is the node or a parent of it, has one at this depth. */
struct render_want {
	const struct node *node, *below;
	unsigned depth;
};
/* template.c: searches the values that the template inserts at its own
 * place. */
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
/* want is below from, whose counterpart is at; beyond RENDER_DEPTH steps only
 * the first ones count. */
struct render_match render_match(const struct node *want,
				 const struct node *from,
				 const struct node *at);
/* True if both are list items for the same thing. */
bool render_same_item(const struct node *a, const struct node *b);
/* True if this may be the object before it was changed. */
bool render_same_object(const struct node *rendered, const struct node *source);

/* fields.c: fields of a kustomization that set single values: images, replicas,
 * namespace, labels. NULL if none does. */
const struct node *render_field_of(const struct node *kustomization,
				   const struct node *object,
				   const struct node *want);

#endif
