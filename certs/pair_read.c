/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses texts into certificates and a key. Blocks of other kinds and text
 * between blocks are ignored, as in OpenSSL, GnuTLS and Go; an incomplete block
 * is an error.
 */
#include "pair_internal.h"

#include <string.h>

#include <openssl/err.h>

#include "base/text.h"

static bool is_blank(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!strchr(" \t\r\n", text[i]))
			return false;
	}
	return true;
}

static size_t count_begins(const char *text, size_t len)
{
	static const char begin[] = "-----BEGIN ";
	const char *end = text + len;
	size_t n = 0;

	while ((text = text_find(text, end - text, begin))) {
		text += sizeof(begin) - 1;
		n++;
	}
	return n;
}

struct pair_reading {
	const char *text;
	size_t len;
	const char *file;
	/* kind of block to read: "certificate", "private key" */
	const char *what;
	const char *other; /* name of the first block of another kind */
	size_t nblocks, nfound;
};

static enum pair_verdict found_nothing(struct pair_parts *parts,
				       const struct pair_reading *r)
{
	if (is_blank(r->text, r->len))
		return pair_say(parts, PAIR_UNFINISHED, "%s: is empty",
				r->file);
	if (r->other)
		return pair_say(parts, PAIR_UNFINISHED,
				"%s: contains no %s but a block named %.40s",
				r->file, r->what, r->other);
	if (r->text[0] == 0x30)
		return pair_say(parts, PAIR_REFUSED,
				"%s: is DER; PEM is required (`openssl %s "
				"-inform DER` converts it)",
				r->file, r->what[0] == 'c' ? "x509" : "pkey");
	return pair_say(parts, PAIR_UNFINISHED, "%s: contains no %s (PEM)",
			r->file, r->what);
}

/* Reads all blocks of a text; take() parses each. */
static enum pair_verdict read_blocks(
	struct pair_parts *parts, struct pair_reading *r,
	enum pair_verdict (*take)(struct pair_parts *, struct pair_reading *,
				  const struct pem_block *))
{
	BIO *bio = BIO_new_mem_buf(r->text, (int)r->len);
	enum pair_verdict verdict = PAIR_GOOD;
	struct pem_block block;
	int more = 0;

	while (verdict == PAIR_GOOD && (more = pem_next(bio, &block)) > 0) {
		r->nblocks++;
		verdict = take(parts, r, &block);
		pem_block_release(&block);
	}
	BIO_free(bio);
	if (verdict != PAIR_GOOD)
		return verdict;
	if (more < 0 || count_begins(r->text, r->len) > r->nblocks) {
		ERR_clear_error();
		return pair_say(parts, PAIR_UNFINISHED,
				"%s: PEM block %zu is cut off or damaged",
				r->file, r->nblocks + 1);
	}
	return r->nfound ? PAIR_GOOD : found_nothing(parts, r);
}

static void note_other(struct pair_parts *parts, struct pair_reading *r,
		       const struct pem_block *block)
{
	if (!r->other)
		r->other = arena_strdup(parts->arena, block->name);
}

static enum pair_verdict take_certificate(struct pair_parts *parts,
					  struct pair_reading *r,
					  const struct pem_block *block)
{
	if (text_ends(block->name, "PRIVATE KEY"))
		pair_warn(parts,
			  "the certificate's file contains a private key");
	if (!pem_is_certificate(block)) {
		note_other(parts, r, block);
		return PAIR_GOOD;
	}
	if (parts->n == CHAIN_MAX)
		return pair_say(parts, PAIR_REFUSED,
				"%s: more than %d certificates", r->file,
				CHAIN_MAX);
	parts->chain[parts->n] = pem_certificate(block);
	r->nfound++;
	if (parts->chain[parts->n]) {
		parts->n++;
		return PAIR_GOOD;
	}
	ssl_fail(parts->err, "%s: certificate %zu cannot be read", r->file,
		 r->nfound);
	return PAIR_REFUSED;
}

enum pair_verdict pair_read_chain(struct pair_parts *parts)
{
	struct pair_reading reading = {.text = parts->ask->cert,
				       .len = parts->ask->cert_len,
				       .file = parts->ask->cert_file,
				       .what = "certificate"};

	return read_blocks(parts, &reading, take_certificate);
}

static enum pair_verdict take_key(struct pair_parts *parts,
				  struct pair_reading *r,
				  const struct pem_block *block)
{
	const unsigned char *at = block->data;

	if (!text_ends(block->name, "PRIVATE KEY")) {
		note_other(parts, r, block);
		return PAIR_GOOD;
	}
	if (text_starts(block->name, "ENCRYPTED") ||
	    text_contains(block->header, "ENCRYPTED"))
		return pair_say(parts, PAIR_REFUSED,
				"%s: the key is encrypted; it must be "
				"readable without a passphrase",
				r->file);
	if (r->nfound++)
		return pair_say(parts, PAIR_REFUSED,
				"%s: contains more than one private key",
				r->file);
	parts->key = d2i_AutoPrivateKey(NULL, &at, block->len);
	if (parts->key && at == block->data + block->len)
		return PAIR_GOOD;
	ssl_fail(parts->err, "%s: the %.40s cannot be read", r->file,
		 block->name);
	return PAIR_REFUSED;
}

enum pair_verdict pair_read_key(struct pair_parts *parts)
{
	struct pair_reading reading = {.text = parts->ask->key,
				       .len = parts->ask->key_len,
				       .file = parts->ask->key_file,
				       .what = "private key"};

	return read_blocks(parts, &reading, take_key);
}
