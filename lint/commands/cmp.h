/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of `gpugate cmp`: the parameters that Argo CD passes to its plugin, and
 * the texts to apply.
 */
#ifndef LINT_CMP_H
#define LINT_CMP_H

#include "base/buf.h"
#include "cli/words.h"
#include "lint/run/filter.h"

enum cmp_kind { CMP_NOTHING, CMP_KUSTOMIZE, CMP_HELM, CMP_PLAIN };

/* Sources: docs/operator-manual/config-management-plugins.md and
 * docs/user-guide/build-environment.md of Argo CD. */
struct cmp {
	struct arena arena;
	const char *folder; /* of the application, absolute, without links */
	const char *root;   /* of the repository, absolute, without links */
	/* Parameters of the Application. */
	const char *render;	 /* NULL: decided by the files in the folder */
	const char *release;	 /* Helm's; NULL: the application's name */
	struct list values;	 /* files, absolute */
	struct list assignments; /* key=value, as for `helm --set` */
	bool recurse;		 /* plain manifests: into folders */
	bool discovers;		 /* only detect how to render */
};

/* cmp_render.c: returns the kind of the folder. */
enum cmp_kind cmp_discover(const struct cmp *cmp);
/* Returns the absolute path without links, in the arena; NULL after a message
 * if the file is missing or outside the repository. */
const char *cmp_inside(struct cmp *cmp, const char *path);
/*
 * Adds the manifests to apply to the filter. Returns 0, or 2 after a message.
 */
int cmp_render(struct cmp *cmp, struct filter *filter);

#endif
