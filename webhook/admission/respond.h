/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the AdmissionReview of the response (admission.k8s.io/v1) as JSON. */
#ifndef WEBHOOK_RESPOND_H
#define WEBHOOK_RESPOND_H

#include "base/buf.h"
#include "verdict.h"

/* Appends the response to out. policy is the hash of the policy in hexadecimal,
 * for the audit annotation. */
void respond(const struct verdict *verdict, const struct review *review,
	     const char *policy, struct buf *out);

#endif
