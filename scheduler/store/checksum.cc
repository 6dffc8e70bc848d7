#include "scheduler/store/checksum.h"

#include "base/digest/crc32c.h"

namespace ordo::scheduler::store {

Checksum& Checksum::Add(int64_t number) {
  const auto bits = static_cast<uint64_t>(number);
  char bytes[sizeof(bits)];
  for (size_t i = 0; i < sizeof(bits); ++i) {
    bytes[i] = static_cast<char>(bits >> (8 * i) & 0xff);
  }
  bytes_.append(bytes, sizeof(bytes));
  return *this;
}

Checksum& Checksum::Add(std::string_view text) {
  Add(static_cast<int64_t>(text.size()));
  bytes_.append(text);
  return *this;
}

uint32_t Checksum::value() const { return base::Crc32c(bytes_); }

}  // namespace ordo::scheduler::store
