#ifndef ORDO_KERNELS_COMMON_LEFT_OUT_H_
#define ORDO_KERNELS_COMMON_LEFT_OUT_H_

#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"

// Kernels that this process must not take: those that are wrong on its device,
// as a probe of the device has found.

namespace ordo::kernels {

// In place of those of an earlier call; each "<table>/<kernel>", such as
// "attention/cpu_tiled". Names that no table has are ignored: another build may
// have known them. Before any table is used, from one thread.
void LeaveOut(std::set<std::string> kernels);

const std::set<std::string>& LeftOut();

// OK, or UNIMPLEMENTED: the kernel is left out.
absl::Status CheckLeftIn(std::string_view table, std::string_view kernel);

}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_LEFT_OUT_H_
