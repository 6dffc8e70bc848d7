#ifndef ORDO_BASE_DIGEST_SIGNATURE_H_
#define ORDO_BASE_DIGEST_SIGNATURE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Signatures of tokens (RFC 7518, 3.3 and 3.4), through OpenSSL.

namespace ordo::base {

// A public key, which says itself by what algorithm it verifies: no one else
// chooses. Immutable, thread-safe.
class PublicKey {
 public:
  // RS256: RSASSA-PKCS1-v1_5 with SHA-256. Big-endian modulus and exponent.
  // INVALID_ARGUMENT: no such key, or a modulus of less than 2048 bits or more
  // than 8192.
  static absl::StatusOr<PublicKey> Rsa(std::string_view modulus,
                                       std::string_view exponent);
  // ES256: ECDSA with SHA-256 on the curve P-256. Both coordinates have 32
  // bytes. INVALID_ARGUMENT: the point is not on the curve.
  static absl::StatusOr<PublicKey> P256(std::string_view x, std::string_view y);

  // "RS256" or "ES256".
  const char* algorithm() const { return is_rsa_ ? "RS256" : "ES256"; }

  // UNAUTHENTICATED unless `signature` is of `data` by this key; of ES256 its
  // two numbers, 64 bytes together.
  absl::Status Verify(std::string_view data, std::string_view signature) const;

 private:
  PublicKey(std::shared_ptr<void> key, bool is_rsa)
      : key_(std::move(key)), is_rsa_(is_rsa) {}

  // An EVP_PKEY.
  std::shared_ptr<void> key_;
  bool is_rsa_;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_DIGEST_SIGNATURE_H_
