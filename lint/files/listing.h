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
	size_t name; /* offset of the name in listings.names */
	bool folder;
	uint16_t flags; /* bits of enum file_flags, for a file */
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
	const char *chart;	   /* name of the chart's file, or NULL */
	bool git, gitignore, policy, misnamed;
};

void listings_init(struct listings *listings);
void listings_release(struct listings *listings);
const char *listings_name(const struct listings *listings, size_t i);
/* Opens a folder inside of another one, without following links. Returns -1 and
 * sets errno if that fails. */
int listing_open(int at, const char *name);
/* Reads the entries of the folder fd. Returns 0 or an errno value. The listing
 * must be dropped even after an error. */
int listing_read(struct listings *listings, int fd, struct listing *listing);
void listing_drop(struct listings *listings, const struct listing *listing);

#endif
