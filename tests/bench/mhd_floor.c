/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the least time that libmicrohttpd needs for a review: TLS, the body
 * read and dropped, a prepared reply of 140 bytes. Any additional time is due
 * to the webhook. Prints "listening PORT" and serves until SIGTERM.
 *
 * Usage: mhd_floor CERT KEY [THREADS]
 */
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char body[] =
	"{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
	"\"response\":{\"uid\":\"00000000-0000-0000-0000-000000000000\","
	"\"allowed\":true}}\n";

static enum MHD_Result answer(void *cls, struct MHD_Connection *connection,
			      const char *url, const char *method,
			      const char *version, const char *upload,
			      size_t *upload_len, void **context)
{
	(void)url;
	(void)method;
	(void)version;
	(void)upload;
	if (!*context) {
		*context = cls;
		return MHD_YES;
	}
	if (*upload_len) {
		*upload_len = 0;
		return MHD_YES;
	}
	return MHD_queue_response(connection, 200, cls);
}

/* Returns the file's text, in one of two static buffers. */
static char *read_file(const char *path)
{
	static char texts[2][1 << 16];
	static int used;
	char *text = texts[used++];
	FILE *file = fopen(path, "re");

	if (!file || !fread(text, 1, sizeof(texts[0]) - 1, file)) {
		perror(path);
		exit(2);
	}
	fclose(file);
	return text;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 2;
	struct MHD_Response *response = MHD_create_response_from_buffer(
		sizeof(body) - 1, (void *)(size_t)body, MHD_RESPMEM_PERSISTENT);
	struct MHD_Daemon *daemon;
	sigset_t set;
	int sig;

	if (argc < 3)
		return 2;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	MHD_add_response_header(response, "Content-Type", "application/json");
	daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS |
			MHD_USE_ITC,
		0, NULL, NULL, answer, response, MHD_OPTION_THREAD_POOL_SIZE,
		threads > 1 ? threads : 0, MHD_OPTION_HTTPS_MEM_CERT,
		read_file(argv[1]), MHD_OPTION_HTTPS_MEM_KEY,
		read_file(argv[2]), MHD_OPTION_END);
	if (!daemon)
		return 1;
	printf("listening %u\n",
	       MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
	fflush(stdout);
	sigwait(&set, &sig);
	MHD_stop_daemon(daemon);
	MHD_destroy_response(response);
	return 0;
}
