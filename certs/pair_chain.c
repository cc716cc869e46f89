/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the keys and signatures of a chain. Accepts the ones that GnuTLS
 * serves by default and Go's crypto/x509 verifies (RSA, ECDSA on the NIST
 * curves, Ed25519; since Go 1.18 no SHA-1). A root at the end of the chain is
 * not used: the client has its own copy, so the root's signature and dates do
 * not matter.
 */
#include "pair_internal.h"

#include <string.h>

#include <openssl/err.h>

#include "base/array.h"

enum { RSA_BITS_MIN = 2048 };

static const char *curve_name(const EVP_PKEY *key)
{
	static const char *const curves[][2] = {
		{"prime256v1", "ECDSA P-256"}, {"P-256", "ECDSA P-256"},
		{"secp384r1", "ECDSA P-384"},  {"P-384", "ECDSA P-384"},
		{"secp521r1", "ECDSA P-521"},  {"P-521", "ECDSA P-521"},
	};
	char group[64];

	if (!EVP_PKEY_get_group_name(key, group, sizeof(group), NULL))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(curves); i++) {
		if (strcmp(group, curves[i][0]) == 0)
			return curves[i][1];
	}
	return NULL;
}

/* Returns the kind of the key, or NULL if no client would accept it. */
static const char *key_kind(struct pair_parts *parts, const EVP_PKEY *key)
{
	switch (EVP_PKEY_get_base_id(key)) {
	case EVP_PKEY_RSA:
		return arena_printf(parts->arena, "RSA %d",
				    EVP_PKEY_get_bits(key));
	case EVP_PKEY_EC:
		return curve_name(key);
	case EVP_PKEY_ED25519:
		return "Ed25519";
	default:
		return NULL;
	}
}

static bool is_self_signed(X509 *cert)
{
	return X509_get_extension_flags(cert) & EXFLAG_SS;
}

/* Returns the number of certificates that a client checks: all except a root at
 * the end. */
static size_t count_judged(const struct pair_parts *parts)
{
	size_t last = parts->n - 1;

	if (last > 0 && is_self_signed(parts->chain[last]))
		return last;
	return parts->n;
}

static enum pair_verdict check_kind(struct pair_parts *parts, size_t i)
{
	EVP_PKEY *key = X509_get0_pubkey(parts->chain[i]);
	const char *kind = key ? key_kind(parts, key) : NULL;

	if (!kind)
		return pair_say(parts, PAIR_REFUSED,
				"%s: its key is not RSA, ECDSA P-256, P-384, "
				"P-521 or Ed25519",
				pair_which(parts, i));
	if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA &&
	    EVP_PKEY_get_bits(key) < RSA_BITS_MIN)
		return pair_say(parts, PAIR_REFUSED,
				"%s: %s is too weak, at least %d bits",
				pair_which(parts, i), kind, RSA_BITS_MIN);
	if (i == 0)
		parts->info->key = kind;
	return PAIR_GOOD;
}

static enum pair_verdict check_digest(struct pair_parts *parts, size_t i)
{
	int digest = NID_undef;

	if (!X509_get_signature_info(parts->chain[i], &digest, NULL, NULL,
				     NULL))
		return pair_say(parts, PAIR_REFUSED,
				"%s: its kind of signature is unknown",
				pair_which(parts, i));
	if (digest != NID_sha1 && digest != NID_md5 && digest != NID_md4 &&
	    digest != NID_md5_sha1)
		return PAIR_GOOD;
	return pair_say(parts, PAIR_REFUSED,
			"%s: is signed with %s, which clients reject",
			pair_which(parts, i), OBJ_nid2sn(digest));
}

static enum pair_verdict check_match(struct pair_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++) {
		EVP_PKEY *key = X509_get0_pubkey(parts->chain[i]);

		if (!key || EVP_PKEY_eq(key, parts->key) != 1)
			continue;
		if (i == 0)
			return PAIR_GOOD;
		return pair_say(parts, PAIR_REFUSED,
				"%s: the key belongs to certificate %zu; the "
				"server's own must come first",
				parts->ask->cert_file, i + 1);
	}
	return pair_say(parts, PAIR_UNFINISHED,
			"%s: is not the key of the certificate in %s",
			parts->ask->key_file, parts->ask->cert_file);
}

/* Rejects a key whose private part does not match its public part. */
static enum pair_verdict check_whole(struct pair_parts *parts)
{
	EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(parts->key, NULL);
	int good = context && EVP_PKEY_pairwise_check(context) == 1;

	EVP_PKEY_CTX_free(context);
	if (good)
		return PAIR_GOOD;
	ERR_clear_error();
	return pair_say(parts, PAIR_REFUSED,
			"%s: the key's private and public parts do not match",
			parts->ask->key_file);
}

enum pair_verdict pair_check_keys(struct pair_parts *parts)
{
	enum pair_verdict verdict = check_match(parts);
	size_t judged = count_judged(parts);

	if (verdict == PAIR_GOOD)
		verdict = check_whole(parts);
	for (size_t i = 0; i < parts->n && verdict == PAIR_GOOD; i++)
		verdict = check_kind(parts, i);
	for (size_t i = 0; i < judged && verdict == PAIR_GOOD; i++)
		verdict = check_digest(parts, i);
	return verdict;
}

enum pair_verdict pair_check_links(struct pair_parts *parts)
{
	for (size_t i = 0; i + 1 < parts->n; i++) {
		X509 *issuer = parts->chain[i + 1];

		if (X509_check_issued(issuer, parts->chain[i]) == X509_V_OK &&
		    X509_check_ca(issuer) == 1 &&
		    X509_verify(parts->chain[i], X509_get0_pubkey(issuer)) == 1)
			continue;
		ERR_clear_error();
		return pair_say(parts, PAIR_REFUSED,
				"%s: certificate %zu is not issued by "
				"certificate %zu, which follows it",
				parts->ask->cert_file, i + 1, i + 2);
	}
	return PAIR_GOOD;
}

static enum pair_verdict date_of(struct pair_parts *parts, size_t i)
{
	struct pair_info *info = parts->info;
	int64_t from = ssl_time(X509_get0_notBefore(parts->chain[i]));
	int64_t to = ssl_time(X509_get0_notAfter(parts->chain[i]));

	if (from == INT64_MIN || to == INT64_MIN)
		return pair_say(parts, PAIR_REFUSED,
				"%s: its dates cannot be read",
				pair_which(parts, i));
	if (to <= from)
		return pair_say(parts, PAIR_REFUSED,
				"%s: is never valid: it begins at %s and ends "
				"at %s",
				pair_which(parts, i),
				pair_time(parts->arena, from),
				pair_time(parts->arena, to));
	if (i == 0 || from > info->not_before)
		info->not_before = from;
	if (i == 0 || to < info->not_after)
		info->not_after = to;
	return PAIR_GOOD;
}

enum pair_verdict pair_check_dates(struct pair_parts *parts)
{
	const struct pair_info *info = parts->info;
	enum pair_verdict verdict = PAIR_GOOD;
	size_t judged = count_judged(parts);

	for (size_t i = 0; i < judged && verdict == PAIR_GOOD; i++)
		verdict = date_of(parts, i);
	if (verdict != PAIR_GOOD)
		return verdict;
	if (parts->ask->now > info->not_after)
		return pair_say(parts, PAIR_EXPIRED, "%s: expired at %s",
				parts->ask->cert_file,
				pair_time(parts->arena, info->not_after));
	if (parts->ask->now < info->not_before)
		return pair_say(parts, PAIR_NOT_YET,
				"%s: is not valid before %s",
				parts->ask->cert_file,
				pair_time(parts->arena, info->not_before));
	return PAIR_GOOD;
}
