#include "base/digest/signature.h"

#include <utility>
#include <vector>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

namespace ordo::base {
namespace {

struct Free {
  void operator()(BIGNUM* it) const { BN_free(it); }
  void operator()(ECDSA_SIG* it) const { ECDSA_SIG_free(it); }
  void operator()(EVP_MD_CTX* it) const { EVP_MD_CTX_free(it); }
  void operator()(EVP_PKEY_CTX* it) const { EVP_PKEY_CTX_free(it); }
  void operator()(OSSL_PARAM* it) const { OSSL_PARAM_free(it); }
  void operator()(OSSL_PARAM_BLD* it) const { OSSL_PARAM_BLD_free(it); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

constexpr int kMinModulusBits = 2048;
// Beyond that a check takes longer than a call may.
constexpr int kMaxModulusBits = 8192;
constexpr size_t kCoordinateBytes = 32;

const unsigned char* BytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Owned<BIGNUM> NumberOf(std::string_view bytes) {
  return Owned<BIGNUM>(
      BN_bin2bn(BytesOf(bytes), static_cast<int>(bytes.size()), nullptr));
}

// Null when OpenSSL takes them for no public key.
std::shared_ptr<void> KeyOf(const char* type, OSSL_PARAM_BLD* builder) {
  const Owned<OSSL_PARAM> params(OSSL_PARAM_BLD_to_param(builder));
  const Owned<EVP_PKEY_CTX> context(
      EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  const bool made = params != nullptr && context != nullptr &&
                    EVP_PKEY_fromdata_init(context.get()) == 1 &&
                    EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY,
                                      params.get()) == 1;
  if (made) {
    const Owned<EVP_PKEY_CTX> check(
        EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
    if (check != nullptr && EVP_PKEY_public_check(check.get()) == 1) {
      return {key, [](void* it) { EVP_PKEY_free(static_cast<EVP_PKEY*>(it)); }};
    }
  }
  EVP_PKEY_free(key);
  ERR_clear_error();
  return nullptr;
}

// The two numbers as OpenSSL reads them; empty when they are none.
std::vector<unsigned char> DerOf(std::string_view signature) {
  if (signature.size() != 2 * kCoordinateBytes) return {};
  Owned<BIGNUM> r = NumberOf(signature.substr(0, kCoordinateBytes));
  Owned<BIGNUM> s = NumberOf(signature.substr(kCoordinateBytes));
  const Owned<ECDSA_SIG> both(ECDSA_SIG_new());
  if (both == nullptr || ECDSA_SIG_set0(both.get(), r.get(), s.get()) != 1) {
    return {};
  }
  // `both` owns them now.
  static_cast<void>(r.release());
  static_cast<void>(s.release());
  unsigned char* bytes = nullptr;
  const int size = i2d_ECDSA_SIG(both.get(), &bytes);
  std::vector<unsigned char> der;
  if (size > 0) der.assign(bytes, bytes + size);
  OPENSSL_free(bytes);
  return der;
}

}  // namespace

absl::StatusOr<PublicKey> PublicKey::Rsa(std::string_view modulus,
                                         std::string_view exponent) {
  const Owned<BIGNUM> n = NumberOf(modulus);
  const Owned<BIGNUM> e = NumberOf(exponent);
  const Owned<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new());
  const int bits = BN_num_bits(n.get());
  std::shared_ptr<void> key;
  if (bits >= kMinModulusBits && bits <= kMaxModulusBits &&
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) ==
          1 &&
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) ==
          1) {
    key = KeyOf("RSA", builder.get());
  }
  if (key == nullptr) {
    return absl::InvalidArgumentError(
        "no RSA public key of 2048..8192 bits in n and e");
  }
  return PublicKey(std::move(key), /*is_rsa=*/true);
}

absl::StatusOr<PublicKey> PublicKey::P256(std::string_view x,
                                          std::string_view y) {
  std::shared_ptr<void> key;
  if (x.size() == kCoordinateBytes && y.size() == kCoordinateBytes) {
    // Uncompressed (SEC 1, 2.3.3).
    std::string point = "\x04";
    point.append(x);
    point.append(y);
    const Owned<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new());
    if (OSSL_PARAM_BLD_push_utf8_string(
            builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY,
                                         point.data(), point.size()) == 1) {
      key = KeyOf("EC", builder.get());
    }
  }
  if (key == nullptr) {
    return absl::InvalidArgumentError(
        "no public key of the curve P-256 in x and y");
  }
  return PublicKey(std::move(key), /*is_rsa=*/false);
}

absl::Status PublicKey::Verify(std::string_view data,
                               std::string_view signature) const {
  std::vector<unsigned char> bytes;
  if (is_rsa_) {
    bytes.assign(signature.begin(), signature.end());
  } else {
    bytes = DerOf(signature);
  }
  const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  const bool right = context != nullptr &&
                     EVP_DigestVerifyInit_ex(
                         context.get(), nullptr, "SHA256", nullptr, nullptr,
                         static_cast<EVP_PKEY*>(key_.get()), nullptr) == 1 &&
                     EVP_DigestVerify(context.get(), bytes.data(), bytes.size(),
                                      BytesOf(data), data.size()) == 1;
  ERR_clear_error();
  if (right) return absl::OkStatus();
  return absl::UnauthenticatedError("the signature is not of this key");
}

}  // namespace ordo::base
