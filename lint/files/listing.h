/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of a folder: folders and manifests, sorted as if folders ended in
 * '/', which is byte order of whole paths. Listings are on a stack, so that a
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

/* One of them; its entries are [from, listings.n) when it is the last. */
struct listing {
	size_t from, names;
	const char *kustomization; /* one of the fixed names, or NULL */
	const char *chart;	   /* the same */
	bool git, gitignore, policy;
};

void listings_init(struct listings *listings);
void listings_release(struct listings *listings);
const char *listings_name(const struct listings *listings, size_t i);
/* A folder in another one, no link to one; -1 and errno. */
int listing_open(int at, const char *name);
/* The entries of fd; 0, or errno. To be dropped in any case. */
int listing_read(struct listings *listings, int fd, struct listing *listing);
void listing_drop(struct listings *listings, const struct listing *listing);

#endif
