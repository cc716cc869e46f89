/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GitHub wants every rule's texts non-empty and at most 1,024 characters.
 * `[text](1)` in a message is a link to a related place; text of the
 * manifest must not make one.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lint/term/escape.h"
#include "lint/text/json_out.h"
#include "sarif.h"

const char *sarif_level(enum severity severity)
{
	static const char *const words[] = {
		[SEVERITY_ERROR] = "error",
		[SEVERITY_WARNING] = "warning",
		[SEVERITY_INFO] = "note",
	};

	return words[severity];
}

const char *sarif_version(const char *version)
{
	size_t major;

	if (version && *version == 'v')
		version++;
	/* A commit's hash may begin with digits too. */
	major = version ? strspn(version, "0123456789") : 0;
	return major && version[major] == '.' ? version : "0.0.0";
}

void sarif_add_uri(struct buf *out, const char *path)
{
	/* An absolute path is a reference without an authority. */
	if (path[0] == '/')
		buf_adds(out, "file://");
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (isalnum(c) || strchr("-._~/", c))
			buf_addc(out, (char)c);
		else
			buf_addf(out, "%%%02X", c);
	}
}

/* Square brackets stay, but never form a link. */
static void add_plain(struct buf *out, const char *s)
{
	const char *link;

	while ((link = strstr(s, "](")) != NULL) {
		escape_add(out, s, (size_t)(link - s));
		buf_adds(out, "] (");
		s = link + 2;
	}
	escape_adds(out, s);
}

static void add_link_text(struct buf *out, const char *path)
{
	while (*path) {
		size_t plain = strcspn(path, "[]\\");

		escape_add(out, path, plain);
		path += plain;
		if (*path) {
			buf_addc(out, '\\');
			buf_addc(out, *path++);
		}
	}
}

void sarif_add_message(struct buf *out, const struct report_file *file,
		       const struct finding *finding)
{
	const char *remedy = finding_remedy(finding);

	add_plain(out, finding->message);
	if (*remedy) {
		buf_adds(out, ".\nHelp: ");
		add_plain(out, remedy);
	}
	for (unsigned i = 0; i < finding->nrelated; i++) {
		const struct related *related = &finding->related[i];
		const char *path = place_path(file, &related->place);

		buf_addc(out, '\n');
		if (*path) {
			buf_addc(out, '[');
			add_link_text(out, path);
			buf_addf(out, ":%u](%u): ", related->place.line, i + 1);
		}
		add_plain(out, related->message);
	}
}

static const char *first_text(const char *a, const char *b, const char *c)
{
	if (a && *a)
		return a;
	return b && *b ? b : c;
}

static void put_text(json_t *json, const char *key, const char *text)
{
	json_put_text(json_put_object(json, key), "text", text);
}

/* A sentence; the tables are not of one mind about full stops. */
static void add_sentence(struct buf *out, const char *lead, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (!len)
		return;
	buf_adds(out, lead);
	buf_adds(out, text);
	if (!strchr(".!?", text[len - 1]))
		buf_addc(out, '.');
}

static void put_help(json_t *json, const struct rule *rule)
{
	json_t *help = json_put_object(json, "help");
	struct buf text;

	buf_init(&text);
	add_sentence(&text, "",
		     first_text(rule->why, rule->summary, rule->name));
	add_sentence(&text, "\nWhat to do: ", rule->remedy);
	add_sentence(&text, "\nEvidence: ", rule->evidence);
	buf_addf(&text, "\nMore: gpugate explain %s", rule->name);
	json_put_text(help, "text", text.data);
	buf_release(&text);
}

json_t *sarif_rule(const struct rule *rule)
{
	static const char *const problems[] = {
		[SEVERITY_INFO] = "recommendation",
		[SEVERITY_WARNING] = "warning",
		[SEVERITY_ERROR] = "error",
	};
	json_t *json = json_new_object(), *properties, *tags;

	json_put_text(json, "id", rule->name);
	put_text(json, "shortDescription",
		 first_text(rule->summary, rule->why, rule->name));
	put_text(json, "fullDescription",
		 first_text(rule->why, rule->summary, rule->name));
	put_help(json, rule);
	json_put_text(json_put_object(json, "defaultConfiguration"), "level",
		      sarif_level(rule->severity));
	properties = json_put_object(json, "properties");
	tags = json_put_array(properties, "tags");
	json_add(tags, json_new_text(rule->category));
	json_put_text(properties, "precision",
		      rule->flags & RULE_GUESS ? "medium" : "high");
	json_put_text(properties, "problem.severity", problems[rule->severity]);
	return json;
}

static void add_note(json_t *list, struct buf *text)
{
	json_t *item = json_add_object(list);

	put_text(item, "message", text->data);
	json_put_text(item, "level", "note");
	buf_reset(text);
}

static void put_skipped(json_t *json, const struct report_summary *summary)
{
	json_t *list = json_put_array(json, "toolExecutionNotifications");
	struct buf text;

	buf_init(&text);
	for (size_t i = 0; i < summary->nskipped; i++) {
		buf_adds(&text, "skipped ");
		add_plain(&text, summary->skipped[i].path);
		buf_adds(&text, ": ");
		add_plain(&text, summary->skipped[i].reason);
		add_note(list, &text);
	}
	buf_release(&text);
}

static void put_not_run(json_t *json, const struct report_summary *summary)
{
	json_t *list = json_put_array(json, "toolConfigurationNotifications");
	struct buf text;

	buf_init(&text);
	for (size_t i = 0; i < summary->nnot_run; i++) {
		buf_addf(&text,
			 "%s did not run: ", summary->not_run[i].rule->name);
		add_plain(&text, summary->not_run[i].reason);
		add_note(list, &text);
	}
	buf_release(&text);
}

json_t *sarif_invocation(const struct report_summary *summary)
{
	json_t *json = json_new_object();

	json_put_bool(json, "executionSuccessful", !summary->failed);
	put_skipped(json, summary);
	put_not_run(json, summary);
	return json;
}
