/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that may connect to the server: TLS versions and suites, and the
 * matrix of client certificates when a client CA is set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server_fixture.h"

/* --- TLS ------------------------------------------------------------------ */

static const struct {
	const char *what, *priority;
	bool good;
} suites[] = {
	{"the usual", "NORMAL", true},
	{"TLS 1.3", "NORMAL:-VERS-ALL:+VERS-TLS1.3", true},
	{"TLS 1.2", "NORMAL:-VERS-ALL:+VERS-TLS1.2", true},
	{"AES-256", "NORMAL:-CIPHER-ALL:+AES-256-GCM", true},
	{"ChaCha20", "NORMAL:-CIPHER-ALL:+CHACHA20-POLY1305", true},
	{"P-256", "NORMAL:-GROUP-ALL:+GROUP-SECP256R1", true},
	{"TLS 1.1", "NORMAL:-VERS-ALL:+VERS-TLS1.1", false},
	{"TLS 1.0", "NORMAL:-VERS-ALL:+VERS-TLS1.0", false},
	{"CBC",
	 "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CBC:+AES-256-CBC",
	 false},
	{"CCM", "NORMAL:-CIPHER-ALL:+AES-128-CCM:+AES-256-CCM", false},
	{"no forward secrecy", "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+RSA",
	 false},
	{"finite fields",
	 "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+DHE-RSA:-GROUP-ALL:"
	 "+GROUP-FFDHE2048",
	 false},
	{"anonymous", "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+ANON-ECDH",
	 false},
};

/* True if the system lets its clients offer these settings. Some systems forbid
 * weak ones. */
static bool can_offer(const char *priority)
{
	gnutls_priority_t made;

	if (gnutls_priority_init(&made, priority, NULL) < 0)
		return false;
	gnutls_priority_deinit(made);
	return true;
}

static void only_strong_suites_are_accepted(void **state)
{
	struct stage stage;
	struct caller caller;

	(void)state;
	stage_init(&stage);
	stage_start(&stage);
	for (size_t i = 0; i < sizeof(suites) / sizeof(*suites); i++) {
		int code;

		if (!suites[i].good && !can_offer(suites[i].priority)) {
			print_message("  %s: forbidden here\n", suites[i].what);
			continue;
		}
		code = caller_open_as(&caller, &stage, NULL,
				      suites[i].priority);
		print_message("  %s: %s\n", suites[i].what,
			      code < 0 ? gnutls_strerror(code) : "agreed");
		assert_int_equal(code >= 0, suites[i].good);
		if (code < 0)
			continue;
		assert_true(caller_post(&caller, "{}", 2));
		assert_int_equal(caller_status(&caller), 200);
		caller_close(&caller);
	}
	stage_end(&stage);
}

/* A session cannot be resumed, so no certificate check is skipped. */
static void sessions_are_not_resumed(void **state)
{
	static const char *const versions[] = {"NORMAL:-VERS-ALL:+VERS-TLS1.3",
					       "NORMAL:-VERS-ALL:+VERS-TLS1.2"};
	struct stage stage;
	struct caller caller;

	(void)state;
	stage_init(&stage);
	stage_start(&stage);
	for (int i = 0; i < 2; i++) {
		unsigned flags;

		assert_int_equal(
			caller_open_as(&caller, &stage, NULL, versions[i]), 0);
		assert_true(caller_post(&caller, "{}", 2));
		assert_int_equal(caller_status(&caller), 200);
		flags = gnutls_session_get_flags(caller.session);
		assert_false(flags & GNUTLS_SFLAGS_SESSION_TICKET);
		caller_close(&caller);
	}
	stage_end(&stage);
}

/* A client that renegotiates is disconnected. */
static void renegotiation_ends_the_connection(void **state)
{
	struct stage stage;
	struct caller caller;

	(void)state;
	stage_init(&stage);
	stage_start(&stage);
	assert_int_equal(caller_open_as(&caller, &stage, NULL,
					"NORMAL:-VERS-ALL:+VERS-TLS1.2"),
			 0);
	assert_true(caller_post(&caller, "{}", 2));
	assert_int_equal(caller_status(&caller), 200);
	assert_true(gnutls_handshake(caller.session) < 0);
	assert_true(caller_ends(&caller, 2000));
	caller_close(&caller);
	assert_int_equal(stage_ask(&stage, "{}"), 200);
	stage_end(&stage);
}

/* Bytes that are not TLS end only their connection. */
static void garbage_ends_its_connection_only(void **state)
{
	struct stage stage;
	unsigned seed = 1;

	(void)state;
	stage_init(&stage);
	stage_start(&stage);
	for (int i = 0; i < 300; i++) {
		unsigned char bytes[400] = {0x16, 3, 1, 0, 200, 1, 0, 0, 196};
		int fd = dial(server_port(stage.server));

		for (size_t j = i % 3 ? 9 : i % 2; j < sizeof(bytes); j++)
			bytes[j] = (unsigned char)(rand_r(&seed) >> 8);
		assert_int_equal(send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL),
				 sizeof(bytes));
		close(fd);
	}
	assert_int_equal(stage_ask(&stage, "{}"), 200);
	stage_end(&stage);
}

/* Without a pair the handshake fails; with one it succeeds. */
static void without_a_certificate_there_is_no_handshake(void **state)
{
	struct stage stage;
	struct caller caller;
	struct key_store *full;

	(void)state;
	stage_init(&stage);
	full = stage.keys;
	stage.options.keys = key_store_new();
	stage_start(&stage);
	assert_true(caller_open_as(&caller, &stage, NULL, NULL) < 0);
	server_stop(stage.server);
	key_store_free(stage.options.keys);
	stage.options.keys = full;
	stage_start(&stage);
	assert_int_equal(stage_ask(&stage, "{}"), 200);
	stage_end(&stage);
}

/* A new pair is for new connections; the old ones keep theirs. */
static void a_new_pair_is_for_new_connections(void **state)
{
	const struct recipe recipe = {.cn = "other", .san = "DNS:other"};
	struct stage stage;
	struct caller old;
	struct made other = make(&recipe, NULL);
	struct buf cert, key;
	struct err err = {0};

	(void)state;
	buf_init(&cert);
	buf_init(&key);
	pem_cert(&cert, other.cert);
	pem_key(&key, other.key);
	stage_init(&stage);
	stage_start(&stage);
	caller_open(&old, &stage);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(
			key_store_load_pem(stage.keys, &cert, &key, &err), 0);
		assert_int_equal(stage_ask(&stage, "{}"), 200);
		assert_true(caller_post(&old, "{}", 2));
		assert_int_equal(caller_status(&old), 200);
	}
	caller_close(&old);
	stage_end(&stage);
	unmake(&other);
	buf_release(&cert);
	buf_release(&key);
}

/* --- client certificates -------------------------------------------------- */

struct authority {
	struct made ca, other;
	char path[40];
	struct client_ca *store;
};

static void authority_init(struct authority *a)
{
	const struct recipe ca = {.cn = "clients",
				  .constraints = "critical,CA:TRUE",
				  .usage = "critical,keyCertSign"};
	struct err err = {0};
	struct buf pem;
	int fd;

	a->ca = make(&ca, NULL);
	a->other = make(&ca, NULL); /* same name, but a different key */
	strcpy(a->path, "/tmp/gpugate-client-ca-XXXXXX");
	fd = mkstemp(a->path);
	buf_init(&pem);
	pem_cert(&pem, a->ca.cert);
	assert_int_equal(write(fd, pem.data, pem.len), pem.len);
	close(fd);
	buf_release(&pem);
	a->store = client_ca_new();
	assert_int_equal(client_ca_load(a->store, a->path, &err), 0);
}

static void authority_end(struct authority *a)
{
	unlink(a->path);
	client_ca_free(a->store);
	unmake(&a->ca);
	unmake(&a->other);
}

enum signer { CLIENT_CA, OTHER_CA, ITSELF, NOBODY };

static const struct {
	const char *what;
	enum signer signer;
	struct recipe recipe;
	int named, unnamed; /* status with and without --client-name */
} clients[] = {
	{"no certificate", NOBODY, {0}, 403, 403},
	{"the right one",
	 CLIENT_CA,
	 {.cn = "apiserver", .eku = "clientAuth"},
	 200,
	 200},
	{"both purposes",
	 CLIENT_CA,
	 {.cn = "apiserver", .eku = "serverAuth,clientAuth"},
	 200,
	 200},
	{"any purpose", CLIENT_CA, {.cn = "apiserver"}, 200, 200},
	{"the name as SAN",
	 CLIENT_CA,
	 {.cn = "x", .san = "DNS:y,DNS:apiserver", .eku = "clientAuth"},
	 200,
	 200},
	{"RSA",
	 CLIENT_CA,
	 {.kind = "RSA-2048", .cn = "apiserver", .eku = "clientAuth"},
	 200,
	 200},
	{"the wrong name",
	 CLIENT_CA,
	 {.cn = "scheduler", .eku = "clientAuth"},
	 403,
	 200},
	{"a longer name",
	 CLIENT_CA,
	 {.cn = "apiserver2", .eku = "clientAuth"},
	 403,
	 200},
	{"a shorter name",
	 CLIENT_CA,
	 {.cn = "apiserve", .eku = "clientAuth"},
	 403,
	 200},
	{"no name", CLIENT_CA, {.eku = "clientAuth"}, 403, 200},
	{"the name as IP",
	 CLIENT_CA,
	 {.cn = "x", .san = "IP:127.0.0.1", .eku = "clientAuth"},
	 403,
	 200},
	{"for servers only",
	 CLIENT_CA,
	 {.cn = "apiserver", .eku = "serverAuth"},
	 403,
	 403},
	{"for code",
	 CLIENT_CA,
	 {.cn = "apiserver", .eku = "codeSigning"},
	 403,
	 403},
	{"expired",
	 CLIENT_CA,
	 {.cn = "apiserver", .eku = "clientAuth", .from = -7200, .to = -3600},
	 403,
	 403},
	{"not yet valid",
	 CLIENT_CA,
	 {.cn = "apiserver", .eku = "clientAuth", .from = 3600, .to = 7200},
	 403,
	 403},
	{"another CA of that name",
	 OTHER_CA,
	 {.cn = "apiserver", .eku = "clientAuth"},
	 403,
	 403},
	{"signed by itself",
	 ITSELF,
	 {.cn = "apiserver", .eku = "clientAuth"},
	 403,
	 403},
};

static struct caller open_client(const struct stage *stage,
				 const struct authority *a, size_t i)
{
	const struct made *by = clients[i].signer == CLIENT_CA	? &a->ca
				: clients[i].signer == OTHER_CA ? &a->other
								: NULL;
	struct caller caller;
	struct made made;
	int code;

	if (clients[i].signer == NOBODY) {
		assert_int_equal(caller_open_as(&caller, stage, NULL, NULL), 0);
		return caller;
	}
	made = make(&clients[i].recipe, by);
	code = caller_open_as(&caller, stage, &made, NULL);
	assert_int_equal(code, 0);
	unmake(&made);
	return caller;
}

static void try_clients(const struct authority *a, bool named)
{
	const char *const names[] = {"nobody", "apiserver", NULL};
	struct stage stage;
	double refused = 0;

	stage_init(&stage);
	stage.options.client_ca = a->store;
	stage.options.client_names = named ? names : NULL;
	stage_start(&stage);
	for (size_t i = 0; i < sizeof(clients) / sizeof(*clients); i++) {
		int want = named ? clients[i].named : clients[i].unnamed;
		struct caller caller = open_client(&stage, a, i);

		print_message("  %s: %d\n", clients[i].what, want);
		/* On every request, not only the first. */
		for (int j = 0; j < 3; j++) {
			assert_true(caller_post(&caller, "{}", 2));
			assert_int_equal(caller_status(&caller), want);
			refused += want == 403;
		}
		caller_close(&caller);
	}
	assert_true(stage_figure(&stage, "gpugate_client_refused_total") ==
		    refused);
	stage_end(&stage);
}

static void clients_are_let_in_by_their_certificate(void **state)
{
	struct authority a;

	(void)state;
	authority_init(&a);
	print_message("with names\n");
	try_clients(&a, true);
	print_message("without names\n");
	try_clients(&a, false);
	authority_end(&a);
}

/* A certificate that expires while its connection is open. */
static void an_expired_client_is_refused(void **state)
{
	const struct recipe recipe = {
		.cn = "apiserver", .eku = "clientAuth", .from = -60, .to = 4};
	struct authority a;
	struct stage stage;
	struct caller caller;
	struct made made;
	int status = 200;

	(void)state;
	authority_init(&a);
	stage_init(&stage);
	stage.options.client_ca = a.store;
	stage_start(&stage);
	made = make(&recipe, &a.ca);
	assert_int_equal(caller_open_as(&caller, &stage, &made, NULL), 0);
	for (int i = 0; i < 60 && status == 200; i++) {
		assert_true(caller_post(&caller, "{}", 2));
		status = caller_status(&caller);
		if (!i)
			assert_int_equal(status, 200);
		pause_ms(250);
	}
	assert_int_equal(status, 403);
	caller_close(&caller);
	unmake(&made);
	stage_end(&stage);
	authority_end(&a);
}

/* A new authority applies at once, to open connections too. */
static void a_new_authority_counts_at_once(void **state)
{
	const struct recipe recipe = {.cn = "apiserver", .eku = "clientAuth"};
	struct authority a, b;
	struct stage stage;
	struct caller first, second;
	struct made ours, theirs;
	struct err err = {0};

	(void)state;
	authority_init(&a);
	authority_init(&b);
	stage_init(&stage);
	stage.options.client_ca = a.store;
	stage_start(&stage);
	ours = make(&recipe, &a.ca);
	theirs = make(&recipe, &b.ca);
	assert_int_equal(caller_open_as(&first, &stage, &ours, NULL), 0);
	assert_int_equal(caller_open_as(&second, &stage, &theirs, NULL), 0);
	for (int i = 0; i < 5; i++) {
		bool swapped = i % 2;

		if (i)
			assert_int_equal(
				client_ca_load(a.store,
					       swapped ? b.path : a.path, &err),
				0);
		assert_true(caller_post(&first, "{}", 2));
		assert_int_equal(caller_status(&first), swapped ? 403 : 200);
		assert_true(caller_post(&second, "{}", 2));
		assert_int_equal(caller_status(&second), swapped ? 200 : 403);
		/* A broken file changes nothing. */
		assert_int_equal(client_ca_load(a.store, "/dev/null", &err),
				 -1);
	}
	caller_close(&first);
	caller_close(&second);
	stage_end(&stage);
	unmake(&ours);
	unmake(&theirs);
	authority_end(&a);
	authority_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_strong_suites_are_accepted),
		cmocka_unit_test(sessions_are_not_resumed),
		cmocka_unit_test(renegotiation_ends_the_connection),
		cmocka_unit_test(garbage_ends_its_connection_only),
		cmocka_unit_test(without_a_certificate_there_is_no_handshake),
		cmocka_unit_test(a_new_pair_is_for_new_connections),
		cmocka_unit_test(clients_are_let_in_by_their_certificate),
		cmocka_unit_test(an_expired_client_is_refused),
		cmocka_unit_test(a_new_authority_counts_at_once),
	};

	return cmocka_run_group_tests_name("server_client", tests, NULL, NULL);
}
