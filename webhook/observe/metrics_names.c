/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for label values that are not known in advance. A look-up takes no
 * lock; adding a value does, at most `limit` times. Values that are too long or
 * not UTF-8 are corrected before they are compared: if only the page corrected
 * them, two values could become one series.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "metrics_names.h"

void names_init(struct metric_labels *names, unsigned limit)
{
	names->limit = limit;
	names->key = text_key_of_process();
	pthread_mutex_init(&names->lock, NULL);
}

void names_release(struct metric_labels *names)
{
	unsigned n = atomic_load(&names->n);

	for (unsigned i = 1; i <= n; i++)
		free(atomic_load(&names->items[i]));
	pthread_mutex_destroy(&names->lock);
}

/* Returns the slot of the text, or the free slot for it. */
static size_t slot_of(struct metric_labels *names, const char *text, size_t len,
		      struct metric_label **found)
{
	size_t at = text_hash_under(names->key, text, len) & (NAME_SLOTS - 1);

	for (;; at = (at + 1) & (NAME_SLOTS - 1)) {
		struct metric_label *name = atomic_load_explicit(
			&names->slots[at], memory_order_acquire);

		*found = name;
		if (!name ||
		    (name->len == len && !memcmp(name->text, text, len)))
			return at;
	}
}

static unsigned add_name(struct metric_labels *names, const char *text,
			 size_t len)
{
	struct metric_label *name;
	size_t at = slot_of(names, text, len, &name);
	unsigned n = atomic_load(&names->n);

	if (name)
		return name->number;
	if (n >= names->limit)
		return 0;
	name = malloc(sizeof(*name) + len + 1);
	if (!name)
		return 0;
	name->number = n + 1;
	name->len = len;
	memcpy(name->text, text, len);
	name->text[len] = '\0';
	atomic_store(&names->items[n + 1], name);
	atomic_store(&names->n, n + 1);
	atomic_store_explicit(&names->slots[at], name, memory_order_release);
	return n + 1;
}

/* Copies the text, cut to NAME_BYTES bytes, as valid UTF-8. */
static size_t mend(const char *text, char *out)
{
	size_t len = strlen(text), n = 0;

	while (len) {
		size_t step = utf8_length(text, len);
		const char *from = step ? text : "\xef\xbf\xbd";
		size_t bytes = step ? step : 3;

		if (n + bytes > NAME_BYTES)
			break;
		memcpy(out + n, from, bytes);
		n += bytes;
		text += step ? step : 1;
		len -= step ? step : 1;
	}
	return n;
}

unsigned names_number(struct metric_labels *names, const char *text)
{
	size_t len;
	char mended[NAME_BYTES];
	struct metric_label *name;
	unsigned number;

	if (!text)
		text = "";
	len = strnlen(text, NAME_BYTES + 1);
	if (len > NAME_BYTES || !text_is_ascii(text, len)) {
		len = mend(text, mended);
		text = mended;
	}
	slot_of(names, text, len, &name);
	if (name)
		return name->number;
	if (atomic_load_explicit(&names->n, memory_order_relaxed) >=
	    names->limit)
		return 0;
	pthread_mutex_lock(&names->lock);
	number = add_name(names, text, len);
	pthread_mutex_unlock(&names->lock);
	return number;
}

const char *names_text(struct metric_labels *names, unsigned number)
{
	return number ? atomic_load(&names->items[number])->text : "other";
}
