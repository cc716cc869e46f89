/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a kustomization lists as patches are fragments: parts of objects
 * in other files. Kustomizations found by the walk, and those in and above the
 * named paths, are read for such lists.
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
	/* Absolute paths of files listed as patches, and of component
	 * folders. */
	const char **marks;
	size_t n, size;
	/* Absolute paths of files and folders that are listed as resources by
	 * kustomizations with patches, components or vars. */
	const char **bases;
	size_t nbases, bases_size;
	const char **seen; /* folders that were read */
	size_t nseen, seen_size;
	/* Kustomizations and charts that a walk found, in any order. */
	struct renderable {
		const char *folder; /* absolute */
		const char *name;   /* name of the file, a constant */
	} * met;
	size_t nmet, met_size;
};

void kustomize_init(struct kustomize *k, const char *cwd);
void kustomize_release(struct kustomize *k);
/* Returns the name as a constant if a kustomization may have it, or NULL. */
const char *kustomize_name(const char *name);
/* Returns "Chart.yaml" if a file with this name makes its folder a chart, or
 * NULL. */
const char *chart_name(const char *name);
/* Adds a file that a walk found, whose name was returned by one of these
 * functions. */
void kustomize_meet(struct kustomize *k, const char *folder, const char *name);
/*
 * True if this absolute path belongs to a base that some kustomization patches.
 */
bool kustomize_patches(const struct kustomize *k, const char *path);
/* Reads the kustomization with this name in the absolute folder. */
void kustomize_read(struct kustomize *k, int dirfd, const char *name,
		    const char *folder);
/* Reads kustomizations in the absolute folder and in a few folders above it, up
 * to the root of its repository. */
void kustomize_look_above(struct kustomize *k, const char *folder);
/* Moves the paths and files that src has found to dst. */
void kustomize_join(struct kustomize *dst, struct kustomize *src);
/* Sets the flags of listed files and folders; the list must be sorted. */
void kustomize_mark(struct kustomize *k, struct files *files);

#endif
