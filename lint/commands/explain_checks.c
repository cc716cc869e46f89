/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the checks of a rule about objects that an operator rejects.
 */
#include "explain_checks.h"

/* Adds the fixed words of a message in CEL, with … for its values. */
static void add_words(struct buf *out, const char *message)
{
	bool literal = false, gap = false;

	for (; *message; message++) {
		if (*message == '\'') {
			literal = !literal;
			continue;
		}
		gap |= !literal;
		if (!literal)
			continue;
		if (gap && out->len)
			buf_adds(out, "…");
		gap = false;
		buf_addc(out, *message);
	}
}

static void add_check(struct buf *text, const struct rejections *of,
		      const struct rejection *one)
{
	add_words(text, one->message);
	if (one->since)
		buf_addf(text, " (%s and later)", one->since);
	else if (of->versions)
		buf_addf(text, " (%s)", of->versions);
	if (one->gate)
		buf_addf(text, ", unless the feature gate %s is on", one->gate);
}

void explain_checks(struct buf *out, const struct rule *rule,
		    void (*add)(struct buf *out, const char *id,
				const char *text))
{
	const struct rejections *of = rule->rejections;
	struct buf text;

	for (size_t i = 0; of && of->items[i].id; i++) {
		buf_init(&text);
		add_check(&text, of, &of->items[i]);
		add(out, of->items[i].id, text.data);
		buf_release(&text);
	}
}

json_t *explain_checks_json(const struct rule *rule)
{
	const struct rejections *of = rule->rejections;
	json_t *checks = json_array();
	struct buf text;

	for (size_t i = 0; of && of->items[i].id; i++) {
		json_t *one = json_object();

		buf_init(&text);
		add_check(&text, of, &of->items[i]);
		json_object_set_new(one, "id", json_string(of->items[i].id));
		json_object_set_new(one, "rejects", json_string(text.data));
		json_array_append_new(checks, one);
		buf_release(&text);
	}
	return checks;
}
