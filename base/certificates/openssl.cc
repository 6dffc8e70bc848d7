#include "base/certificates/openssl.h"

#include <array>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "absl/status/status.h"

namespace ordo::base::certificates {
namespace {

// OpenSSL would ask the terminal for the password of an encrypted key.
int NoPassword(char*, int, int, void*) { return -1; }

}  // namespace

std::string TakeError() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "nothing known";
  std::array<char, 256> text;
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

Owned<BIO> ReaderOf(std::string_view text) {
  return Owned<BIO>(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string TextOf(BIO& writer) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(&writer, &data);
  return size <= 0 ? std::string()
                   : std::string(data, static_cast<size_t>(size));
}

absl::StatusOr<Owned<X509>> ParseCertificate(std::string_view pem) {
  const Owned<BIO> reader = ReaderOf(pem);
  Owned<X509> certificate(
      PEM_read_bio_X509(reader.get(), nullptr, NoPassword, nullptr));
  if (certificate == nullptr) {
    return absl::InvalidArgumentError(
        "holds no PEM certificate (-----BEGIN CERTIFICATE-----): " +
        TakeError());
  }
  return certificate;
}

absl::StatusOr<Owned<EVP_PKEY>> ParseKey(std::string_view pem) {
  const Owned<BIO> reader = ReaderOf(pem);
  Owned<EVP_PKEY> key(
      PEM_read_bio_PrivateKey(reader.get(), nullptr, NoPassword, nullptr));
  if (key == nullptr) {
    return absl::InvalidArgumentError(
        "holds no PEM private key without a password (-----BEGIN PRIVATE "
        "KEY-----): " +
        TakeError());
  }
  return key;
}

}  // namespace ordo::base::certificates
