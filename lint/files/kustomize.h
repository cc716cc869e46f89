/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a kustomization lists as patches are fragments: parts of objects
 * in other files. Kustomizations met while walking, and those in and above the
 * paths that were named, are read for such lists.
 */
#ifndef LINT_KUSTOMIZE_H
#define LINT_KUSTOMIZE_H

#include <stdbool.h>

#include "base/arena.h"
#include "files.h"
#include "input.h"

struct kustomize {
	struct arena arena;
	const char *cwd;
	struct buf input;
	/* Absolute paths of listed files and of component folders. */
	const char **marks;
	size_t n, size;
	/* ... of what a kustomization with patches or components lists. */
	const char **bases;
	size_t nbases, bases_size;
	const char **seen; /* folders that were looked at */
	size_t nseen, seen_size;
};

void kustomize_init(struct kustomize *k, const char *cwd);
void kustomize_release(struct kustomize *k);
/* The same name, constant, when a kustomization is called so; or NULL. */
const char *kustomize_name(const char *name);
/* Read the kustomization called name in the absolute folder. */
void kustomize_read(struct kustomize *k, int dirfd, const char *name,
		    const char *folder);
/* Look for kustomizations in the absolute folder and some levels above. */
void kustomize_look_above(struct kustomize *k, const char *folder);
/* Marks of src move to dst. */
void kustomize_join(struct kustomize *dst, struct kustomize *src);
/* Set the flags of listed files; the list is sorted. */
void kustomize_mark(struct kustomize *k, struct files *files);

#endif
