/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of client CAs: which are accepted, which clients they admit, and that
 * verification continues while a file is replaced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "certs_fixture.h"
#include "webhook/tls/key_store.h"

enum { OLD, NEW, PAST, CAS };

struct place {
	char path[40];
	struct client_ca *store;
	struct made cas[CAS], clients[CAS];
	struct buf pems[CAS];
	gnutls_datum_t chains[CAS];
};

static const struct recipe client = {.cn = "apiserver", .eku = "clientAuth"};

static gnutls_datum_t der_of(const struct made *made)
{
	unsigned char *der = NULL;
	int len = i2d_X509(made->cert, &der);

	assert_true(len > 0);
	return (gnutls_datum_t){der, (unsigned)len};
}

static int setup(void **state)
{
	struct recipe ca = {.constraints = "critical,CA:TRUE",
			    .usage = "critical,keyCertSign"};
	static const char *const names[CAS] = {"old", "new", "past"};
	struct place *p = calloc(1, sizeof(*p));

	strcpy(p->path, "/tmp/gpugate-client-ca-XXXXXX");
	close(mkstemp(p->path));
	p->store = client_ca_new();
	for (int i = 0; i < CAS; i++) {
		ca.cn = names[i];
		ca.from = i == PAST ? -7200 : 0;
		ca.to = i == PAST ? -3600 : 0;
		p->cas[i] = make(&ca, NULL);
		p->clients[i] = make(&client, &p->cas[i]);
		p->chains[i] = der_of(&p->clients[i]);
		buf_init(&p->pems[i]);
		pem_cert(&p->pems[i], p->cas[i].cert);
	}
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	unlink(p->path);
	client_ca_free(p->store);
	for (int i = 0; i < CAS; i++) {
		unmake(&p->cas[i]);
		unmake(&p->clients[i]);
		OPENSSL_free(p->chains[i].data);
		buf_release(&p->pems[i]);
	}
	free(p);
	return 0;
}

static void put(const struct place *p, const char *text, size_t len)
{
	FILE *file = fopen(p->path, "w");

	assert_non_null(file);
	fwrite(text, 1, len, file);
	fclose(file);
}

static int load(const struct place *p, struct err *err)
{
	memset(err, 0, sizeof(*err));
	return client_ca_load(p->store, p->path, err);
}

static int load_text(const struct place *p, const struct buf *text)
{
	struct err err;

	put(p, text->data, text->len);
	return load(p, &err);
}

static bool lets_in(const struct place *p, int i)
{
	return client_ca_verify(p->store, &p->chains[i], 1);
}

static void an_empty_store_rejects_all_clients(void **state)
{
	struct place *p = *state;
	struct buf text;

	buf_init(&text);
	client_ca_describe(p->store, &text);
	assert_string_equal(text.data, "none");
	assert_int_equal(client_ca_generation(p->store), 0);
	assert_int_equal(client_ca_expiry(p->store), 0);
	assert_false(lets_in(p, OLD));
	client_ca_free(NULL);
	buf_release(&text);
}

static void a_file_is_replaced(void **state)
{
	struct place *p = *state;
	struct buf text;

	assert_int_equal(load_text(p, &p->pems[OLD]), 0);
	assert_int_equal(client_ca_generation(p->store), 1);
	assert_true(client_ca_expiry(p->store) > time(NULL));
	assert_true(lets_in(p, OLD));
	assert_false(lets_in(p, NEW));
	/* A file with equal content is not a change. */
	assert_int_equal(load_text(p, &p->pems[OLD]), 0);
	assert_int_equal(client_ca_generation(p->store), 1);
	assert_int_equal(load_text(p, &p->pems[NEW]), 0);
	assert_int_equal(client_ca_generation(p->store), 2);
	assert_false(lets_in(p, OLD));
	assert_true(lets_in(p, NEW));
	buf_init(&text);
	client_ca_describe(p->store, &text);
	assert_non_null(strstr(text.data, "1 certificate, the last until 20"));
	buf_release(&text);
}

/* During a rotation of the authority, the old and the new one are trusted. */
static void a_bundle_lets_in_clients_of_all(void **state)
{
	struct place *p = *state;
	struct buf both, text;

	buf_init(&both);
	buf_adds(&both, "# the next one\n");
	buf_add(&both, p->pems[NEW].data, p->pems[NEW].len);
	buf_adds(&both, "\n# and again\n");
	buf_add(&both, p->pems[NEW].data, p->pems[NEW].len);
	buf_add(&both, p->pems[OLD].data, p->pems[OLD].len);
	buf_add(&both, p->pems[PAST].data, p->pems[PAST].len);
	assert_int_equal(load_text(p, &both), 0);
	assert_true(lets_in(p, OLD));
	assert_true(lets_in(p, NEW));
	assert_false(lets_in(p, PAST));
	buf_init(&text);
	client_ca_describe(p->store, &text);
	assert_non_null(strstr(text.data, "4 certificates"));
	buf_release(&text);
	buf_release(&both);
}

static void stays(const struct place *p, const char *what)
{
	struct err err;

	print_message("  %s\n", what);
	assert_int_equal(load(p, &err), -1);
	print_message("    %s\n", err.text);
	assert_non_null(strstr(err.text, p->path));
	assert_int_equal(client_ca_generation(p->store), 1);
	assert_true(lets_in(p, OLD));
	assert_false(lets_in(p, NEW));
}

static void a_broken_file_is_not_used(void **state)
{
	struct place *p = *state;
	const struct buf *new = &p->pems[NEW];
	struct buf text;

	assert_int_equal(load_text(p, &p->pems[OLD]), 0);
	put(p, "", 0);
	stays(p, "empty");
	put(p, "no PEM\n", 7);
	stays(p, "another text");
	put(p, new->data, new->len / 2);
	stays(p, "cut off");
	buf_init(&text);
	buf_add(&text, new->data, new->len);
	buf_add(&text, p->pems[OLD].data, p->pems[OLD].len / 2);
	put(p, text.data, text.len);
	stays(p, "the second is cut off");
	buf_reset(&text);
	buf_add(&text, new->data, new->len);
	memset(text.data + new->len / 2, '!', 8);
	buf_add(&text, p->pems[OLD].data, p->pems[OLD].len);
	put(p, text.data, text.len);
	stays(p, "the first is spoilt");
	put(p, p->pems[PAST].data, p->pems[PAST].len);
	stays(p, "past its date");
	unlink(p->path);
	stays(p, "gone");
	assert_int_equal(mkdir(p->path, 0700), 0);
	stays(p, "a folder");
	assert_int_equal(rmdir(p->path), 0);
	assert_int_equal(mkfifo(p->path, 0600), 0);
	stays(p, "a pipe");
	unlink(p->path);
	assert_int_equal(load_text(p, new), 0);
	assert_true(lets_in(p, NEW));
	buf_release(&text);
}

/* An expired CA is reported, and clients get 403; the program still starts. */
static void the_first_may_be_past_its_date(void **state)
{
	struct place *p = *state;

	assert_int_equal(load_text(p, &p->pems[PAST]), 0);
	assert_true(client_ca_expiry(p->store) < time(NULL));
	assert_false(lets_in(p, PAST));
	assert_int_equal(load_text(p, &p->pems[OLD]), 0);
	assert_true(lets_in(p, OLD));
}

static void odd_chains_are_refused(void **state)
{
	struct place *p = *state;
	gnutls_datum_t many[40], empty = {NULL, 0};
	gnutls_datum_t garbage = {(unsigned char *)p->path, 10};

	assert_int_equal(load_text(p, &p->pems[OLD]), 0);
	for (int i = 0; i < 40; i++)
		many[i] = p->chains[OLD];
	assert_false(client_ca_verify(p->store, many, 0));
	assert_false(client_ca_verify(p->store, many, 40));
	assert_false(client_ca_verify(p->store, &empty, 1));
	assert_false(client_ca_verify(p->store, &garbage, 1));
	many[1] = garbage;
	assert_false(client_ca_verify(p->store, many, 2));
	assert_true(lets_in(p, OLD));
}

struct busy {
	const struct place *place;
	atomic_bool stop;
	atomic_uint asked, wrong;
};

static void *verify(void *arg)
{
	struct busy *busy = arg;

	while (!atomic_load(&busy->stop)) {
		/* Each of the files contains this CA. */
		atomic_fetch_add(&busy->wrong, !lets_in(busy->place, OLD));
		atomic_fetch_add(&busy->asked, 1);
	}
	return NULL;
}

static void replaced_while_it_is_used(void **state)
{
	struct place *p = *state;
	struct busy busy = {.place = p};
	pthread_t threads[3];
	struct buf both;

	buf_init(&both);
	buf_add(&both, p->pems[NEW].data, p->pems[NEW].len);
	buf_add(&both, p->pems[OLD].data, p->pems[OLD].len);
	assert_int_equal(load_text(p, &both), 0);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, verify, &busy);
	for (int i = 0; i < 100; i++) {
		const struct buf *text = i % 2 ? &both : &p->pems[OLD];

		assert_int_equal(load_text(p, text), 0);
	}
	while (atomic_load(&busy.asked) < 100)
		usleep(1000);
	atomic_store(&busy.stop, true);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(client_ca_generation(p->store), 101);
	assert_int_equal(atomic_load(&busy.wrong), 0);
	buf_release(&both);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_store_rejects_all_clients),
		TEST(a_file_is_replaced),
		TEST(a_bundle_lets_in_clients_of_all),
		TEST(a_broken_file_is_not_used),
		TEST(the_first_may_be_past_its_date),
		TEST(odd_chains_are_refused),
		TEST(replaced_while_it_is_used),
	};

	return cmocka_run_group_tests_name("client_ca", tests, NULL, NULL);
}
