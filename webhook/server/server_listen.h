/* SPDX-License-Identifier: Apache-2.0 */
/* Opens listening sockets: ":8443", "127.0.0.1:0", "[::1]:8443". */
#ifndef WEBHOOK_SERVER_LISTEN_H
#define WEBHOOK_SERVER_LISTEN_H

#include "base/err.h"

/* Returns the descriptor of the socket, or -1. An empty host means all
 * addresses, IPv6 and IPv4. */
int server_listen(const char *address, struct err *err);
unsigned server_listen_port(int fd);

#endif
