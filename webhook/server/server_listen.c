/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the listening sockets. libmicrohttpd could open them too, but here one
 * socket accepts both IPv6 and IPv4, or IPv4 alone if the kernel lacks IPv6,
 * and error messages describe the problem of an address.
 */
#include "server_listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOST_MAX = 256 };

/* Splits "[host]:port" or "host:port". Returns the port, a pointer into the
 * address. */
static const char *split(const char *address, char host[HOST_MAX])
{
	const char *colon = strrchr(address, ':');
	const char *start = address, *end = colon;

	if (!colon || !colon[1])
		return NULL;
	if (*start == '[') {
		start++;
		if (end[-1] != ']' || --end <= start)
			return NULL;
	} else if (memchr(start, ':', (size_t)(end - start))) {
		return NULL;
	}
	if ((size_t)(end - start) >= HOST_MAX)
		return NULL;
	memcpy(host, start, (size_t)(end - start));
	host[end - start] = '\0';
	return colon + 1;
}

static int open_one(const struct addrinfo *info)
{
	int fd = socket(info->ai_family,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int yes = 1, no = 0, saved;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (info->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	/* Accepted sockets inherit this option. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (!bind(fd, info->ai_addr, info->ai_addrlen) && !listen(fd, 4096))
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

/*
 * Opens a socket for one address of the list. Without a host, IPv6 is tried
 * first, because that socket also accepts IPv4. If a name has addresses of both
 * kinds (localhost), the IPv4 address is tried first, as in Go programs.
 */
static int open_any(const struct addrinfo *list, bool named)
{
	const int families[] = {named ? AF_INET : AF_INET6,
				named ? AF_INET6 : AF_INET};
	int fd = -1;

	for (int i = 0; i < 2 && fd < 0; i++)
		for (const struct addrinfo *a = list; a && fd < 0;
		     a = a->ai_next)
			if (a->ai_family == families[i])
				fd = open_one(a);
	return fd;
}

int server_listen(const char *address, struct err *err)
{
	const struct addrinfo hints = {.ai_flags = AI_PASSIVE,
				       .ai_socktype = SOCK_STREAM};
	char host[HOST_MAX];
	const char *port = split(address, host);
	struct addrinfo *list;
	int code, fd;

	if (!port)
		return err_set(
			err, 0,
			"'%s' is not an address to listen on: expected HOST:PORT",
			address);
	code = getaddrinfo(*host ? host : NULL, port, &hints, &list);
	if (code)
		return err_set(err, 0, "cannot listen on '%s': %s", address,
			       gai_strerror(code));
	fd = open_any(list, *host != '\0');
	code = errno;
	freeaddrinfo(list);
	if (fd < 0)
		return err_set(err, code, "cannot listen on '%s': %s", address,
			       strerror(code));
	return fd;
}

unsigned server_listen_port(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} name = {.v6 = {0}};
	socklen_t len = sizeof(name);

	if (getsockname(fd, &name.any, &len))
		return 0;
	return ntohs(name.any.sa_family == AF_INET6 ? name.v6.sin6_port
						    : name.v4.sin_port);
}
