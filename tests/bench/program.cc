#include "tests/bench/program.h"

#include <cstdio>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/status/status.h"
#include "model/training/numerics.h"

namespace ordo::tests::bench {
namespace {

using kernels::Device;

// As it is built: this program lies in tests/bench.
absl::StatusOr<std::string> LibraryPath() {
  ORDO_ASSIGN_OR_RETURN(const std::string program, base::ExecutablePath());
  return base::GpuKernelsIn(
      base::FolderOf(base::FolderOf(base::FolderOf(program))));
}

}  // namespace

void Flags::AddText(const std::string& flag, std::string* text) {
  values[flag] = [=](const std::string& value) {
    *text = value;
    return absl::OkStatus();
  };
}

absl::Status ReadFlags(const std::vector<std::string>& arguments,
                       const Flags& flags) {
  std::vector<std::pair<std::string, std::string>> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& flag = arguments[i];
    const auto found = flags.switches.find(flag);
    if (found != flags.switches.end()) {
      found->second();
    } else if (flags.values.count(flag) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown flag '", flag, "'"));
    } else if (++i == arguments.size()) {
      return absl::InvalidArgumentError(absl::StrCat(flag, " lacks its value"));
    } else {
      values.emplace_back(flag, arguments[i]);
    }
  }
  for (const auto& [flag, value] : values) {
    ORDO_RETURN_IF_ERROR(flags.values.at(flag)(value));
  }
  return absl::OkStatus();
}

absl::Status ReadNumber(const std::string& flag, const std::string& value,
                        int max, int* number) {
  if (absl::SimpleAtoi(value, number) && *number >= 1 && *number <= max) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": '", value, "' is not a number in 1..", max));
}

absl::Status ReadDevice(const std::string& value, Device* device) {
  if (value == "cuda" || value == "cuda:0") {
    *device = Device::kCuda;
  } else if (value != "cpu") {
    return absl::InvalidArgumentError(
        absl::StrCat("--device: '", value, "' is not cpu, cuda or cuda:0"));
  }
  return absl::OkStatus();
}

absl::Status OpenDevice(Device device) {
  if (device == Device::kCpu) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(const std::string library, LibraryPath());
  const absl::Status opened =
      model::training::OpenDevice("cuda", library).status();
  if (opened.ok()) return opened;
  return absl::FailedPreconditionError(
      absl::StrCat("--device: cuda cannot be measured here: ",
                   std::string(opened.message())));
}

int ExitCodeOf(const std::string& program, const absl::Status& status) {
  if (status.ok()) return 0;
  const std::string text = absl::StrCat(program, ": ", status.message(), "\n");
  std::fputs(text.c_str(), stderr);
  const bool refused = absl::IsInvalidArgument(status) ||
                       absl::IsFailedPrecondition(status) ||
                       absl::IsNotFound(status);
  return refused ? 2 : 1;
}

}  // namespace ordo::tests::bench
