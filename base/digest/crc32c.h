#ifndef ORDO_BASE_DIGEST_CRC32C_H_
#define ORDO_BASE_DIGEST_CRC32C_H_

#include <cstdint>
#include <string_view>

namespace ordo::base {

// CRC32C (Castagnoli polynomial, RFC 3720 section B.4) of `data`.
uint32_t Crc32c(std::string_view data);

}  // namespace ordo::base

#endif  // ORDO_BASE_DIGEST_CRC32C_H_
