/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table of connections, and the thread (watchdog) that enforces their
 * deadlines; see connection.h.
 *
 * When the table is nearly full, new clients would wait in the listen queue
 * because of idle connections. The watchdog then closes connections that never
 * had a reply and have no request in flight, oldest first, then the ones that
 * are idle longest.
 */
#include "connection.h"

#include <errno.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

enum {
	PHASE_BITS = 3,
	TICK_MS = 100,
	GRACE_MS = 1000, /* younger connections are not closed */
	SLOW_MS = 250,	 /* a body or reply that takes longer is slow */
	/* connections opened or closed before malloc_trim() */
	TRIM_AFTER = 256,
};

struct connection_table {
	struct connection_limits limits;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct connection *first; /* newest first; under the lock */
	atomic_uint count, slow;
	/* connections opened and closed so far, and the same number at the
	 * last malloc_trim(); under the lock */
	unsigned moves, trimmed;
	bool stopping; /* under the lock */
	pthread_t watchdog;
	uint32_t *ages; /* array of limits.max items, used by the watchdog */
};

/* --- phases --------------------------------------------------------------- */

static uint64_t now_ms(void)
{
	struct timespec ts;

	/* This clock is exact to some milliseconds; reading it takes a fifth of
	 * the time of CLOCK_MONOTONIC. */
	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static enum phase phase_of(uint64_t state)
{
	return state & ((1 << PHASE_BITS) - 1);
}

static uint64_t age_ms(uint64_t state, uint64_t now)
{
	uint64_t began = state >> PHASE_BITS;

	return now > began ? now - began : 0;
}

void connection_phase(struct connection *c, enum phase phase)
{
	uint64_t before = atomic_exchange_explicit(
		&c->state, now_ms() << PHASE_BITS | phase,
		memory_order_relaxed);

	if (phase_of(before) == PHASE_SLOW)
		atomic_fetch_sub(&c->table->slow, 1);
}

void connection_heard(struct connection *c)
{
	if (phase_of(atomic_load_explicit(&c->state, memory_order_relaxed)) ==
	    PHASE_IDLE)
		connection_phase(c, PHASE_HEADER);
}

/* --- the watchdog --------------------------------------------------------- */

/* Shuts down the connection, unless its phase has changed since it was seen. */
static void cut_connection(struct connection_table *table, struct connection *c,
			   uint64_t seen)
{
	if (!atomic_compare_exchange_strong(&c->state, &seen, PHASE_CUT))
		return;
	if (phase_of(seen) == PHASE_SLOW)
		atomic_fetch_sub(&table->slow, 1);
	if (table->limits.cut)
		table->limits.cut(table->limits.context, phase_of(seen));
	shutdown(c->fd, SHUT_RDWR);
}

/* Marks the connection as slow. The time at which its phase began is kept, so
 * its deadline stays the same. */
static void mark_slow(struct connection_table *table, struct connection *c,
		      uint64_t seen)
{
	uint64_t mask = (1 << PHASE_BITS) - 1;

	/* The count is raised first, because the thread of the connection
	 * lowers it as soon as it sees the phase. */
	atomic_fetch_add(&table->slow, 1);
	if (!atomic_compare_exchange_strong(&c->state, &seen,
					    (seen & ~mask) | PHASE_SLOW))
		atomic_fetch_sub(&table->slow, 1);
}

static void check_connection(struct connection_table *table,
			     struct connection *c, uint64_t now)
{
	uint64_t state = atomic_load(&c->state);
	enum phase phase = phase_of(state);
	uint64_t limit = table->limits.seconds[phase] * 1000;

	if (limit && age_ms(state, now) > limit)
		cut_connection(table, c, state);
	else if ((phase == PHASE_BODY || phase == PHASE_REPLY) &&
		 age_ms(state, now) > SLOW_MS)
		mark_slow(table, c, state);
}

/* Returns true for a connection that never had a reply and has not sent the
 * headers of a request (here called a squatter). */
static bool is_squatter(const struct connection *c, uint64_t state)
{
	enum phase phase = phase_of(state);

	return !atomic_load(&c->served) &&
	       (phase == PHASE_HANDSHAKE || phase == PHASE_IDLE ||
		phase == PHASE_HEADER);
}

static bool any_squatter(const struct connection_table *table)
{
	for (const struct connection *c = table->first; c; c = c->next)
		if (is_squatter(c, atomic_load(&c->state)))
			return true;
	return false;
}

/* Returns the age in ms of a connection that may be closed, or 0 for all
 * others. */
static uint32_t uselessness(const struct connection *c, uint64_t state,
			    bool squatters, uint64_t now)
{
	uint64_t age = age_ms(state, now);

	if (is_squatter(c, state) != squatters || age <= GRACE_MS ||
	    (!squatters && phase_of(state) != PHASE_IDLE))
		return 0;
	return age < UINT32_MAX ? (uint32_t)age : UINT32_MAX;
}

static int descending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x < y) - (x > y);
}

/* Returns the age of the n-th oldest connection that may be closed, or of the
 * youngest if they are fewer. Returns UINT32_MAX if no connection may be
 * closed. */
static uint32_t nth_age(struct connection_table *table, bool squatters,
			unsigned n, uint64_t now)
{
	unsigned known = 0;

	for (struct connection *c = table->first;
	     c && known < table->limits.max; c = c->next) {
		uint32_t age =
			uselessness(c, atomic_load(&c->state), squatters, now);

		if (age)
			table->ages[known++] = age;
	}
	if (!known)
		return UINT32_MAX;
	qsort(table->ages, known, sizeof(*table->ages), descending);
	return table->ages[known < n ? known - 1 : n - 1];
}

/*
 * Closes connections, oldest first. If there are young squatters, idle
 * connections are kept and the squatters are closed a second later. The list is
 * read at most three times, however many connections are closed, because each
 * client that connects or leaves waits meanwhile.
 */
static void shed(struct connection_table *table, uint64_t now)
{
	unsigned limit = table->limits.max - table->limits.max / 8;
	unsigned count = connection_table_count(table), left;
	bool squatters;
	uint32_t age;

	if (!table->limits.max || count <= limit)
		return;
	left = count - limit;
	squatters = any_squatter(table);
	age = nth_age(table, squatters, left, now);
	for (struct connection *c = table->first; c && left; c = c->next) {
		uint64_t state = atomic_load(&c->state);

		if (uselessness(c, state, squatters, now) < age)
			continue;
		/* Closes the connection, unless a request has arrived
		 * meanwhile. */
		cut_connection(table, c, state);
		left--;
	}
}

static unsigned handshakes(const struct connection_table *table)
{
	unsigned n = 0;

	for (const struct connection *c = table->first; c; c = c->next)
		n += phase_of(atomic_load(&c->state)) == PHASE_HANDSHAKE;
	return n;
}

/*
 * Returns free memory to the system. A handshake needs twice the memory that a
 * connection keeps. After many handshakes at once, as when an API server
 * starts, free memory remains between blocks in use: 10 MB for 1,000
 * connections, even after they are closed.
 */
static void give_back(struct connection_table *table)
{
	if (table->moves - table->trimmed < TRIM_AFTER ||
	    handshakes(table) > TRIM_AFTER / 16)
		return;
	table->trimmed = table->moves;
	/* malloc_trim() takes milliseconds, so the lock is released for other
	 * connections. */
	pthread_mutex_unlock(&table->lock);
	malloc_trim(0);
	pthread_mutex_lock(&table->lock);
}

static void *watch(void *arg)
{
	struct connection_table *table = arg;
	struct timespec until;
	uint64_t now;

	pthread_mutex_lock(&table->lock);
	clock_gettime(CLOCK_MONOTONIC, &until);
	while (!table->stopping) {
		until.tv_nsec += TICK_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&table->wake, &table->lock, &until);
		now = now_ms();
		for (struct connection *c = table->first; c; c = c->next)
			check_connection(table, c, now);
		shed(table, now);
		give_back(table);
	}
	pthread_mutex_unlock(&table->lock);
	return NULL;
}

/* --- the table ------------------------------------------------------------ */

struct connection_table *
connection_table_new(const struct connection_limits *limits)
{
	struct connection_table *table = calloc(1, sizeof(*table));
	pthread_condattr_t attributes;

	if (!table)
		OUT_OF_MEMORY();
	table->limits = *limits;
	table->ages = calloc(limits->max + 1, sizeof(*table->ages));
	if (!table->ages)
		OUT_OF_MEMORY();
	pthread_mutex_init(&table->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&table->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	if (!pthread_create(&table->watchdog, NULL, watch, table))
		return table;
	table->stopping = true;
	connection_table_free(table);
	return NULL;
}

void connection_table_stop(struct connection_table *table)
{
	pthread_mutex_lock(&table->lock);
	table->stopping = true;
	pthread_cond_signal(&table->wake);
	pthread_mutex_unlock(&table->lock);
	pthread_join(table->watchdog, NULL);
}

void connection_table_free(struct connection_table *table)
{
	pthread_cond_destroy(&table->wake);
	pthread_mutex_destroy(&table->lock);
	free(table->ages);
	free(table);
}

unsigned connection_table_count(const struct connection_table *table)
{
	return atomic_load(&table->count);
}

unsigned connection_table_slow(const struct connection_table *table)
{
	return atomic_load_explicit(&table->slow, memory_order_relaxed);
}

void connection_enter(struct connection_table *table, struct connection *c,
		      int fd, enum phase phase)
{
	c->fd = fd;
	c->table = table;
	connection_phase(c, phase);
	pthread_mutex_lock(&table->lock);
	c->next = table->first;
	c->link = &table->first;
	if (c->next)
		c->next->link = &c->next;
	table->first = c;
	table->moves++;
	atomic_fetch_add(&table->count, 1);
	pthread_mutex_unlock(&table->lock);
}

void connection_leave(struct connection *c)
{
	struct connection_table *table = c->table;

	connection_phase(c, PHASE_CUT);
	pthread_mutex_lock(&table->lock);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	table->moves++;
	atomic_fetch_sub(&table->count, 1);
	pthread_mutex_unlock(&table->lock);
}

/*
 * Opens the listening sockets. libmicrohttpd could open them too, but here one
 * socket accepts both IPv6 and IPv4, or IPv4 alone if the kernel lacks IPv6,
 * and error messages describe the problem of an address.
 */

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
