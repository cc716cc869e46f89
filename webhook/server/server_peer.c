/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and ends connections. */
#include <stdlib.h>
#include <sys/socket.h>

#include "server_internal.h"

static void opened(struct server_thread *thread,
		   struct MHD_Connection *connection, void **context)
{
	struct server *server = thread->server;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct peer *peer = calloc(1, sizeof(*peer));

	/* Without memory for a peer, the connection is shut down; bytes that
	 * have arrived may still be read. */
	if (!peer) {
		shutdown(info->connect_fd, SHUT_RDWR);
		return;
	}
	peer->server = server;
	peer->thread = thread;
	thread->shaking++;
	*context = peer;
	connection_enter(server->table, &peer->connection, info->connect_fd,
			 PHASE_HANDSHAKE);
	server_tls_attach(peer, connection);
}

static void closed(void **context)
{
	struct peer *peer = *context;

	if (!peer->agreed)
		peer->thread->shaking--;
	connection_leave(&peer->connection);
	server_wire_detach(peer);
	key_pair_drop(peer->pair);
	free(peer);
	*context = NULL;
}

void server_connection(void *cls, struct MHD_Connection *connection,
		       void **context, enum MHD_ConnectionNotificationCode code)
{
	struct server_thread *thread = cls;

	thread->moves++;
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		opened(thread, connection, context);
	else if (*context)
		closed(context);
	metrics_set(thread->server->options.metrics, METRICS_CONNECTIONS,
		    connection_table_count(thread->server->table));
}
