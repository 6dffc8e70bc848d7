#ifndef ORDO_BASE_DIGEST_TESTING_SIGNING_KEY_H_
#define ORDO_BASE_DIGEST_TESTING_SIGNING_KEY_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ordo::base::testing {

// A private key that signs as tokens are signed (RFC 7518).
class SigningKey {
 public:
  // A new one, of so many bits.
  static SigningKey Rsa(int num_bits = 2048);
  // A new one.
  static SigningKey P256();

  // Numbers of the public key, big-endian: of RSA `n` and `e`, of P-256 `x` and
  // `y`.
  std::string Number(const char* name) const;
  // By RS256 or ES256, as the key is.
  std::string Sign(std::string_view data) const;

 private:
  explicit SigningKey(std::shared_ptr<void> key, bool is_rsa)
      : key_(std::move(key)), is_rsa_(is_rsa) {}

  std::shared_ptr<void> key_;
  bool is_rsa_;
};

}  // namespace ordo::base::testing

#endif  // ORDO_BASE_DIGEST_TESTING_SIGNING_KEY_H_
