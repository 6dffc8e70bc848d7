#include "base/digest/crc32c.h"

#include <algorithm>
#include <cstddef>

#include <isa-l/crc.h>

namespace ordo::base {

uint32_t Crc32c(std::string_view data) {
  // The library counts in int.
  constexpr size_t kMaxPart = size_t{1} << 30;
  uint32_t crc = 0xFFFFFFFF;
  while (!data.empty()) {
    const size_t part = std::min(data.size(), kMaxPart);
    // It takes a non-const pointer, but only reads.
    auto* bytes =
        reinterpret_cast<unsigned char*>(const_cast<char*>(data.data()));
    crc = crc32_iscsi(bytes, static_cast<int>(part), crc);
    data.remove_prefix(part);
  }
  return ~crc;
}

}  // namespace ordo::base
