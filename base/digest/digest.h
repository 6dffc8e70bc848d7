#ifndef ORDO_BASE_DIGEST_DIGEST_H_
#define ORDO_BASE_DIGEST_DIGEST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/files/files.h"

namespace ordo::base {

// SHA-256 of bytes that come in parts. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Update(std::string_view data);
  // The digest as 64 lower-case hexadecimal digits. Ends the computation: no
  // further call.
  std::string FinishHex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// SHA-256 as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view data);
absl::StatusOr<std::string> Sha256HexOfFile(Filesystem& files,
                                            const std::string& path);

// Bytes as lower-case hexadecimal digits.
std::string ToHex(std::string_view bytes);

}  // namespace ordo::base

#endif  // ORDO_BASE_DIGEST_DIGEST_H_
