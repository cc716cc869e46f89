/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS 1.2 and 1.3 with forward secrecy and authenticated encryption.
 * libmicrohttpd never enables session tickets and resumption, so each
 * connection does a full handshake. A client that renegotiates is disconnected:
 * libmicrohttpd treats that as an error.
 */
#include "server_internal.h"

const char *const server_priorities =
	"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
	":-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305"
	":-MAC-ALL:+AEAD"
	":-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA"
	":-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1"
	":-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1"
	":%SAFE_RENEGOTIATION:%SERVER_PRECEDENCE";

/* NOLINTNEXTLINE(readability-function-size): signature of the library. */
int server_choose_certificate(gnutls_session_t session,
			      const gnutls_datum_t *ca_names, int ncas,
			      const gnutls_pk_algorithm_t *algorithms,
			      int nalgorithms, gnutls_pcert_st **certs,
			      unsigned *ncerts, gnutls_privkey_t *key)
{
	struct peer *peer = server_peer(gnutls_session_get_ptr(session));

	if (!peer)
		return -1;
	if (!peer->pair)
		peer->pair = key_store_take(peer->server->options.keys);
	return key_pair_give(peer->pair, certs, ncerts, key);
}

/* The client's Finished is its last message of a handshake, so the handshake
 * time ends here. */
static int on_finished(gnutls_session_t session, unsigned type, unsigned when,
		       unsigned incoming, const gnutls_datum_t *message)
{
	struct peer *peer = server_peer(gnutls_session_get_ptr(session));

	if (!incoming)
		return 0;
	connection_phase(&peer->connection, PHASE_IDLE);
	if (!peer->agreed)
		peer->thread->shaking--;
	peer->agreed = true;
	return 0;
}

void server_tls_attach(struct peer *peer, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	gnutls_session_t session = info->tls_session;

	server_wire_attach(peer, session);
	if (peer->server->options.client_ca)
		gnutls_certificate_server_set_request(session,
						      GNUTLS_CERT_REQUEST);
	gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_FINISHED,
					   GNUTLS_HOOK_POST, on_finished);
}
