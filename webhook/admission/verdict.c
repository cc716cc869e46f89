/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the texts of a verdict. A denial has all findings that deny, up to 64
 * KiB. Its first line is complete alone, because events of a controller show
 * little more; then follow the help, if it does not fit in the first line, and
 * each further finding. A warning has at most 120 characters, as kubernetes/api
 * admission/v1 advises, and no control character, because the API server would
 * silently drop it. A longer text becomes several warnings, split between
 * words. Only the three most severe remarks become warnings; the others are
 * counted.
 */
#include "review_context.h"

#include <string.h>

#include <openssl/evp.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/json_stream.h"
#include "base/text.h"
#include "doc/node.h"

/* TEXT is the maximum size of one finding's text in bytes. Only long values
 * from the object make a text longer. */
enum { LINE = 120, WARNINGS = 3, TEXT = 2000, DENIAL = 64 << 10 };

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

/* Returns true for C0, DEL, C1, and invalid UTF-8: the API server would drop a
 * warning that contains them. */
static bool is_control(const char *text, size_t n)
{
	unsigned char first = (unsigned char)text[0];

	return !n || (n == 1 && (first < ' ' || first == 0x7f)) ||
	       (n == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0);
}

/* Returns the start of a text that is too long, cut between characters. */
static const char *cut_text(struct arena *arena, const char *text, size_t len)
{
	size_t at = 0, next = 0;

	while (next <= TEXT) {
		size_t n = utf8_length(text + next, len - next);

		at = next;
		next += n ? n : 1;
	}
	return arena_printf(arena, "%.*s...", (int)at, text);
}

/* Returns the text on one line, without control characters. */
static const char *one_line(struct arena *arena, const char *all)
{
	size_t len = strlen(all);
	const char *text = len > TEXT ? cut_text(arena, all, len) : all;
	char *line = arena_strdup(arena, text);

	len = strlen(line);

	for (size_t at = 0, n; at < len; at += n) {
		bool plain = text[at] >= ' ' && text[at] < 0x7f;

		n = plain ? 1 : utf8_length(text + at, len - at);
		if (!plain && is_control(text + at, n)) {
			line[at] = ' ';
			/* the second byte of a C1 character is invalid alone:
			 * the next turn replaces it */
			n = 1;
		}
	}
	return line;
}

/* Returns the length of the longest start that ends with a word and has at most
 * max characters. A longer word is cut. */
static size_t line_end(const char *text, size_t max)
{
	size_t len = strlen(text), at = 0, word = 0;

	for (size_t count = 0; at < len && count < max; count++) {
		if (text[at] == ' ')
			word = at;
		at += text[at] & 0x80 ? utf8_length(text + at, len - at) : 1;
	}
	return at == len || text[at] == ' ' || !word ? at : word;
}

static const char *named(struct arena *arena, const struct finding *f,
			 const char *text)
{
	return arena_printf(arena, "%s: %s", f->rule->name, text);
}

/* Returns the message and the help, which may be empty, on one line. */
static const char *whole(struct arena *arena, const struct finding *f,
			 const char *remedy)
{
	const char *parts[] = {f->rule->name, ": ", f->message, " — ", remedy};
	const size_t n = ARRAY_SIZE(parts);
	size_t len = 0;
	char *text, *at;

	if (!*remedy)
		return named(arena, f, f->message);
	for (size_t i = 0; i < n; i++)
		len += strlen(parts[i]);
	at = text = arena_alloc(arena, len + 1);
	for (size_t i = 0; i < n; i++)
		at = stpcpy(at, parts[i]);
	return text;
}

static void add_note(struct verdict *verdict, struct note *note)
{
	note->hash = text_hash(note->text, strlen(note->text), 0);
	for (size_t i = 0; i < verdict->nnotes; i++)
		if (verdict->notes[i].hash == note->hash &&
		    !strcmp(verdict->notes[i].text, note->text) &&
		    text_eq(verdict->notes[i].remedy, note->remedy))
			return;
	*VEC_PUSH(verdict->arena, verdict->notes, verdict->nnotes,
		  verdict->notes_size) = *note;
}

/* Adds a note about the request, not about a finding: a patch, or an ignore
 * annotation that does not apply. */
static void add_remark(struct verdict *verdict, enum severity severity,
		       const char *text)
{
	add_note(verdict, &(struct note){.severity = severity, .text = text});
}

static size_t width(const char *text)
{
	return utf8_count(text, strlen(text));
}

/* Returns the help for an owner whose Pods are patched when they are created:
 * the author should correct the file. */
static const char *owner_remedy(struct arena *arena, const struct finding *f)
{
	return arena_printf(arena, "`gpugate lint --fix`: %s", f->fix_title);
}

/* Adds a note with the problem and the help, in one text if it fits into one
 * warning. */
static void add_finding(struct verdict *verdict, const struct finding *f,
			const char *remedy)
{
	struct arena *arena = verdict->arena;
	struct note note = {.severity = f->severity, .rule = f->rule->name};

	note.text = whole(arena, f, remedy);
	if (*remedy && width(note.text) > LINE) {
		note.text = named(arena, f, f->message);
		note.remedy = named(arena, f, remedy);
	}
	add_note(verdict, &note);
}

/* Adds a text as warnings. Each line after the first has the rule's name again,
 * because other warnings may come between. */
static void add_warning(struct verdict *verdict, const char *rule,
			const char *text)
{
	struct arena *arena = verdict->arena;
	const char *again = rule ? arena_printf(arena, "%s: ", rule) : "";
	const char *start = "", *left = one_line(arena, text);

	for (left += strspn(left, " "); *left; left += strspn(left, " ")) {
		size_t n = line_end(left, LINE - width(start));

		add_once(&verdict->warnings, arena,
			 arena_printf(arena, "%s%.*s", start, (int)n, left));
		left += n;
		start = again;
	}
}

/* Writes warnings of the highest severity first; equal ones keep their
 * order. */
static void write_warnings(struct verdict *verdict)
{
	size_t left = WARNINGS;

	for (int s = SEVERITY_ERROR; s >= SEVERITY_INFO; s--)
		for (size_t i = 0; i < verdict->nnotes && left; i++) {
			const struct note *note = &verdict->notes[i];

			if ((int)note->severity != s)
				continue;
			add_warning(verdict, note->rule, note->text);
			if (note->remedy)
				add_warning(verdict, note->rule, note->remedy);
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
	/* the first finding of the highest severity */
	const struct finding *head;
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

/* Adds the message and the help, on one line or, if that is too long, on
 * two. */
static void add_head(struct buf *text, struct arena *arena,
		     const struct finding *f)
{
	const char *all = whole(arena, f, finding_remedy(f));

	if (width(all) <= LINE || !*finding_remedy(f)) {
		buf_adds(text, one_line(arena, all));
		return;
	}
	buf_adds(text, one_line(arena, named(arena, f, f->message)));
	add_line(text, one_line(arena, finding_remedy(f)));
}

/* Writes the denial. Findings beyond DENIAL bytes are only counted. */
static void write_denial(struct verdict *verdict, const struct denial *denial,
			 const char *contact)
{
	struct arena *arena = verdict->arena;
	struct buf text;
	size_t reported = 1;

	buf_init(&text);
	add_head(&text, arena, denial->head);
	for (size_t i = 0; i < denial->n && text.len < DENIAL; i++) {
		const struct finding *f = denial->items[i];

		if (f == denial->head)
			continue;
		add_line(&text,
			 one_line(arena, whole(arena, f, finding_remedy(f))));
		reported++;
	}
	if (reported < denial->n)
		add_line(&text,
			 arena_printf(arena, "and %zu more: gpugate lint",
				      denial->n - reported));
	if (contact)
		add_line(&text, one_line(arena, contact));
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
				"gpugate.dev/ignore: %s; ask %s",
				f->ignore_refused,
				contact ? contact : "the policy's owners"));
}

/* Returns true if a warning must say why the ignore annotation for the finding
 * does not apply. /mutate warns about findings that it patches, because
 * /validate does not get those. */
static bool tells_refusal(const struct request_context *c,
			  const struct finding *f, enum outcome outcome)
{
	return f->ignore_refused && f->mode != MODE_AUDIT && !c->controlled &&
	       (!c->mutate || outcome == OUTCOME_PATCH);
}

/*
 * Adds a remark about an ignore annotation of the owner, which a review of a
 * Pod does not include. Controllers copy only annotations of the template into
 * each Pod.
 */
static void note_out_of_reach(struct verdict *verdict, const struct finding *f)
{
	add_remark(
		verdict, SEVERITY_ERROR,
		arena_printf(
			verdict->arena,
			"gpugate.dev/ignore of %s is on the object, not on its pod template: its Pods do not have it",
			f->rule->name));
}

/* Returns true if only the owner has the ignore annotation, so that its Pods
 * would still be patched. */
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

/* Records the ticket if it has prevented a denial, or would prevent one in mode
 * enforce. */
static void note_break_glass(struct verdict *verdict,
			     const struct request_context *c,
			     const struct judge *judge, const struct finding *f)
{
	struct request_context without = *c;

	without.ticket = NULL;
	if (decide(&without, f).would != OUTCOME_DENY)
		return;
	if (!verdict->break_glass)
		verdict->break_glass = secrets_mask(&judge->secrets,
						    verdict->arena, c->ticket);
	verdict->ticket_used |= f->mode == MODE_ENFORCE;
}

/* Writes the warning that the ticket was used, or why it does not apply, before
 * all others. */
static void write_ticket(struct verdict *verdict,
			 const struct request_context *c,
			 const struct policy *policy)
{
	struct arena *arena = verdict->arena;
	const char *text = NULL;

	if (verdict->ticket_used)
		text = arena_printf(arena, "%s: admitted by ticket %s",
				    policy_break_glass(policy)->annotation,
				    verdict->break_glass);
	else if (c->ticket_problem && !verdict->allowed)
		text = arena_printf(arena, "%s does not apply: %s",
				    policy_break_glass(policy)->annotation,
				    c->ticket_problem);
	if (text)
		add_warning(verdict, NULL, text);
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
		if (tells_refusal(c, f, decision.outcome))
			note_refused(verdict, policy, f);
		if (is_out_of_reach(c, f))
			note_out_of_reach(verdict, f);
		note_would(verdict, f, decision);
		note_outcome(verdict, c, f, decision.outcome);
		if (decision.outcome == OUTCOME_DENY)
			deny(&denial, verdict->arena, f);
		if (c->ticket)
			note_break_glass(verdict, c, judge, f);
	}
	if (denial.n)
		write_denial(verdict, &denial, policy_contact(policy));
	if (c->mutate && verdict->patched.n)
		verdict->patch = judge->patch;
	write_ticket(verdict, c, policy);
	write_warnings(verdict);
}

void verdict_unreadable(struct verdict *verdict, enum mode mode,
			const char *problem)
{
	const char *text = one_line(
		verdict->arena,
		arena_printf(verdict->arena,
			     "invalid-syntax: the object cannot be read: %s",
			     problem));

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
		add_warning(verdict, "invalid-syntax", text);
		break;
	default:
		verdict->outcome = OUTCOME_AUDIT;
	}
	add_once(&verdict->would_deny, verdict->arena, "invalid-syntax");
}

/*
 * Writes the response key by key into one buffer. The uid is that of the
 * request. patch and patchType occur together or not at all, and only from
 * /mutate: the API server rejects anything else (apiserver
 * admission/plugin/webhook/request).
 */

/* Writes the operations as JSON after the existing bytes, and their base64
 * after that; then moves the base64 to the place of the JSON. */
static void add_patch(struct buf *out, const struct node *patch)
{
	size_t at, len;

	if (!patch)
		return;
	stream_text(out, "patchType", "JSONPatch");
	stream_key(out, "patch");
	buf_addc(out, '"');
	at = out->len;
	node_json(patch, out);
	len = out->len - at;
	buf_grow(out, len / 3 * 4 + 5);
	len = (size_t)EVP_EncodeBlock((unsigned char *)out->data + out->len,
				      (unsigned char *)out->data + at,
				      (int)len);
	memmove(out->data + at, out->data + out->len, len);
	out->len = at + len;
	buf_addc(out, '"');
}

/* The uid identifies the review in the logs of the API server and of
 * gpugated. */
static void add_denial(struct buf *out, const struct verdict *v,
		       const struct review *review)
{
	stream_open(out, "status", '{');
	stream_text(out, "status", "Failure");
	stream_text(out, "message",
		    arena_printf(v->arena, "%s\nreview %.*s", v->message,
				 (int)review->uid_len, review->uid));
	stream_text(out, "reason", "Forbidden");
	stream_int(out, "code", 403);
	stream_close(out, '}');
}

/* Adds names of rules, which contain no byte that needs an escape. */
static void add_names(struct buf *out, const char *key,
		      const struct list *names)
{
	if (!names->n)
		return;
	stream_key(out, key);
	for (size_t i = 0; i < names->n; i++) {
		buf_addc(out, i ? ',' : '"');
		buf_adds(out, names->items[i]);
	}
	buf_addc(out, '"');
}

/* Adds the audit annotations if a finding has an outcome or is suppressed. */
static void add_annotations(struct buf *out, const struct verdict *v,
			    const char *policy)
{
	if (!v->rules.n && !v->suppressed.n)
		return;
	stream_open(out, "auditAnnotations", '{');
	add_names(out, "rules", &v->rules);
	add_names(out, "patched", &v->patched);
	add_names(out, "suppressed", &v->suppressed);
	add_names(out, "would-deny", &v->would_deny);
	add_names(out, "would-patch", &v->would_patch);
	if (v->break_glass)
		stream_text(out, "break-glass", v->break_glass);
	stream_text(out, "policy", policy);
	stream_close(out, '}');
}

static void add_warnings(struct buf *out, const struct list *warnings)
{
	if (!warnings->n)
		return;
	stream_open(out, "warnings", '[');
	for (size_t i = 0; i < warnings->n; i++)
		stream_text(out, NULL, warnings->items[i]);
	stream_close(out, ']');
}

void respond(const struct verdict *v, const struct review *review,
	     const char *policy, struct buf *out)
{
	buf_reset(out);
	stream_open(out, NULL, '{');
	stream_text(out, "apiVersion", "admission.k8s.io/v1");
	stream_text(out, "kind", "AdmissionReview");
	stream_open(out, "response", '{');
	stream_bytes(out, "uid", review->uid, review->uid_len);
	stream_bool(out, "allowed", v->allowed);
	if (!v->allowed)
		add_denial(out, v, review);
	add_patch(out, v->patch);
	add_warnings(out, &v->warnings);
	add_annotations(out, v, policy);
	stream_close(out, '}');
	stream_close(out, '}');
}
