/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppression in the manifest: comments on the line or the line above,
 * ignore-file comments, and gpugate.dev/ignore annotations on the object or its
 * pod template. Unused, expired and rejected ones become findings
 * (suppression-unused, -expired, -refused); locked rules refuse all.
 */
#ifndef ENGINE_SUPPRESS_H
#define ENGINE_SUPPRESS_H

#include <stdint.h>

#include "base/arena.h"
#include "doc/load.h"
#include "engine/finding.h"
#include "engine/policy.h"

struct suppressions; /* of one file */

/*
 * Reads all `# gpugate:` comments of a file. Cheap without any. today is days
 * since 1970-01-01 UTC (for until=). suppressions_finish() reports malformed
 * comments as findings. admission: NULL, or the policy at admission:
 * annotations suppress only what it grants, comments only what it does not
 * deny, because they do not reach it.
 */
struct suppressions *suppressions_scan(struct arena *arena,
				       struct source *source, int64_t today,
				       const struct policy *admission);
/* Scans for annotations alone: comments do not reach admission. */
struct suppressions *suppressions_granted(struct arena *arena,
					  struct source *source, int64_t today,
					  const struct policy *policy);
/* Comments inside scalars (block scalars, quoted text) are not comments. */
void suppressions_exclude(struct suppressions *s, const struct doc *doc);
/*
 * Notes the annotations of an object of the file, with or without findings, so
 * that unused ones are found (suppressions_apply() sees only objects with
 * findings, and notes those itself).
 */
void suppressions_object(struct suppressions *s, const struct object *object);
/* True if anything so far suppresses a finding, or tries to. */
bool suppressions_any(const struct suppressions *s);
/*
 * The effective settings, in the order of the rules passed to
 * suppressions_finish(): a suppression of a rule that is off is not reported as
 * unused. Without this call all rules are on.
 */
void suppressions_settings(struct suppressions *s,
			   const struct setting *settings);
/* Part of the file is unknown: none of these is reported as unused. */
void suppressions_unsure(struct suppressions *s, bool comments,
			 bool annotations);
/* Marks the finding as suppressed if a comment or an annotation of object (may
 * be NULL) covers it. setting has the rule's lock. */
void suppressions_apply(struct suppressions *s, const struct object *object,
			const struct setting *setting, struct finding *finding);
/* True if the admission policy denies the finding, whose severity a local
 * policy may have raised. */
bool finding_is_denied_by(const struct policy *admission,
			  const struct finding *finding);
/*
 * After all findings of the file: call add for every comment or annotation that
 * suppressed nothing or is expired or malformed. A missing reason and an
 * unknown name are reported as malformed, but the rest of it still suppresses.
 * A rejected suppression is reported once per rule. A suppression of a rule
 * that looks at other objects is never reported as unused, because those rules
 * run after the file is finished.
 */
enum suppression_trouble {
	SUPPRESSION_UNUSED,
	SUPPRESSION_EXPIRED,
	SUPPRESSION_MALFORMED,
	SUPPRESSION_REFUSED,
};
struct suppression_issue {
	enum suppression_trouble kind;
	uint32_t start, end; /* bytes in the source */
	/* Annotations: the pointer, in scan's arena; NULL for a comment. */
	const char *pointer;
	unsigned document;
	uint64_t named_path; /* node_named_path() below the object */
	struct object_id id;
	const char *text;
};
void suppressions_finish(struct suppressions *s, const struct rule_set *rules,
			 void (*add)(void *context,
				     const struct suppression_issue *issue),
			 void *context);
/* Reports only the rejected ones, of a file that is finished. */
void suppressions_finish_refused(
	struct suppressions *s,
	void (*add)(void *context, const struct suppression_issue *issue),
	void *context);

#endif
