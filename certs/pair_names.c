/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the names and the key usage of the leaf. Go reads only the subject
 * alternative names, and rejects critical extensions that it does not know,
 * negative serials, and certificates without serverAuth in their extended key
 * usage.
 */
#include "pair_internal.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "name.h"

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
