#include "base/digest/testing/signing_key.h"

#include <algorithm>
#include <vector>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "base/check.h"

namespace ordo::base::testing {
namespace {

constexpr int kCoordinateBytes = 32;

std::shared_ptr<void> Owned(EVP_PKEY* key) {
  ORDO_CHECK(key != nullptr);
  return {key, [](void* it) { EVP_PKEY_free(static_cast<EVP_PKEY*>(it)); }};
}

EVP_PKEY* KeyOf(const std::shared_ptr<void>& key) {
  return static_cast<EVP_PKEY*>(key.get());
}

// `size` bytes at least, with leading zeros.
std::string BytesOf(const BIGNUM* number, int size) {
  std::string bytes(std::max(size, BN_num_bytes(number)), '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()),
               static_cast<int>(bytes.size()));
  return bytes;
}

// The two numbers of an ECDSA signature one after the other.
std::string NumbersOf(const std::vector<unsigned char>& der) {
  const unsigned char* at = der.data();
  ECDSA_SIG* const both =
      d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()));
  ORDO_CHECK(both != nullptr);
  const std::string bytes = BytesOf(ECDSA_SIG_get0_r(both), kCoordinateBytes) +
                            BytesOf(ECDSA_SIG_get0_s(both), kCoordinateBytes);
  ECDSA_SIG_free(both);
  return bytes;
}

}  // namespace

SigningKey SigningKey::Rsa(int num_bits) {
  return SigningKey(Owned(EVP_RSA_gen(num_bits)), /*is_rsa=*/true);
}

SigningKey SigningKey::P256() {
  return SigningKey(Owned(EVP_EC_gen("P-256")), /*is_rsa=*/false);
}

std::string SigningKey::Number(const char* name) const {
  const std::string wanted = name;
  const char* const parameter = wanted == "n"   ? OSSL_PKEY_PARAM_RSA_N
                                : wanted == "e" ? OSSL_PKEY_PARAM_RSA_E
                                : wanted == "x" ? OSSL_PKEY_PARAM_EC_PUB_X
                                                : OSSL_PKEY_PARAM_EC_PUB_Y;
  BIGNUM* number = nullptr;
  ORDO_CHECK(EVP_PKEY_get_bn_param(KeyOf(key_), parameter, &number) == 1);
  std::string bytes = BytesOf(number, is_rsa_ ? 0 : kCoordinateBytes);
  BN_free(number);
  return bytes;
}

std::string SigningKey::Sign(std::string_view data) const {
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  ORDO_CHECK(EVP_DigestSignInit_ex(context, nullptr, "SHA256", nullptr, nullptr,
                                   KeyOf(key_), nullptr) == 1);
  const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
  size_t size = 0;
  ORDO_CHECK(EVP_DigestSign(context, nullptr, &size, bytes, data.size()) == 1);
  std::vector<unsigned char> signature(size);
  ORDO_CHECK(EVP_DigestSign(context, signature.data(), &size, bytes,
                            data.size()) == 1);
  EVP_MD_CTX_free(context);
  signature.resize(size);
  if (!is_rsa_) return NumbersOf(signature);
  return {signature.begin(), signature.end()};
}

}  // namespace ordo::base::testing
