/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a certificate and its key. The order of the checks decides which error
 * is reported if there are several: first a text that cannot be read, then a
 * key that does not match, then errors of the certificate, and last wrong
 * dates.
 */
#include "pair_internal.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/err.h>

#include "base/array.h"
#include "base/text.h"
#include "issue.h"

/* Writes messages about the result of a check. */

enum pair_verdict pair_say(struct pair_parts *parts, enum pair_verdict verdict,
			   const char *fmt, ...)
{
	char text[sizeof(parts->err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(parts->err, 0, "%s", text);
	return verdict;
}

void pair_warn(struct pair_parts *parts, const char *warning)
{
	if (parts->info->nwarnings < PAIR_WARNINGS)
		parts->info->warnings[parts->info->nwarnings++] = warning;
}

/* Returns "certificate 2 of tls.crt", or "tls.crt" if the file has only one. */
static const char *pair_which(struct pair_parts *parts, size_t i)
{
	if (parts->n == 1)
		return parts->ask->cert_file;
	return arena_printf(parts->arena, "certificate %zu of %s", i + 1,
			    parts->ask->cert_file);
}

const char *pair_time(struct arena *arena, int64_t seconds)
{
	time_t at = seconds;
	struct tm tm;
	char text[64];

	if (!gmtime_r(&at, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return arena_printf(arena, "%lld", (long long)seconds);
	return arena_strdup(arena, text);
}

/*
 * Checks the names and the key usage of the leaf. Go reads only the subject
 * alternative names, and rejects critical extensions that it does not know,
 * negative serials, and certificates without serverAuth in their extended key
 * usage.
 */

static enum pair_verdict reject_pair(struct pair_parts *parts, const char *why)
{
	return pair_say(parts, PAIR_REFUSED, "%s: %s", pair_which(parts, 0),
			why);
}

static const char *subject_text(struct pair_parts *parts)
{
	BIO *text = BIO_new(BIO_s_mem());
	const char *result = "";
	char *data;
	long len;

	if (text &&
	    X509_NAME_print_ex(text, X509_get_subject_name(parts->chain[0]), 0,
			       XN_FLAG_RFC2253) >= 0) {
		len = BIO_get_mem_data(text, &data);
		if (len > 0)
			result = arena_strndup(parts->arena, data, len);
	}
	BIO_free(text);
	return result;
}

enum pair_verdict pair_check_use(struct pair_parts *parts)
{
	X509 *leaf = parts->chain[0];
	uint32_t flags = X509_get_extension_flags(leaf);

	parts->info->nchain = parts->n;
	parts->info->subject = subject_text(parts);
	if (flags & EXFLAG_INVALID)
		return reject_pair(parts,
				   "its extensions contradict each other");
	if (flags & EXFLAG_CRITICAL)
		return reject_pair(parts,
				   "has a critical extension that clients "
				   "do not know");
	if (X509_get0_serialNumber(leaf)->type == V_ASN1_NEG_INTEGER)
		return reject_pair(parts, "its serial number is negative");
	if ((flags & EXFLAG_XKUSAGE) && !(X509_get_extended_key_usage(leaf) &
					  (XKU_SSL_SERVER | XKU_ANYEKU)))
		return reject_pair(parts, "may not be used by a server (its "
					  "extendedKeyUsage lacks serverAuth)");
	if ((flags & EXFLAG_KUSAGE) &&
	    !(X509_get_key_usage(leaf) & KU_DIGITAL_SIGNATURE))
		return reject_pair(parts,
				   "may not sign handshakes (its keyUsage "
				   "lacks digitalSignature)");
	if (flags & EXFLAG_CA)
		pair_warn(parts,
			  "the server's own certificate is a CA certificate");
	return PAIR_GOOD;
}

static const char *dns_text(struct pair_parts *parts, const ASN1_STRING *name)
{
	int len = ASN1_STRING_length(name);
	char *text = arena_strndup(
		parts->arena, (const char *)ASN1_STRING_get0_data(name), len);

	if (strlen(text) != (size_t)len || !name_is_dns(text))
		return NULL;
	return text;
}

static const char *address_text(struct pair_parts *parts,
				const ASN1_STRING *address)
{
	int len = ASN1_STRING_length(address);
	char text[INET6_ADDRSTRLEN];

	if (len != 4 && len != 16)
		return NULL;
	if (!inet_ntop(len == 4 ? AF_INET : AF_INET6,
		       ASN1_STRING_get0_data(address), text, sizeof(text)))
		return NULL;
	return arena_strdup(parts->arena, text);
}

static void list_names(struct pair_parts *parts, const GENERAL_NAMES *names)
{
	const char **list = NULL;
	size_t n = 0, size = 0;

	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
		const char *text = NULL;

		if (name->type == GEN_DNS)
			text = dns_text(parts, name->d.dNSName);
		else if (name->type == GEN_IPADD)
			text = address_text(parts, name->d.iPAddress);
		if (text)
			*VEC_PUSH(parts->arena, list, n, size) = text;
	}
	parts->info->names = list;
	parts->info->nnames = n;
}

static bool is_covered(X509 *leaf, const char *name)
{
	if (name_is_address(name))
		return X509_check_ip_asc(leaf, name, 0) == 1;
	return X509_check_host(leaf, name, 0,
			       X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
				       X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS,
			       NULL) == 1;
}

enum pair_verdict pair_check_names(struct pair_parts *parts)
{
	const struct pair_info *info = parts->info;
	X509 *leaf = parts->chain[0];
	const char *const *asked = parts->ask->dns;
	GENERAL_NAMES *names =
		X509_get_ext_d2i(leaf, NID_subject_alt_name, NULL, NULL);

	list_names(parts, names);
	GENERAL_NAMES_free(names);
	if (!info->nnames)
		return reject_pair(parts,
				   "has no DNS name or address as subject "
				   "alternative name; the common name does "
				   "not count");
	for (size_t i = 0; asked && asked[i]; i++) {
		if (!is_covered(leaf, asked[i]))
			return pair_say(parts, PAIR_REFUSED,
					"%s: is not for %.100s but for "
					"%.100s%s",
					pair_which(parts, 0), asked[i],
					info->names[0],
					info->nnames > 1 ? " and others" : "");
	}
	return PAIR_GOOD;
}

/*
 * Checks the keys and signatures of a chain. Accepts the ones that GnuTLS
 * serves by default and Go's crypto/x509 verifies (RSA, ECDSA on the NIST
 * curves, Ed25519; since Go 1.18 no SHA-1). A root at the end of the chain is
 * not used: the client has its own copy, so the root's signature and dates do
 * not matter.
 */

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

enum pair_verdict pair_check(struct arena *arena, const struct pair_ask *ask,
			     struct pair_info *info, struct err *err)
{
	static enum pair_verdict (*const steps[])(struct pair_parts *) = {
		pair_read_chain,  pair_read_key,    pair_check_keys,
		pair_check_use,	  pair_check_names, pair_check_links,
		pair_check_dates,
	};
	struct pair_parts parts = {
		.arena = arena, .ask = ask, .info = info, .err = err};
	enum pair_verdict verdict = PAIR_GOOD;

	memset(info, 0, sizeof(*info));
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		verdict = steps[i](&parts);
		if (verdict != PAIR_GOOD)
			break;
	}
	for (size_t i = 0; i < parts.n; i++)
		X509_free(parts.chain[i]);
	EVP_PKEY_free(parts.key);
	ERR_clear_error();
	return verdict;
}
