/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the frame of a page. The style sheet and the script are page.css and
 * page.js, which embed.sh converts to strings.
 */
#include "html.h"
#include "html.inc"
#include "lint/term/escape.h"
#include "lint/term/program.h"

static const char head[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\""
	"default-src 'none'; style-src '" HTML_STYLE_HASH
	"'; script-src '" HTML_SCRIPT_HASH
	"'; base-uri 'none'; form-action 'none'\">\n"
	"<meta name=\"viewport\" "
	"content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"referrer\" content=\"no-referrer\">\n<title>";

void html_open(struct buf *out, const struct html_head *page)
{
	buf_adds(out, head);
	xml_add(out, page->title);
	buf_adds(out, "</title>\n<style>");
	buf_adds(out, html_style);
	buf_adds(out,
		 "</style>\n</head>\n<body>\n"
		 "<a class=\"skip\" href=\"#findings\">Skip to the content</a>"
		 "\n<header>\n<h1>");
	xml_add(out, page->title);
	buf_adds(out, "</h1>\n");
	if (page->verdict) {
		buf_addf(out, "<p class=\"verdict %s\">",
			 page->bad ? "bad" : "good");
		xml_add(out, page->verdict);
		buf_adds(out, "</p>\n");
	}
	buf_adds(out, "<button id=\"theme\" type=\"button\" "
		      "hidden>Dark</button>\n");
	if (*page->below) {
		buf_adds(out, "<p class=\"sub\">");
		xml_add(out, page->below);
		buf_adds(out, "</p>\n");
	}
	buf_adds(out, "</header>\n<main>\n");
}

void html_close(struct buf *out, const char *version)
{
	buf_adds(out, "</main>\n<footer>gpugate ");
	xml_add(out, version ? version : "");
	buf_adds(out, "</footer>\n<script>");
	buf_adds(out, html_script);
	buf_adds(out, "</script>\n</body>\n</html>\n");
}

void html_add_rule(struct buf *out, const struct rule *rule)
{
	struct buf page;

	buf_init(&page);
	if (docs_add_page(&page, rule)) {
		buf_adds(out, "<a");
		xml_add_attribute(out, "href", page.data);
		buf_addc(out, '>');
		xml_add(out, rule->name);
		buf_adds(out, "</a>");
	} else {
		xml_add(out, rule->name);
	}
	buf_release(&page);
}

void html_add_severity(struct buf *out, enum severity severity)
{
	const char *name = severity_name(severity);

	buf_addf(out, "<span class=\"pill %s\">%s</span>", name, name);
}
