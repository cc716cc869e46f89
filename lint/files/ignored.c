/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The count goes down the tree as it is sorted, so that it is the same
 * wherever the budget ends it.
 */
#include "ignored.h"

#include <unistd.h>

static void look_below(struct listings *listings, int fd, uint32_t budget,
		       struct ignored_count *count)
{
	struct listing listing;
	size_t end;

	if (listing_read(listings, fd, &listing))
		listing_drop(listings, &listing);
	end = listings->n;
	for (size_t i = listing.from; i < end && count->looked_at < budget;
	     i++) {
		int child;

		count->looked_at++;
		if (!listings->entries[i].folder) {
			count->manifests++;
			continue;
		}
		child = listing_open(fd, listings_name(listings, i));
		if (child >= 0)
			look_below(listings, child, budget, count);
	}
	listing_drop(listings, &listing);
	close(fd);
}

struct ignored_count ignored_count(struct listings *listings, int fd,
				   uint32_t budget)
{
	struct ignored_count count = {0, 0};

	look_below(listings, fd, budget, &count);
	return count;
}
