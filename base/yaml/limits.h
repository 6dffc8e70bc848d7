#ifndef ORDO_BASE_YAML_LIMITS_H_
#define ORDO_BASE_YAML_LIMITS_H_

#include <cstddef>

namespace ordo::base {

// Texts longer or nested deeper than this are refused.
inline constexpr size_t kMaxTextBytes = 1 << 20;
inline constexpr int kMaxTextDepth = 32;

}  // namespace ordo::base

#endif  // ORDO_BASE_YAML_LIMITS_H_
