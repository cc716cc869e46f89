/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of a verdict. The first line of a denial has at most 120
 * characters, because events of a controller show only that much; so has each
 * warning (kubernetes/api admission/v1 advises it, and the API server silently
 * drops a warning with a control character). People read the three gravest; a
 * remedy is never cut, it has a warning of its own where it does not fit.
 */
#include "verdict.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/vec.h"

enum { LINE = 120, WARNINGS = 3, DENIALS = 20 };

void verdict_init(struct verdict *verdict, struct arena *arena)
{
	memset(verdict, 0, sizeof(*verdict));
	verdict->arena = arena;
	verdict->allowed = true;
}

static void add_once(struct list *list, struct arena *arena, const char *item)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->items[i], item))
			return;
	list_add(arena, list, item);
}

/* --- lines ---------------------------------------------------------------- */

/* C0, DEL, C1, and invalid UTF-8: the API server drops the whole warning. */
static bool is_control(const char *text, size_t n)
{
	unsigned char first = (unsigned char)text[0];

	return !n || (n == 1 && (first < ' ' || first == 0x7f)) ||
	       (n == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0);
}

/* At most max characters of text, on one line; what is cut off ends in "…". */
static const char *fit(struct arena *arena, const char *text, size_t max)
{
	size_t len = strlen(text), at = 0, count = 0, cut = 0;
	char *line = arena_strndup(arena, text, len);

	while (at < len) {
		bool plain = text[at] >= ' ' && text[at] < 0x7f;
		size_t n = plain ? 1 : utf8_length(text + at, len - at);

		if (!plain && is_control(text + at, n)) {
			line[at] = ' ';
			n = 1; /* and so the second byte of two */
		}
		if (++count == max)
			cut = at;
		at += n;
	}
	if (count <= max)
		return line;
	return arena_printf(arena, "%.*s…", (int)cut, line);
}

static const char *whole(struct arena *arena, const struct finding *f,
			 const char *remedy)
{
	const char *parts[] = {f->rule->name, ": ", f->message, " — ", remedy};
	const size_t n = sizeof(parts) / sizeof(*parts);
	size_t len = 0;
	char *text, *at;

	for (size_t i = 0; i < n; i++)
		len += strlen(parts[i]);
	at = text = arena_alloc(arena, len + 1);
	for (size_t i = 0; i < n; i++)
		at = stpcpy(at, parts[i]);
	return text;
}

static void add_note(struct verdict *verdict, enum severity severity,
		     const char *first, const char *second)
{
	for (size_t i = 0; i < verdict->nnotes; i++)
		if (!strcmp(verdict->notes[i].first, first) &&
		    text_eq(verdict->notes[i].second, second))
			return;
	*VEC_PUSH(verdict->arena, verdict->notes, verdict->nnotes,
		  verdict->notes_size) = (struct note){severity, first, second};
}

/* About the request, not the object: what was patched, what was ignored. */
static void add_remark(struct verdict *verdict, enum severity severity,
		       const char *text)
{
	add_note(verdict, severity, fit(verdict->arena, text, LINE), NULL);
}

static size_t width(const char *text)
{
	return utf8_count(text, strlen(text));
}

/* The Pods are patched when they are created; the author fixes the file. */
static const char *owner_remedy(struct arena *arena, const struct finding *f)
{
	return arena_printf(arena, "`gpugate lint --fix`: %s", f->fix_title);
}

static const char *named(struct arena *arena, const struct finding *f,
			 const char *text)
{
	return arena_printf(arena, "%s: %s", f->rule->name, text);
}

/* One warning, or two: what is wrong, and what to do. */
static void add_finding(struct verdict *verdict, const struct finding *f,
			const char *remedy)
{
	struct arena *arena = verdict->arena;
	const char *all = whole(arena, f, remedy);

	if (width(all) <= LINE) {
		add_note(verdict, f->severity, fit(arena, all, LINE), NULL);
		return;
	}
	remedy = named(arena, f, remedy);
	if (width(remedy) > LINE)
		remedy = named(arena, f,
			       arena_printf(arena, "gpugate explain %s",
					    f->rule->name));
	add_note(verdict, f->severity,
		 fit(arena, named(arena, f, f->message), LINE),
		 fit(arena, remedy, LINE));
}

/* The gravest first, and of those the first. */
static void write_warnings(struct verdict *verdict)
{
	size_t left = WARNINGS;

	for (int s = SEVERITY_ERROR; s >= SEVERITY_INFO; s--)
		for (size_t i = 0; i < verdict->nnotes && left; i++) {
			const struct note *note = &verdict->notes[i];

			if ((int)note->severity != s)
				continue;
			add_once(&verdict->warnings, verdict->arena,
				 note->first);
			if (note->second)
				add_once(&verdict->warnings, verdict->arena,
					 note->second);
			left--;
		}
	if (verdict->nnotes > WARNINGS)
		list_add(verdict->arena, &verdict->warnings,
			 arena_printf(verdict->arena, "%zu more: gpugate lint",
				      verdict->nnotes - WARNINGS));
}

/* --- findings ------------------------------------------------------------- */

struct denial {
	const struct finding **items;
	size_t n, size;
	const struct finding *head; /* errors first, then as they come */
};

static void deny(struct denial *denial, struct arena *arena,
		 const struct finding *f)
{
	*VEC_PUSH(arena, denial->items, denial->n, denial->size) = f;
	if (!denial->head || f->severity > denial->head->severity)
		denial->head = f;
}

static void add_line(struct buf *text, const char *line)
{
	buf_addc(text, '\n');
	buf_adds(text, line);
}

/* What did not fit into the first line is said in the second. */
static void add_head(struct buf *text, struct arena *arena,
		     const struct finding *f)
{
	const char *all = whole(arena, f, finding_remedy(f));
	const char *line = fit(arena, all, LINE);

	buf_adds(text, line);
	if (strcmp(line + strlen(line) - strlen("…"), "…") == 0)
		add_line(text, fit(arena, finding_remedy(f), 4 * LINE));
}

static void write_denial(struct verdict *verdict, const struct denial *denial,
			 const char *contact)
{
	struct arena *arena = verdict->arena;
	struct buf text;
	size_t reported = 1;

	buf_init(&text);
	add_head(&text, arena, denial->head);
	for (size_t i = 0; i < denial->n && reported < DENIALS; i++) {
		const struct finding *f = denial->items[i];

		if (f == denial->head)
			continue;
		add_line(&text, fit(arena, whole(arena, f, finding_remedy(f)),
				    2 * LINE));
		reported++;
	}
	if (reported < denial->n)
		add_line(&text, arena_printf(arena, "and %zu more",
					     denial->n - reported));
	if (contact)
		add_line(&text, fit(arena, contact, 2 * LINE));
	verdict->message = arena_strndup(arena, text.data, text.len);
	buf_release(&text);
	verdict->allowed = false;
}

static void note_refused(struct verdict *verdict, const struct policy *policy,
			 const struct finding *f)
{
	const char *contact = policy_contact(policy);

	add_remark(verdict, SEVERITY_WARNING,
		   arena_printf(verdict->arena,
				"gpugate.dev/ignore of %s is not granted by "
				"the policy: ask %s",
				f->rule->name,
				contact ? contact : "its owners"));
}

/*
 * A review of a Pod does not include the annotations of its owner, but
 * controllers copy those of the template into each Pod.
 */
static void note_out_of_reach(struct verdict *verdict, const struct finding *f)
{
	add_remark(verdict, SEVERITY_ERROR,
		   arena_printf(verdict->arena,
				"gpugate.dev/ignore of %s is on the object:"
				" its Pods need it on the pod template",
				f->rule->name));
}

/* Its Pods would still be patched. */
static bool is_out_of_reach(const struct request_context *c,
			    const struct finding *f)
{
	return f->ignored_by_object && f->action == ACTION_PATCH &&
	       f->fix_title && f->mode == MODE_ENFORCE && !c->pod && !c->mutate;
}

static void note_would(struct verdict *verdict, const struct finding *f,
		       struct decision decision)
{
	const char *name = f->rule->name;

	if (decision.would > verdict->would)
		verdict->would = decision.would;
	if (decision.would == decision.outcome)
		return;
	if (decision.would == OUTCOME_DENY)
		add_once(&verdict->would_deny, verdict->arena, name);
	if (decision.would == OUTCOME_PATCH)
		add_once(&verdict->would_patch, verdict->arena, name);
}

static void note_outcome(struct verdict *verdict,
			 const struct request_context *c,
			 const struct finding *f, enum outcome outcome)
{
	if (outcome == OUTCOME_NONE)
		return;
	add_once(&verdict->rules, verdict->arena, f->rule->name);
	if (outcome > verdict->outcome)
		verdict->outcome = outcome;
	if (outcome == OUTCOME_PATCH) {
		add_once(&verdict->patched, verdict->arena, f->rule->name);
		add_remark(verdict, f->severity,
			   arena_printf(verdict->arena, "patched by %s: %s",
					f->rule->name, f->fix_title));
	} else if (outcome == OUTCOME_WARN) {
		add_finding(verdict, f,
			    !c->pod && judge_patches(f)
				    ? owner_remedy(verdict->arena, f)
				    : finding_remedy(f));
	}
}

/* Did the ticket turn a denial? */
static void note_break_glass(struct verdict *verdict,
			     const struct request_context *c,
			     const struct judge *judge, const struct finding *f)
{
	struct request_context without = *c;

	without.ticket = NULL;
	if (decide(&without, f).would == OUTCOME_DENY)
		verdict->break_glass = secrets_mask(&judge->secrets,
						    verdict->arena, c->ticket);
}

void verdict_of(struct verdict *verdict, const struct request_context *c,
		const struct policy *policy, const struct judge *judge)
{
	struct denial denial = {0};

	for (size_t i = 0; i < judge->n; i++) {
		const struct finding *f = &judge->findings[i];
		struct decision decision = decide(c, f);

		if (f->suppressed)
			add_once(&verdict->suppressed, verdict->arena,
				 f->rule->name);
		if (f->ignore_refused && !c->mutate && !c->controlled)
			note_refused(verdict, policy, f);
		if (is_out_of_reach(c, f))
			note_out_of_reach(verdict, f);
		note_would(verdict, f, decision);
		note_outcome(verdict, c, f, decision.outcome);
		if (decision.outcome == OUTCOME_DENY)
			deny(&denial, verdict->arena, f);
		if (c->ticket && !verdict->break_glass)
			note_break_glass(verdict, c, judge, f);
	}
	if (denial.n)
		write_denial(verdict, &denial, policy_contact(policy));
	if (c->mutate && verdict->patched.n)
		verdict->patch = judge->patch;
	write_warnings(verdict);
}

void verdict_unreadable(struct verdict *verdict, enum mode mode,
			const char *problem)
{
	const char *text = fit(
		verdict->arena,
		arena_printf(verdict->arena,
			     "invalid-syntax: the object cannot be read: %s",
			     problem),
		LINE);

	add_once(&verdict->rules, verdict->arena, "invalid-syntax");
	verdict->would = OUTCOME_DENY;
	switch (mode) {
	case MODE_ENFORCE:
		verdict->outcome = OUTCOME_DENY;
		verdict->allowed = false;
		verdict->message = text;
		return;
	case MODE_WARN:
		verdict->outcome = OUTCOME_WARN;
		list_add(verdict->arena, &verdict->warnings, text);
		break;
	default:
		verdict->outcome = OUTCOME_AUDIT;
	}
	add_once(&verdict->would_deny, verdict->arena, "invalid-syntax");
}
