/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The presets recommended, strict and all, and their pinned versions. A preset
 * is a function of a rule's fields, not a list of names, so that a new rule
 * needs no change here. The comment in engine/policy.h defines them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/finding.h"
#include "policy_internal.h"

static const char *const preset_names[] = {"recommended", "strict", "all"};
enum { PRESETS = ARRAY_SIZE(preset_names) };

static bool is_headline(const char *category)
{
	static const char *const headline[] = {"lifecycle",  "priority",
					       "quota",	     "resources",
					       "scheduling", "shm"};

	for (size_t i = 0; i < ARRAY_SIZE(headline); i++)
		if (strcmp(category, headline[i]) == 0)
			return true;
	return false;
}

/* Parses one to four digits and returns their end, or NULL for other text.
 * strtoul() alone would also accept blanks and signs. */
static const char *parse_digits(const char *text, unsigned *n)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 4)
		return NULL;
	*n = (unsigned)strtoul(text, NULL, 10);
	return text + digits;
}

int version_parse(const char *text, unsigned version[2])
{
	text = parse_digits(text, &version[0]);
	if (!text || *text != '.')
		return -1;
	text = parse_digits(text + 1, &version[1]);
	return text && !*text ? 0 : -1;
}

bool version_is_after(const unsigned a[2], const unsigned b[2])
{
	return a[0] != b[0] ? a[0] > b[0] : a[1] > b[1];
}

static bool find_preset(const char *text, size_t len, struct preset_ref *out)
{
	for (size_t i = 0; i < PRESETS; i++)
		if (strlen(preset_names[i]) == len &&
		    memcmp(preset_names[i], text, len) == 0) {
			out->name = preset_names[i];
			out->preset = (enum preset)i;
			return true;
		}
	return false;
}

bool preset_parse(const char *text, struct preset_ref *out,
		  const char **problem)
{
	size_t len = strcspn(text, "@");

	*out = (struct preset_ref){0};
	*problem = NULL;
	if (!find_preset(text, len, out))
		return false;
	if (!text[len])
		return true;
	if (version_parse(text + len + 1, out->version)) {
		*problem = "a pinned preset ends in a version such as "
			   "`recommended@1.0`";
		return false;
	}
	out->pinned = true;
	return true;
}

const char *preset_nearest(const char *text)
{
	char name[32];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "@"), text);
	return text_nearest(name, preset_names, PRESETS);
}

static bool is_newer(const struct rule *rule, const struct preset_ref *ref)
{
	unsigned version[2];

	return ref->pinned && !version_parse(rule_since(rule), version) &&
	       version_is_after(version, ref->version);
}

static struct setting one_preset(const struct rule *rule,
				 const struct preset_ref *ref, bool named)
{
	struct setting setting = {
		.enabled = !(rule->flags & (RULE_PEDANTIC | RULE_PREVIEW)) ||
			   ref->preset == PRESET_ALL,
		.severity = rule->severity,
	};

	if (ref->preset == PRESET_STRICT && is_headline(rule->category)) {
		setting.severity = SEVERITY_ERROR;
		setting.severity_set = true;
	}
	setting.strict =
		ref->preset == PRESET_STRICT && rule->flags & RULE_TAKES;
	if (setting.strict && setting.severity == SEVERITY_WARNING)
		setting.severity = SEVERITY_ERROR;
	if (rule->flags & (RULE_GUESS | RULE_PREVIEW) &&
	    setting.severity > SEVERITY_WARNING)
		setting.severity = SEVERITY_WARNING;
	if (!named && is_newer(rule, ref)) {
		setting.severity = SEVERITY_INFO;
		setting.severity_set = true;
	}
	/* invalid-syntax is always on, whatever the pin is. */
	if (rule_is_fixed(rule))
		setting = (struct setting){.enabled = true,
					   .severity = rule->severity};
	return setting;
}

/* Uses the strictest setting if several presets enable the rule. */
void preset_setting(const struct rule *rule, const struct preset_ref *refs,
		    size_t n, bool named, struct setting *out)
{
	*out = one_preset(rule, &refs[0], named);
	for (size_t i = 1; i < n; i++) {
		struct setting one = one_preset(rule, &refs[i], named);

		if (!out->enabled)
			*out = one;
		if (!one.enabled)
			continue;
		if (one.severity > out->severity)
			out->severity = one.severity;
		out->severity_set |= one.severity_set;
		out->strict |= one.strict;
	}
}
