/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds certificates to a CA bundle, which during a rotation has the old and the
 * new CA. Certificates are compared by their bytes, expired ones are left out,
 * and each is encoded again, so that text around certificates is not collected
 * over many rotations.
 */
#include "issue.h"

#include "ssl.h"

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
	if (ssl_time(X509_get0_notAfter(cert)) > now)
		good = pem_add(bundle, cert);
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
