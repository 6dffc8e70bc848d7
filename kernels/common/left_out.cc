#include "kernels/common/left_out.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace ordo::kernels {
namespace {

std::set<std::string>& Names() {
  static auto* const names = new std::set<std::string>;
  return *names;
}

}  // namespace

void LeaveOut(std::set<std::string> kernels) { Names() = std::move(kernels); }

const std::set<std::string>& LeftOut() { return Names(); }

absl::Status CheckLeftIn(std::string_view table, std::string_view kernel) {
  const std::string name =
      absl::StrCat(std::string(table), "/", std::string(kernel));
  if (Names().count(name) == 0) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(name, " is left out: it failed the probe of this device"));
}

}  // namespace ordo::kernels
