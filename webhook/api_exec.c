/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The helper reads a byte, runs the plugin with KUBERNETES_EXEC_INFO
 * (client.authentication.k8s.io: spec.interactive, spec.cluster), and answers
 * with struct answer and so many bytes: what the plugin printed, or why there
 * is nothing. It has no file of ours open but its socket.
 */
#include "api_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api_file.h"
#include "monotonic.h"

enum {
	PLUGIN_SECONDS = 50,
	ASK_SECONDS = 60,
	PRINTED_MAX = 1 << 20,
	COMPLAINT_MAX = 200,
	STEP_MS = 100,
	/* For a plugin that has nothing more to say to come to its end. */
	GRACE_MS = 2000,
	GRACE_STEP_MS = 10,
};

struct api_helper {
	pid_t pid;
	int fd;
};

struct answer {
	int32_t failed;
	uint32_t len;
};

/* --- in the helper -------------------------------------------------------- */

/* What a process prints, on two pipes. */
struct run {
	pid_t pid;
	int out, err;
	struct buf printed, complaint;
};

static json_t *cluster_info(const struct api_config *config)
{
	json_t *info = json_pack("{s:s}", "server", config->server);
	struct buf ca;
	char *text;

	buf_init(&ca);
	if (config->tls_server_name)
		json_object_set_new(info, "tls-server-name",
				    json_string(config->tls_server_name));
	if (config->ca.text)
		buf_adds(&ca, config->ca.text);
	else if (config->ca.path)
		api_file_read(config->ca.path, PRINTED_MAX, &ca, NULL);
	text = malloc(ca.len * 4 / 3 + 8);
	if (ca.len && text) {
		EVP_EncodeBlock((unsigned char *)text,
				(const unsigned char *)ca.data, (int)ca.len);
		json_object_set_new(info, "certificate-authority-data",
				    json_string(text));
	}
	free(text);
	buf_release(&ca);
	return info;
}

static void set_environment(const struct api_config *config)
{
	json_t *info = json_pack("{s:s, s:s, s:{s:b}}", "apiVersion",
				 config->exec->api_version, "kind",
				 "ExecCredential", "spec", "interactive", 0);
	char *text;

	if (config->exec->cluster_info)
		json_object_set_new(json_object_get(info, "spec"), "cluster",
				    cluster_info(config));
	text = json_dumps(info, JSON_COMPACT);
	if (text)
		setenv("KUBERNETES_EXEC_INFO", text, 1);
	free(text);
	json_decref(info);
	for (const char *const *env = config->exec->env; env && *env; env++)
		putenv(strdup(*env));
}

static void plugin(const struct api_config *config, const int out[2],
		   const int err[2])
{
	int null = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	dup2(null, 0);
	dup2(out[1], 1);
	dup2(err[1], 2);
	close_range(3, ~0U, 0);
	set_environment(config);
	execvp(config->exec->argv[0], config->exec->argv);
	fprintf(stderr, "%s", strerror(errno));
	_exit(127);
}

static void close_any(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int begin(struct run *run, const struct api_config *config)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1};

	if (!pipe2(out, O_CLOEXEC) && !pipe2(err, O_CLOEXEC))
		run->pid = fork();
	if (run->pid == 0)
		plugin(config, out, err);
	close_any(out[1]);
	close_any(err[1]);
	run->out = out[0];
	run->err = err[0];
	if (run->pid > 0)
		return 0;
	close_any(out[0]);
	close_any(err[0]);
	return -1;
}

enum drained { DRAIN_MORE, DRAIN_END, DRAIN_TOO_LONG };

static enum drained drain(int fd, struct buf *to)
{
	char chunk[4096];
	ssize_t n = read(fd, chunk, sizeof(chunk));

	if (n < 0 && errno == EINTR)
		return DRAIN_MORE;
	if (n <= 0)
		return DRAIN_END;
	if (to->len + (size_t)n > PRINTED_MAX)
		return DRAIN_TOO_LONG;
	buf_add(to, chunk, (size_t)n);
	return DRAIN_MORE;
}

/* Until both pipes end; false when the time is over, or it is too much. */
static bool read_both(struct run *run)
{
	struct pollfd fds[2] = {{run->out, POLLIN, 0}, {run->err, POLLIN, 0}};
	struct buf *const texts[2] = {&run->printed, &run->complaint};
	int64_t end = monotonic_ms() + PLUGIN_SECONDS * 1000;

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (monotonic_ms() >= end)
			return false;
		poll(fds, 2, STEP_MS);
		for (int i = 0; i < 2; i++) {
			enum drained drained = DRAIN_MORE;

			if (fds[i].fd >= 0 && fds[i].revents)
				drained = drain(fds[i].fd, texts[i]);
			if (drained == DRAIN_TOO_LONG)
				return false;
			if (drained == DRAIN_END)
				fds[i].fd = -1;
		}
	}
	return true;
}

/* What became of the plugin, which is gone then. One that closed its pipes
 * may still run. */
static int finish(struct run *run)
{
	int64_t end = read_both(run) ? monotonic_ms() + GRACE_MS : 0;
	int status = -1;
	pid_t gone;

	close(run->out);
	close(run->err);
	while (!(gone = waitpid(run->pid, &status, WNOHANG)) &&
	       monotonic_ms() < end)
		poll(NULL, 0, GRACE_STEP_MS);
	if (gone)
		return status;
	kill(run->pid, SIGKILL);
	while (waitpid(run->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void tell(int fd, bool failed, const struct buf *text)
{
	struct answer answer = {failed, (uint32_t)text->len};
	size_t done = 0;

	if (send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
		_exit(0);
	while (done < text->len) {
		ssize_t n = send(fd, text->data + done, text->len - done,
				 MSG_NOSIGNAL);

		if (n <= 0)
			_exit(0);
		done += (size_t)n;
	}
}

static void serve_one(const struct api_config *config, int fd)
{
	struct run run = {.pid = -1};
	int status = begin(&run, config) ? -1 : finish(&run);
	struct buf why;

	buf_init(&why);
	if (status == 0) {
		tell(fd, false, &run.printed);
	} else {
		/* The last words say most. */
		size_t len = run.complaint.len;
		size_t from = len > COMPLAINT_MAX ? len - COMPLAINT_MAX : 0;

		while (len > from && run.complaint.data[len - 1] == '\n')
			len--;
		buf_add(&why, run.complaint.data + from, len - from);
		if (!why.len)
			buf_adds(&why, WIFSIGNALED(status)
					       ? "it was killed"
					       : "it failed without a word");
		tell(fd, true, &why);
	}
	buf_release(&why);
	buf_release(&run.printed);
	buf_release(&run.complaint);
}

__attribute__((noreturn)) static void helper(const struct api_config *config,
					     int fd)
{
	sigset_t none;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* A Ctrl-C is meant for the daemon, which may drain for a while. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_IGN);
	if (fd != 3)
		dup2(fd, 3);
	close_range(4, ~0U, 0);
	fcntl(3, F_SETFD, FD_CLOEXEC);
	while (recv(3, &byte, 1, 0) == 1)
		serve_one(config, 3);
	_exit(0);
}

/* --- asking it ------------------------------------------------------------ */

struct api_helper *api_helper_start(const struct api_config *config,
				    struct err *err)
{
	struct api_helper *h = calloc(1, sizeof(*h));
	int pair[2];

	if (!h)
		BUG("out of memory");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		err_set(err, errno, "no socket: %s", strerror(errno));
		free(h);
		return NULL;
	}
	h->pid = fork();
	if (h->pid == 0)
		helper(config, pair[1]);
	close(pair[1]);
	h->fd = pair[0];
	if (h->pid > 0)
		return h;
	err_set(err, errno, "no process for the credential plugin: %s",
		strerror(errno));
	close(h->fd);
	free(h);
	return NULL;
}

static int receive(struct api_helper *h, const atomic_bool *stop, void *to,
		   size_t len)
{
	struct pollfd fd = {h->fd, POLLIN, 0};
	int64_t end = monotonic_ms() + ASK_SECONDS * 1000;
	size_t done = 0;

	while (done < len) {
		ssize_t n;

		if ((stop && atomic_load(stop)) || monotonic_ms() > end)
			return -1;
		if (poll(&fd, 1, STEP_MS) <= 0)
			continue;
		n = recv(h->fd, (char *)to + done, len - done, 0);
		if (n == 0 || (n < 0 && errno != EINTR))
			return -1;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* An answer that nobody waited for must not be taken for the next one. */
static int lost(struct api_helper *h, struct err *err)
{
	shutdown(h->fd, SHUT_RDWR);
	return err_set(err, 0, "the credential plugin does not answer");
}

int api_helper_ask(struct api_helper *h, const atomic_bool *stop,
		   struct buf *out, struct err *err)
{
	struct answer answer;
	size_t start = out->len;

	if (send(h->fd, "?", 1, MSG_NOSIGNAL) != 1 ||
	    receive(h, stop, &answer, sizeof(answer)) ||
	    answer.len > PRINTED_MAX)
		return lost(h, err);
	buf_grow(out, answer.len + 1);
	if (receive(h, stop, out->data + start, answer.len))
		return lost(h, err);
	out->len += answer.len;
	out->data[out->len] = '\0';
	if (!answer.failed)
		return 0;
	err_set(err, 0, "credential plugin: %.300s", out->data + start);
	out->len = start;
	return -1;
}

void api_helper_stop(struct api_helper *h)
{
	if (!h)
		return;
	close(h->fd);
	kill(h->pid, SIGKILL);
	while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(h);
}
