/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes parts of a SARIF report. GitHub requires that the texts of a rule have
 * 1 to 1,024 characters. `[text](1)` in a message is a link to a related place;
 * text of the manifest must not form such a link.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json_stream.h"
#include "lint/term/escape.h"
#include "lint/term/program.h"
#include "report_common.h"

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
	/* The hash of a commit may also begin with digits. */
	major = version ? strspn(version, "0123456789") : 0;
	return major && version[major] == '.' ? version : "0.0.0";
}

void sarif_put_artifact(struct buf *out, const char *path)
{
	struct buf uri;

	buf_init(&uri);
	/* An absolute path becomes a file: URI without an authority. */
	if (*path == '/')
		buf_adds(&uri, "file://");
	escape_uri(&uri, path_relative(path), "/");
	stream_open(out, "artifactLocation", '{');
	stream_text(out, "uri", uri.data);
	stream_close(out, '}');
	buf_release(&uri);
}

/* Adds text in which each "](" becomes "] (", so that it never forms a link. */
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

void sarif_put_text(struct buf *out, const char *key, const char *text)
{
	stream_open(out, key, '{');
	stream_text(out, "text", text);
	stream_close(out, '}');
}

/* Adds a sentence, and a full stop if it has none. */
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

static void put_help(struct buf *out, const struct rule *rule)
{
	struct buf text;

	buf_init(&text);
	add_sentence(&text, "",
		     first_text(rule->why, rule->summary, rule->name));
	add_sentence(&text, "\nHelp: ", rule->remedy);
	add_sentence(&text, "\nEvidence: ", rule->evidence);
	buf_addf(&text, "\nMore: gpugate explain %s", rule->name);
	sarif_put_text(out, "help", text.data);
	buf_release(&text);
}

void sarif_put_rule(struct buf *out, const struct rule *rule)
{
	static const char *const problems[] = {
		[SEVERITY_INFO] = "recommendation",
		[SEVERITY_WARNING] = "warning",
		[SEVERITY_ERROR] = "error",
	};
	struct buf page;

	buf_init(&page);
	stream_open(out, NULL, '{');
	stream_text(out, "id", rule->name);
	sarif_put_text(out, "shortDescription",
		       first_text(rule->summary, rule->why, rule->name));
	sarif_put_text(out, "fullDescription",
		       first_text(rule->why, rule->summary, rule->name));
	put_help(out, rule);
	if (docs_add_page(&page, rule))
		stream_text(out, "helpUri", page.data);
	buf_release(&page);
	stream_open(out, "defaultConfiguration", '{');
	stream_text(out, "level", sarif_level(rule->severity));
	stream_close(out, '}');
	stream_open(out, "properties", '{');
	stream_open(out, "tags", '[');
	stream_text(out, NULL, rule->category);
	stream_close(out, ']');
	stream_text(out, "precision",
		    rule->flags & RULE_GUESS ? "medium" : "high");
	stream_text(out, "problem.severity", problems[rule->severity]);
	buf_adds(out, "}}");
}

static void add_note(struct buf *out, struct buf *text)
{
	stream_open(out, NULL, '{');
	sarif_put_text(out, "message", text->data);
	stream_text(out, "level", "note");
	stream_close(out, '}');
	buf_reset(text);
}

static void put_skipped(struct buf *out, const struct report_summary *summary)
{
	struct buf text;

	stream_open(out, "toolExecutionNotifications", '[');
	buf_init(&text);
	for (size_t i = 0; i < summary->nskipped; i++) {
		buf_adds(&text, "skipped ");
		add_plain(&text, summary->skipped[i].path);
		buf_adds(&text, ": ");
		add_plain(&text, summary->skipped[i].reason);
		add_note(out, &text);
	}
	stream_close(out, ']');
	buf_release(&text);
}

static void put_not_run(struct buf *out, const struct report_summary *summary)
{
	struct buf text;

	stream_open(out, "toolConfigurationNotifications", '[');
	buf_init(&text);
	for (size_t i = 0; i < summary->nnot_run; i++) {
		buf_addf(&text,
			 "%s was skipped: ", summary->not_run[i].rule->name);
		add_plain(&text, summary->not_run[i].reason);
		add_note(out, &text);
	}
	stream_close(out, ']');
	buf_release(&text);
}

void sarif_put_invocation(struct buf *out, const struct report_summary *summary)
{
	stream_open(out, NULL, '{');
	stream_bool(out, "executionSuccessful", !summary->failed);
	put_skipped(out, summary);
	put_not_run(out, summary);
	stream_close(out, '}');
}
