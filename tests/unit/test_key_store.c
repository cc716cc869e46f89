/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replacement of key pairs, files during a swap, and real handshakes with
 * libmicrohttpd while pairs are replaced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "certs/issue.h"
#include "pair_fixture.h"
#include "tls_fixture.h"

struct place {
	struct arena arena;
	char dir[64];
	const char *cert, *key;
	struct key_store *store;
};

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	strcpy(place->dir, "/tmp/gpugate-keys-XXXXXX");
	if (!mkdtemp(place->dir))
		return -1;
	place->cert = arena_printf(&place->arena, "%s/tls.crt", place->dir);
	place->key = arena_printf(&place->arena, "%s/tls.key", place->dir);
	place->store = key_store_new();
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;
	char command[100];
	int status;

	snprintf(command, sizeof(command), "rm -rf %s", place->dir);
	status = system(command);
	key_store_free(place->store);
	arena_release(&place->arena);
	free(place);
	return status;
}

static void put(const char *path, const struct buf *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fwrite(text->data, 1, text->len, file);
	fclose(file);
}

static void put_pair(const struct place *place, const struct texts *texts)
{
	put(place->cert, &texts->cert);
	put(place->key, &texts->key);
}

static void make_texts(struct texts *texts, const char *cn, int64_t from,
		       int64_t to)
{
	struct made made = make(
		&(struct recipe){.cn = cn, .san = SAN, .from = from, .to = to},
		NULL);

	texts_init(texts);
	texts_of(texts, &made);
	unmake(&made);
}

static int load(const struct place *place, struct err *err)
{
	memset(err, 0, sizeof(*err));
	return key_store_load(place->store, place->cert, place->key, err);
}

static int load_memory(const struct place *place, const struct texts *texts,
		       struct err *err)
{
	memset(err, 0, sizeof(*err));
	return key_store_load_pem(place->store, &texts->cert, &texts->key, err);
}

static void a_new_store_has_none(void **state)
{
	struct place *place = *state;
	gnutls_pcert_st *certs;
	gnutls_privkey_t key;
	struct buf text;
	unsigned n;

	buf_init(&text);
	key_store_describe(place->store, &text);
	assert_string_equal(text.data, "no certificate");
	assert_false(key_store_ready(place->store));
	assert_int_equal(key_store_expiry(place->store), 0);
	assert_int_equal(key_store_generation(place->store), 0);
	assert_null(key_store_take(place->store));
	assert_int_equal(key_pair_give(NULL, &certs, &n, &key), -1);
	key_pair_drop(NULL);
	key_store_free(NULL);
	buf_release(&text);
}

static void a_pair_is_loaded(void **state)
{
	struct place *place = *state;
	int64_t now = time(NULL);
	struct texts texts;
	struct buf text;
	struct err err;

	make_texts(&texts, "a", -60, 600);
	put_pair(place, &texts);
	assert_int_equal(load(place, &err), 0);
	assert_true(key_store_ready(place->store));
	assert_in_range(key_store_expiry(place->store) - now + 2, 600, 604);
	assert_int_equal(key_store_generation(place->store), 1);
	buf_init(&text);
	key_store_describe(place->store, &text);
	assert_true(text_starts(text.data,
				"gpugate.gpu.svc; ECDSA P-256; valid from "));
	/* Loading again changes nothing. */
	assert_int_equal(load(place, &err), 0);
	assert_int_equal(key_store_generation(place->store), 1);
	buf_release(&text);
	texts_release(&texts);
}

static void a_broken_pair_changes_nothing(void **state)
{
	struct place *place = *state;
	struct texts good, other, bad;
	struct err err;

	make_texts(&good, "a", -60, 600);
	make_texts(&other, "b", -60, 600);
	assert_int_equal(load_memory(place, &good, &err), 0);
	bad = other;
	bad.key = good.key;
	assert_int_equal(load_memory(place, &bad, &err), -1);
	assert_true(text_contains(err.text, "is not the key of"));
	bad = other;
	bad.cert.len -= 50;
	assert_int_equal(load_memory(place, &bad, &err), -1);
	bad = other;
	bad.key.len = 0;
	assert_int_equal(load_memory(place, &bad, &err), -1);
	assert_true(key_store_ready(place->store));
	assert_int_equal(key_store_generation(place->store), 1);
	assert_int_equal(load_memory(place, &other, &err), 0);
	assert_int_equal(key_store_generation(place->store), 2);
	texts_release(&good);
	texts_release(&other);
}

static void files_that_are_not_there(void **state)
{
	struct place *place = *state;
	struct texts texts;
	struct err err;

	make_texts(&texts, "a", -60, 600);
	assert_int_equal(load(place, &err), -1);
	assert_int_equal(err.code, ENOENT);
	assert_true(text_contains(err.text, "tls.crt: No such file"));
	put(place->cert, &texts.cert);
	assert_int_equal(load(place, &err), -1);
	assert_true(text_contains(err.text, "tls.key: No such file"));
	assert_int_equal(mkdir(place->key, 0755), 0);
	assert_int_equal(load(place, &err), -1);
	assert_int_equal(err.code, EISDIR);
	assert_false(key_store_ready(place->store));
	texts_release(&texts);
}

/* Each row: the current pair, the new pair, and whether the new one is
 * accepted. */
static void dates_decide(void **state)
{
	enum { OLD = -3000, OLDER = -5000, NOW = 0, LATER = 3000, NONE = 1 };
	static const struct {
		int in_use, coming;
		bool taken, ready;
	} cases[] = {
		{NONE, OLD, true, false},   {NONE, LATER, true, false},
		{OLD, NOW, true, true},	    {LATER, NOW, true, true},
		{NOW, OLD, false, true},    {NOW, LATER, false, true},
		{OLD, OLDER, false, false}, {OLDER, OLD, true, false},
		{OLD, LATER, true, false},  {LATER, OLD, false, false},
		{NOW, NOW, true, true},
	};
	struct place *place = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct texts first, second;
		unsigned before;
		struct err err;
		int result;

		key_store_free(place->store);
		place->store = key_store_new();
		make_texts(&first, "a", cases[i].in_use - 600,
			   cases[i].in_use + 600);
		make_texts(&second, "b", cases[i].coming - 600,
			   cases[i].coming + 600);
		if (cases[i].in_use != NONE)
			assert_int_equal(load_memory(place, &first, &err), 0);
		before = key_store_generation(place->store);
		result = load_memory(place, &second, &err);
		if ((result == 0) != cases[i].taken ||
		    (result != 0) != err.set ||
		    (key_store_generation(place->store) != before) !=
			    cases[i].taken ||
		    key_store_ready(place->store) != cases[i].ready)
			fail_msg("case %zu: %d %s", i, result, err.text);
		texts_release(&first);
		texts_release(&second);
	}
}

static void a_wrong_date_is_described(void **state)
{
	struct place *place = *state;
	struct texts texts;
	struct buf text;
	struct err err;

	make_texts(&texts, "a", -600, -60);
	assert_int_equal(load_memory(place, &texts, &err), 0);
	buf_init(&text);
	key_store_describe(place->store, &text);
	assert_true(text_contains(text.data, "; warning: tls.crt: expired at"));
	buf_release(&text);
	texts_release(&texts);
}

/* -- files that are being replaced ----------------------------------------- */

struct late {
	const char *path;
	const struct buf *text;
};

static void *put_late(void *context)
{
	const struct late *late = context;

	usleep(100000);
	put(late->path, late->text);
	return NULL;
}

static void a_pair_that_is_half_replaced_is_read_again(void **state)
{
	struct place *place = *state;
	struct texts first, second;
	struct late late;
	pthread_t thread;
	struct err err;

	make_texts(&first, "a", -60, 600);
	make_texts(&second, "b", -60, 600);
	put_pair(place, &first);
	assert_int_equal(load(place, &err), 0);
	put(place->cert, &second.cert);
	late = (struct late){place->key, &second.key};
	pthread_create(&thread, NULL, put_late, &late);
	if (load(place, &err) < 0)
		fail_msg("%s", err.text);
	pthread_join(thread, NULL);
	assert_int_equal(key_store_generation(place->store), 2);
	/* The pair never becomes complete: this is reported after a while, and
	 * the current pair stays. */
	put(place->cert, &first.cert);
	assert_int_equal(load(place, &err), -1);
	assert_true(text_contains(err.text, "is not the key of"));
	assert_int_equal(key_store_generation(place->store), 2);
	assert_true(key_store_ready(place->store));
	texts_release(&first);
	texts_release(&second);
}

struct swapper {
	struct place *place;
	atomic_bool stop;
	atomic_uint swaps;
};

/* Replaces the folder of the pair repeatedly, as the kubelet does. */
static void *swap_folders(void *context)
{
	struct swapper *swapper = context;
	char link[100], temp[100];

	snprintf(link, sizeof(link), "%s/..data", swapper->place->dir);
	snprintf(temp, sizeof(temp), "%s/..tmp", swapper->place->dir);
	while (!atomic_load(&swapper->stop)) {
		if (symlink(swapper->swaps % 2 ? "1" : "2", temp) ||
		    rename(temp, link))
			abort();
		swapper->swaps++;
		usleep(1000);
	}
	return NULL;
}

static void put_version(struct place *place, const char *name)
{
	struct arena *arena = &place->arena;
	struct texts texts;

	make_texts(&texts, name, -60, 600);
	mkdir(arena_printf(arena, "%s/%s", place->dir, name), 0755);
	put(arena_printf(arena, "%s/%s/tls.crt", place->dir, name),
	    &texts.cert);
	put(arena_printf(arena, "%s/%s/tls.key", place->dir, name), &texts.key);
	texts_release(&texts);
}

static bool was_swapped(struct swapper *swapper)
{
	return key_store_generation(swapper->place->store) > 1 &&
	       atomic_load(&swapper->swaps) > 10;
}

static void swaps_are_never_caught_halfway(void **state)
{
	struct place *place = *state;
	struct swapper swapper = {.place = place};
	pthread_t thread;
	struct err err;

	put_version(place, "1");
	put_version(place, "2");
	assert_int_equal(symlink("1", arena_printf(&place->arena, "%s/..data",
						   place->dir)),
			 0);
	assert_int_equal(symlink("..data/tls.crt", place->cert), 0);
	assert_int_equal(symlink("..data/tls.key", place->key), 0);
	pthread_create(&thread, NULL, swap_folders, &swapper);
	/* At least 200 times; on a busy machine the other thread may start
	 * late. */
	for (int i = 0; i < 200 || (i < 100000 && !was_swapped(&swapper));
	     i++) {
		if (load(place, &err) < 0)
			fail_msg("%d: %s", i, err.text);
		if (i >= 200)
			usleep(100);
	}
	atomic_store(&swapper.stop, true);
	pthread_join(thread, NULL);
	assert_true(was_swapped(&swapper));
}

/* -- handshakes ------------------------------------------------------------ */

static void a_taken_pair_outlives_the_store(void **state)
{
	struct place *place = *state;
	struct texts first, second;
	gnutls_pcert_st *certs;
	gnutls_privkey_t key;
	struct key_pair *pair;
	struct err err;
	unsigned n, bits;

	make_texts(&first, "a", -60, 600);
	make_texts(&second, "b", -60, 600);
	assert_int_equal(load_memory(place, &first, &err), 0);
	pair = key_store_take(place->store);
	assert_int_equal(load_memory(place, &second, &err), 0);
	key_store_free(place->store);
	place->store = NULL;
	assert_int_equal(key_pair_give(pair, &certs, &n, &key), 0);
	assert_int_equal(n, 1);
	assert_int_equal(gnutls_privkey_get_pk_algorithm(key, &bits),
			 GNUTLS_PK_ECDSA);
	key_pair_drop(pair);
	texts_release(&first);
	texts_release(&second);
}

static void connections_keep_their_pair(void **state)
{
	struct place *place = *state;
	struct tls_server *server;
	struct tls_client old, new;
	struct texts texts;
	struct err err;

	make_texts(&texts, "first", -60, 600);
	assert_int_equal(load_memory(place, &texts, &err), 0);
	texts_release(&texts);
	server = tls_server_start(place->store);
	assert_true(tls_connect(&old, server));
	assert_string_equal(old.peer, "CN=first");
	assert_true(tls_ask(&old));
	for (int i = 0; i < 3; i++) {
		make_texts(&texts, "later", -60, 600);
		assert_int_equal(load_memory(place, &texts, &err), 0);
		texts_release(&texts);
		assert_true(tls_ask(&old));
		assert_true(tls_connect(&new, server));
		assert_string_equal(new.peer, "CN=later");
		assert_true(tls_ask(&new));
		tls_close(&new);
	}
	tls_close(&old);
	tls_server_stop(server);
}

static void without_a_pair_no_handshake(void **state)
{
	struct place *place = *state;
	struct tls_server *server = tls_server_start(place->store);
	struct tls_client client;
	struct texts texts;
	struct err err;

	assert_false(tls_connect(&client, server));
	make_texts(&texts, "a", -60, 600);
	assert_int_equal(load_memory(place, &texts, &err), 0);
	texts_release(&texts);
	assert_true(tls_connect(&client, server));
	assert_true(tls_ask(&client));
	tls_close(&client);
	tls_server_stop(server);
}

struct visitor {
	pthread_t thread;
	const struct tls_server *server;
	atomic_bool *stop;
	unsigned good, bad;
};

static void *ctx(void *context)
{
	struct visitor *visitor = context;
	struct tls_client client;

	while (!atomic_load(visitor->stop)) {
		bool good = tls_connect(&client, visitor->server) &&
			    strncmp(client.peer, "CN=pair", 7) == 0 &&
			    tls_ask(&client);

		good ? visitor->good++ : visitor->bad++;
		tls_close(&client);
	}
	return NULL;
}

static void handshakes_while_pairs_are_swapped(void **state)
{
	enum { VISITORS = 4, PAIRS = 8, SWAPS = 400 };
	struct place *place = *state;
	struct visitor visitors[VISITORS] = {{0}};
	struct texts pairs[PAIRS];
	struct tls_server *server;
	atomic_bool stop = false;
	unsigned good = 0, bad = 0;
	struct err err;

	for (int i = 0; i < PAIRS; i++)
		make_texts(&pairs[i], "pair", -60, 600);
	assert_int_equal(load_memory(place, &pairs[0], &err), 0);
	server = tls_server_start(place->store);
	for (int i = 0; i < VISITORS; i++) {
		visitors[i].server = server;
		visitors[i].stop = &stop;
		pthread_create(&visitors[i].thread, NULL, ctx, &visitors[i]);
	}
	for (int i = 1; i <= SWAPS; i++) {
		struct texts broken = pairs[i % PAIRS];

		broken.key = pairs[(i + 1) % PAIRS].key;
		assert_int_equal(load_memory(place, &broken, &err), -1);
		assert_int_equal(load_memory(place, &pairs[i % PAIRS], &err),
				 0);
		usleep(2000);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < VISITORS; i++) {
		pthread_join(visitors[i].thread, NULL);
		good += visitors[i].good;
		bad += visitors[i].bad;
	}
	print_message("%u handshakes over %d swaps\n", good, SWAPS);
	assert_int_equal(bad, 0);
	assert_true(good > 50);
	tls_server_stop(server);
	for (int i = 0; i < PAIRS; i++)
		texts_release(&pairs[i]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_store_has_none),
		TEST(a_pair_is_loaded),
		TEST(a_broken_pair_changes_nothing),
		TEST(files_that_are_not_there),
		TEST(dates_decide),
		TEST(a_wrong_date_is_described),
		TEST(a_pair_that_is_half_replaced_is_read_again),
		TEST(swaps_are_never_caught_halfway),
		TEST(a_taken_pair_outlives_the_store),
		TEST(connections_keep_their_pair),
		TEST(without_a_pair_no_handshake),
		TEST(handshakes_while_pairs_are_swapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
