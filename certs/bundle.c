/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CA bundle for overlap: certificates are compared by their bytes, expired
 * ones are left out, and each is encoded again, so that text around them does
 * not accumulate with each rotation.
 */
#include "issue.h"

#include <string.h>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "ssl.h"

static int bundle_holds(const struct buf *bundle, const X509 *cert)
{
	BIO *text = BIO_new_mem_buf(bundle->data, (int)bundle->len);
	struct pem_block block;
	int found = 0;

	while (!found && pem_next(text, &block) > 0) {
		X509 *other = pem_certificate(&block);

		found = other && X509_cmp(other, cert) == 0;
		X509_free(other);
		pem_block_release(&block);
	}
	ERR_clear_error();
	BIO_free(text);
	return found;
}

static int append(struct buf *bundle, X509 *cert)
{
	BIO *text = BIO_new(BIO_s_mem());
	char *data;
	long len;
	int good = text && PEM_write_bio_X509(text, cert);

	if (good) {
		len = BIO_get_mem_data(text, &data);
		if (bundle->len && bundle->data[bundle->len - 1] != '\n')
			buf_addc(bundle, '\n');
		buf_add(bundle, data, len);
	}
	BIO_free(text);
	return good;
}

static int add_block(struct buf *bundle, const struct pem_block *block,
		     int64_t now, struct err *err)
{
	X509 *cert;
	int good = 1;

	if (!pem_is_certificate(block))
		return 0;
	cert = pem_certificate(block);
	if (!cert)
		return ssl_fail(err, "a certificate of the bundle cannot be "
				     "read");
	if (ssl_time(X509_get0_notAfter(cert)) > now &&
	    !bundle_holds(bundle, cert))
		good = append(bundle, cert);
	X509_free(cert);
	return good ? 0 : ssl_fail(err, "a bundle cannot be written");
}

int bundle_add(struct buf *bundle, const struct buf *pem, int64_t now,
	       struct err *err)
{
	BIO *text = BIO_new_mem_buf(pem->data, (int)pem->len);
	struct pem_block block;
	int more, result = 0;

	while (result == 0 && (more = pem_next(text, &block)) != 0) {
		if (more < 0)
			result = ssl_fail(err, "a certificate of the bundle "
					       "is cut off or damaged");
		else
			result = add_block(bundle, &block, now, err);
		pem_block_release(&block);
	}
	BIO_free(text);
	return result;
}
