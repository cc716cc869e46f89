/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks which clients are allowed. With a client CA, the handshake requests a
 * certificate, but it also succeeds if the client sends none or a wrong one; so
 * each request is checked here and rejected with 403.
 *
 * Verifying a chain costs several times as much as a review. A connection
 * cannot change its certificate (there is neither renegotiation nor
 * post-handshake authentication), but certificates expire. A result is
 * therefore kept for a minute, but at most until the certificate expires or the
 * client CA changes.
 */
#include "server_internal.h"

#include <string.h>
#include <time.h>

#include <gnutls/x509.h>

enum { VERDICT_SECONDS = 60, NAME_MAX_LEN = 256 };

static const struct refusal no_certificate = {
	.status = 403, .text = "a client certificate is required\n"};
static const struct refusal bad_certificate = {
	.status = 403,
	.text = "the client certificate is not valid here: it must be signed by the client CA, currently valid and meant for clients\n"};
static const struct refusal wrong_name = {
	.status = 403,
	.text = "the client certificate's name is not allowed\n"};

static bool is_allowed(const struct server *server, const char *name,
		       size_t len)
{
	/* With a NUL inside, C code would treat two different names as
	 * equal. */
	if (strnlen(name, len) != len)
		return false;
	for (const char *const *n = server->options.client_names; *n; n++)
		if (strlen(*n) == len && !memcmp(*n, name, len))
			return true;
	return false;
}

static bool common_name_allowed(const struct server *server,
				gnutls_x509_crt_t cert)
{
	char name[NAME_MAX_LEN];
	size_t len = sizeof(name);

	return gnutls_x509_crt_get_dn_by_oid(cert, GNUTLS_OID_X520_COMMON_NAME,
					     0, 0, name, &len) >= 0 &&
	       is_allowed(server, name, len);
}

static bool other_name_allowed(const struct server *server,
			       gnutls_x509_crt_t cert)
{
	for (unsigned i = 0;; i++) {
		char name[NAME_MAX_LEN];
		size_t len = sizeof(name);
		int type = gnutls_x509_crt_get_subject_alt_name(cert, i, name,
								&len, NULL);

		if (type == GNUTLS_E_SHORT_MEMORY_BUFFER)
			continue;
		if (type < 0)
			return false;
		if ((type == GNUTLS_SAN_DNSNAME || type == GNUTLS_SAN_URI ||
		     type == GNUTLS_SAN_RFC822NAME) &&
		    is_allowed(server, name, len))
			return true;
	}
}

static const struct refusal *check_name(const struct server *server,
					gnutls_x509_crt_t cert)
{
	if (!server->options.client_names || !*server->options.client_names ||
	    common_name_allowed(server, cert) ||
	    other_name_allowed(server, cert))
		return NULL;
	return &wrong_name;
}

/* Checks the name in the certificate. The result is kept no longer than until
 * the certificate expires. */
static const struct refusal *check_leaf(struct peer *peer,
					const gnutls_datum_t *der)
{
	const struct refusal *verdict = &bad_certificate;
	gnutls_x509_crt_t cert;
	time_t end;

	if (gnutls_x509_crt_init(&cert) < 0)
		return verdict;
	if (gnutls_x509_crt_import(cert, der, GNUTLS_X509_FMT_DER) >= 0) {
		verdict = check_name(peer->server, cert);
		end = gnutls_x509_crt_get_expiration_time(cert);
		if (end < peer->verdict_until)
			peer->verdict_until = end;
	}
	gnutls_x509_crt_deinit(cert);
	return verdict;
}

static const struct refusal *check(struct peer *peer, gnutls_session_t session)
{
	unsigned n;
	const gnutls_datum_t *certs = gnutls_certificate_get_peers(session, &n);

	if (!certs || !n)
		return &no_certificate;
	if (!client_ca_verify(peer->server->options.client_ca, certs, n))
		return &bad_certificate;
	return check_leaf(peer, &certs[0]);
}

const struct refusal *server_check_client(struct peer *peer,
					  struct MHD_Connection *connection)
{
	const struct client_ca *ca = peer->server->options.client_ca;
	const union MHD_ConnectionInfo *info;
	unsigned generation;
	time_t now;

	if (!ca)
		return NULL;
	now = time(NULL);
	generation = client_ca_generation(ca);
	/* The check is repeated if the clock was set back, too. */
	if (now < peer->verdict_since || now > peer->verdict_until ||
	    !peer->verdict_since || generation != peer->verdict_generation) {
		info = MHD_get_connection_info(
			connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
		peer->verdict_generation = generation;
		peer->verdict_since = now;
		peer->verdict_until = now + VERDICT_SECONDS;
		peer->verdict = check(peer, info->tls_session);
	}
	if (peer->verdict)
		metrics_add(peer->server->options.metrics,
			    METRICS_CLIENT_REFUSED, 1);
	return peer->verdict;
}
