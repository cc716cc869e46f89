/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificate pairs for tests: the certificates of every case, the texts of a
 * pair, and tables of cases with the expected verdict and part of the error.
 */
#ifndef PAIR_FIXTURE_H
#define PAIR_FIXTURE_H

#include "base/text.h"
#include "certs/pair.h"
#include "certs_fixture.h"
#include "webhook/tls/key_store.h"

#define SAN "DNS:gpugate.gpu.svc"

/* Certificates: a root, certificates that it issued, and an unrelated
 * certificate. */
struct cast {
	struct made root, middle, leaf, single, stranger;
};

static struct cast *cast_new(void)
{
	struct cast *cast = calloc(1, sizeof(*cast));

	cast->root = make(&(struct recipe){.cn = "root",
					   .constraints = "critical,CA:TRUE"},
			  NULL);
	cast->middle =
		make(&(struct recipe){.cn = "middle", .constraints = "CA:TRUE"},
		     &cast->root);
	cast->leaf = make(&(struct recipe){.cn = "leaf",
					   .san = SAN ",IP:10.0.0.1",
					   .eku = "serverAuth",
					   .usage = "digitalSignature"},
			  &cast->middle);
	cast->single = make(&(struct recipe){.cn = "single", .san = SAN}, NULL);
	cast->stranger =
		make(&(struct recipe){.cn = "stranger", .san = SAN}, NULL);
	return cast;
}

static void cast_free(struct cast *cast)
{
	unmake(&cast->root);
	unmake(&cast->middle);
	unmake(&cast->leaf);
	unmake(&cast->single);
	unmake(&cast->stranger);
	free(cast);
}

struct texts {
	struct buf cert, key;
};

__attribute__((unused)) static void texts_init(struct texts *texts)
{
	buf_init(&texts->cert);
	buf_init(&texts->key);
}

__attribute__((unused)) static void texts_release(struct texts *texts)
{
	buf_release(&texts->cert);
	buf_release(&texts->key);
}

__attribute__((unused)) static void texts_of(struct texts *texts,
					     const struct made *made)
{
	pem_cert(&texts->cert, made->cert);
	pem_key(&texts->key, made->key);
}

__attribute__((unused)) static enum pair_verdict
ask_pair(struct arena *arena, const struct texts *texts, const char *const *dns,
	 struct pair_info *info, struct err *err)
{
	const struct pair_ask ask = {.cert = texts->cert.data,
				     .cert_len = texts->cert.len,
				     .cert_file = "c.crt",
				     .key = texts->key.data,
				     .key_len = texts->key.len,
				     .key_file = "k.key",
				     .dns = dns,
				     .now = time(NULL)};

	memset(err, 0, sizeof(*err));
	return pair_check(arena, &ask, info, err);
}

__attribute__((unused)) static void chain(struct texts *t, const struct cast *c)
{
	texts_of(t, &c->leaf);
	pem_cert(&t->cert, c->middle.cert);
}

struct spoiled {
	const char *what;
	enum pair_verdict verdict;
	const char *says; /* text of the error, or of the only warning */
	void (*write)(struct texts *, const struct cast *);
	struct recipe recipe; /* used if `write` is NULL */
};

static void write_case(struct texts *texts, const struct cast *cast,
		       const struct spoiled *spoiled)
{
	struct made made;

	if (spoiled->write) {
		spoiled->write(texts, cast);
		return;
	}
	made = make(&spoiled->recipe, NULL);
	texts_of(texts, &made);
	unmake(&made);
}

/* Returns true if GnuTLS can serve the pair, as it must for every pair that is
 * accepted. */
static bool is_servable(const struct texts *texts)
{
	struct key_store *store = key_store_new();
	struct err err = {0};
	bool good =
		key_store_load_pem(store, &texts->cert, &texts->key, &err) == 0;

	if (!good)
		print_error("%s\n", err.text);
	key_store_free(store);
	return good;
}

static bool is_as_said(const struct spoiled *spoiled, enum pair_verdict verdict,
		       const struct pair_info *info, const struct err *err)
{
	if (verdict != spoiled->verdict || err->set != (verdict != PAIR_GOOD))
		return false;
	if (verdict != PAIR_GOOD)
		return text_contains(err->text, spoiled->says);
	if (!spoiled->says)
		return info->nwarnings == 0;
	return info->nwarnings == 1 &&
	       text_contains(info->warnings[0], spoiled->says);
}

__attribute__((unused)) static void check_cases(const struct spoiled *cases,
						size_t n)
{
	const char *const dns[] = {"gpugate.gpu.svc", NULL};
	struct cast *cast = cast_new();
	struct arena arena = ARENA_INIT;
	int failed = 0;

	for (size_t i = 0; i < n; i++) {
		struct texts texts;
		struct pair_info info;
		enum pair_verdict verdict;
		struct err err;

		texts_init(&texts);
		write_case(&texts, cast, &cases[i]);
		verdict = ask_pair(&arena, &texts, dns, &info, &err);
		if (!is_as_said(&cases[i], verdict, &info, &err)) {
			failed++;
			print_error("%s: verdict %d, '%s'\n", cases[i].what,
				    verdict, err.text);
		}
		if (verdict == PAIR_GOOD && !is_servable(&texts)) {
			failed++;
			print_error("%s: cannot be served\n", cases[i].what);
		}
		texts_release(&texts);
		arena_reset(&arena);
	}
	assert_int_equal(failed, 0);
	arena_release(&arena);
	cast_free(cast);
}

#endif
