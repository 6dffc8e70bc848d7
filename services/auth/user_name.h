#ifndef ORDO_SERVICES_AUTH_USER_NAME_H_
#define ORDO_SERVICES_AUTH_USER_NAME_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "absl/strings/ascii.h"

namespace ordo::services::auth {

inline constexpr size_t kMaxUserLength = 128;

// 1..kMaxUserLength printable ASCII characters without spaces.
inline bool IsUserName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxUserLength &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isgraph(static_cast<unsigned char>(c));
         });
}

}  // namespace ordo::services::auth

#endif  // ORDO_SERVICES_AUTH_USER_NAME_H_
