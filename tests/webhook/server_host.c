/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the server alone, in front of a webhook that checks nothing, for tests
 * with load and slow clients:
 *
 *	server_host CERT KEY PROBE-ADDRESS [name=value]...
 *	listen=ADDRESS threads=N max_body=N max_in_flight=N max_connections=N
 *	handshake=S header=S body=S idle=S client_ca=FILE client_name=NAME
 *
 * Prints "listening PORT PROBE-PORT". After SIGTERM it ends when no connection
 * is open, but not before 3 and not after 20 seconds. SIGUSR1 prints figures.
 */
#include <signal.h>
#include <unistd.h>

#include "tests/unit/server_stub.h"
#include "webhook/server/server.h"

static const char *value_of(char **argv, const char *name, const char *def)
{
	size_t n = strlen(name);

	for (; *argv; argv++)
		if (!strncmp(*argv, name, n) && (*argv)[n] == '=')
			return *argv + n + 1;
	return def;
}

static unsigned number_of(char **argv, const char *name, unsigned def)
{
	const char *text = value_of(argv, name, NULL);

	return text ? (unsigned)strtoul(text, NULL, 10) : def;
}

static const char *draining;

static const char *not_ready(void *context)
{
	(void)context;
	return __atomic_load_n(&draining, __ATOMIC_RELAXED);
}

static void drain(struct server *server)
{
	__atomic_store_n(&draining, "draining", __ATOMIC_RELAXED);
	server_drain(server);
	for (int i = 0; i < 200 && (i < 30 || server_connections(server)); i++)
		usleep(100000);
}

int main(int argc, char **argv)
{
	struct err err = {0};
	struct admission admission;
	struct metrics *metrics = metrics_new();
	struct log *log =
		log_new(2, getenv("DEBUG") ? LOG_DEBUG : LOG_WARN, false);
	struct key_store *keys = key_store_new();
	const char *names[] = {NULL, NULL};
	const char *ca_path;
	struct client_ca *ca;
	struct server_options options;
	struct probe_options probe_options;
	struct server *server;
	struct probe *probe;
	sigset_t set;
	int sig = 0;

	if (argc < 4)
		return 2;
	names[0] = value_of(argv, "client_name", NULL);
	ca_path = value_of(argv, "client_ca", NULL);
	ca = ca_path ? client_ca_new() : NULL;
	options = (struct server_options){
		.listen = value_of(argv, "listen", "127.0.0.1:0"),
		.threads = number_of(argv, "threads", 2),
		.max_body = number_of(argv, "max_body", 7 << 20),
		.max_in_flight = number_of(argv, "max_in_flight", 1000),
		.max_connections = number_of(argv, "max_connections", 4096),
		.handshake_seconds = number_of(argv, "handshake", 10),
		.header_seconds = number_of(argv, "header", 10),
		.body_seconds = number_of(argv, "body", 30),
		.idle_seconds = number_of(argv, "idle", 300),
		.client_ca = ca,
		.client_names = names[0] ? names : NULL,
		.keys = keys,
		.admission = &admission,
		.metrics = metrics,
		.log = log,
	};
	probe_options = (struct probe_options){
		.listen = argv[3], .metrics = metrics, .not_ready = not_ready};
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (key_store_load(keys, argv[1], argv[2], &err) < 0 ||
	    (ca && client_ca_load(ca, ca_path, &err) < 0) ||
	    !(server = server_start(&options, &err)) ||
	    !(probe = probe_start(&probe_options, &err))) {
		fprintf(stderr, "server_host: %s\n", err.text);
		return 1;
	}
	printf("listening %u %u\n", server_port(server), probe_port(probe));
	fflush(stdout);
	while (sigwait(&set, &sig) == 0 && sig != SIGTERM) {
		printf("connections %u in-flight %u\n",
		       server_connections(server), server_in_flight(server));
		fflush(stdout);
	}
	drain(server);
	server_stop(server);
	probe_stop(probe);
	key_store_free(keys);
	client_ca_free(ca);
	log_free(log);
	metrics_free(metrics);
	return 0;
}
