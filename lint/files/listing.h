/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of a folder: folders and manifests, sorted as if folders ended in
 * '/', which is the byte order of whole paths. Listings form a stack, so that a
 * folder can be entered while its parent is being read.
 */
#ifndef LINT_LISTING_H
#define LINT_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct entry {
	size_t name; /* offset in listings.names */
	bool folder;
	uint16_t flags; /* enum file_flags of a file */
};

struct listings {
	struct buf names;
	struct entry *entries;
	size_t n, size;
	char *dirents;
};

/* A listing on the stack; the entries of the last one are [from,
 * listings.n). */
struct listing {
	size_t from, names;
	const char *kustomization; /* name of the kustomization file, or NULL */
	const char *chart;	   /* the same */
	bool git, gitignore, policy;
};

void listings_init(struct listings *listings);
void listings_release(struct listings *listings);
const char *listings_name(const struct listings *listings, size_t i);
/* Opens a folder in another one, without following links; -1 and errno. */
int listing_open(int at, const char *name);
/* Reads the entries of fd; 0, or errno. Must be dropped in any case. */
int listing_read(struct listings *listings, int fd, struct listing *listing);
void listing_drop(struct listings *listings, const struct listing *listing);

#endif
