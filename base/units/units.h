#ifndef ORDO_BASE_UNITS_UNITS_H_
#define ORDO_BASE_UNITS_UNITS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"

// Quantities as short text for people. Not meant to be parsed.

namespace ordo::base {

// "0s", "12ms", "4.2s", "3m20s", "2h05m", "3d04h"; "-" when infinite.
std::string HumanDuration(absl::Duration duration);

// "0 B", "512 B", "1.5 GiB".
std::string HumanBytes(uint64_t num_bytes);

// "950", "12.3k", "154.9M", "1.2G".
std::string HumanCount(double count);

}  // namespace ordo::base

#endif  // ORDO_BASE_UNITS_UNITS_H_
