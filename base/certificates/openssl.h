#ifndef ORDO_BASE_CERTIFICATES_OPENSSL_H_
#define ORDO_BASE_CERTIFICATES_OPENSSL_H_

#include <memory>
#include <string>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "absl/status/statusor.h"

// What the files of this folder share of OpenSSL.

namespace ordo::base::certificates {

struct Free {
  void operator()(BIGNUM* it) const { BN_free(it); }
  void operator()(BIO* it) const { BIO_free(it); }
  void operator()(EVP_PKEY* it) const { EVP_PKEY_free(it); }
  void operator()(X509* it) const { X509_free(it); }
  void operator()(X509_REQ* it) const { X509_REQ_free(it); }
  void operator()(X509_NAME* it) const { X509_NAME_free(it); }
  void operator()(X509_EXTENSION* it) const { X509_EXTENSION_free(it); }
  void operator()(GENERAL_NAME* it) const { GENERAL_NAME_free(it); }
  void operator()(GENERAL_NAMES* it) const { GENERAL_NAMES_free(it); }
};

template <typename T>
using Owned = std::unique_ptr<T, Free>;

// What OpenSSL says of the last failure on this thread; forgets it.
std::string TakeError();

// A reader of `text`, which outlives it.
Owned<BIO> ReaderOf(std::string_view text);
// All that was written.
std::string TextOf(BIO& writer);

// The first certificate of a PEM text. INVALID_ARGUMENT: there is none.
absl::StatusOr<Owned<X509>> ParseCertificate(std::string_view pem);
// An unencrypted private key. INVALID_ARGUMENT: there is none.
absl::StatusOr<Owned<EVP_PKEY>> ParseKey(std::string_view pem);

}  // namespace ordo::base::certificates

#endif  // ORDO_BASE_CERTIFICATES_OPENSSL_H_
