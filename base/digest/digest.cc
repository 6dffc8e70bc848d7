#include "base/digest/digest.h"

#include <array>
#include <cstddef>

#include <openssl/evp.h>

#include "base/check.h"
#include "base/status/status.h"

namespace ordo::base {

namespace {

// Found once: OpenSSL looks through its providers for EVP_sha256() each time.
const EVP_MD* Method() {
  static EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  ORDO_CHECK(method != nullptr) << "OpenSSL has no SHA-256";
  return method;
}

}  // namespace

struct Sha256::Context {
  EVP_MD_CTX* digest = nullptr;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  context_->digest = EVP_MD_CTX_new();
  ORDO_CHECK(context_->digest != nullptr);
  ORDO_CHECK(EVP_DigestInit_ex(context_->digest, Method(), nullptr) == 1);
}

Sha256::~Sha256() { EVP_MD_CTX_free(context_->digest); }

void Sha256::Update(std::string_view data) {
  ORDO_CHECK(EVP_DigestUpdate(context_->digest, data.data(), data.size()) == 1);
}

std::string Sha256::FinishHex() {
  std::array<unsigned char, 32> digest;
  unsigned int size = 0;
  ORDO_CHECK(EVP_DigestFinal_ex(context_->digest, digest.data(), &size) == 1);
  ORDO_CHECK(size == digest.size());
  return ToHex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string Sha256Hex(std::string_view data) {
  Sha256 digest;
  digest.Update(data);
  return digest.FinishHex();
}

absl::StatusOr<std::string> Sha256HexOfFile(Filesystem& files,
                                            const std::string& path) {
  constexpr size_t kPartBytes = size_t{1} << 20;
  ORDO_ASSIGN_OR_RETURN(auto file, files.OpenForRead(path));
  Sha256 digest;
  uint64_t offset = 0;
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const std::string part,
                          file->ReadAt(offset, kPartBytes));
    digest.Update(part);
    offset += part.size();
    if (part.size() < kPartBytes) return digest.FinishHex();
  }
}

std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace ordo::base
