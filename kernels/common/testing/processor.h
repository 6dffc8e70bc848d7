#ifndef ORDO_KERNELS_COMMON_TESTING_PROCESSOR_H_
#define ORDO_KERNELS_COMMON_TESTING_PROCESSOR_H_

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "kernels/common/cpu_features.h"

namespace ordo::kernels::testing {

// Whether this processor has the instructions that the name of a processor's
// row ends with; OK if it ends with none. What a row of these refuses beside,
// it refuses everywhere.
inline absl::Status HasInstructionsOf(std::string_view row) {
  using Has = absl::Status (*)();
  // The tiles are emulated, what is around them is not.
  constexpr std::pair<std::string_view, Has> kEnds[] = {
      {"_emulated_amx", HasAvx512Bf16},
      {"_amx", HasAmx},
      {"_avx512bf16", HasAvx512Bf16},
      {"_avx512", HasAvx512},
      {"_avx2", HasAvx2},
  };
  for (const auto& [end, has] : kEnds) {
    const bool ends =
        row.size() >= end.size() && row.substr(row.size() - end.size()) == end;
    if (ends) return has();
  }
  return absl::OkStatus();
}

}  // namespace ordo::kernels::testing

#endif  // ORDO_KERNELS_COMMON_TESTING_PROCESSOR_H_
