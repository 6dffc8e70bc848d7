#include "tests/bench/program.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/process/process.h"
#include "base/status/status.h"
#include "model/training/numerics.h"
#include "tests/bench/outputs.h"

namespace ordo::tests::bench {
namespace {

using kernels::Device;
using kernels::DeviceName;

// As it is built: this program lies in tests/bench.
absl::StatusOr<std::string> LibraryPath() {
  ORDO_ASSIGN_OR_RETURN(const std::string program, base::ExecutablePath());
  return base::GpuKernelsIn(
      base::FolderOf(base::FolderOf(base::FolderOf(program))));
}

}  // namespace

void Flags::AddSwitch(const std::string& flag, const std::string& help,
                      std::function<void()> told) {
  flags_.push_back({flag, "", help, std::move(told), nullptr});
}

void Flags::Add(const std::string& flag, const std::string& value,
                const std::string& help, Told told) {
  flags_.push_back({flag, value, help, nullptr, std::move(told)});
}

void Flags::AddText(const std::string& flag, const std::string& value,
                    const std::string& help, std::string* text) {
  Add(flag, value, help, [=](const std::string& given) {
    *text = given;
    return absl::OkStatus();
  });
}

void Flags::AddNumber(const std::string& flag, int max, const std::string& help,
                      int* number) {
  Add(flag, "N", help, [=](const std::string& given) {
    return ReadNumber(flag, given, max, number);
  });
}

absl::Status Flags::Read(const std::vector<std::string>& arguments) const {
  std::vector<std::pair<const Flag*, std::string>> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Flag* const flag = Find(arguments[i]);
    if (flag == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "unknown flag '", arguments[i], "'; --help says which there are"));
    }
    if (flag->switched != nullptr) {
      flag->switched();
    } else if (++i == arguments.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(flag->name, " lacks its value"));
    } else {
      values.emplace_back(flag, arguments[i]);
    }
  }
  for (const auto& [flag, value] : values) {
    ORDO_RETURN_IF_ERROR(flag->told(value));
  }
  return absl::OkStatus();
}

std::string Flags::Help() const {
  std::string text = absl::StrCat(about_, "\n");
  const auto add = [&](const std::string& name, const std::string& help) {
    absl::StrAppendFormat(&text, "  %-20s %s\n", name, help);
  };
  for (const Flag& flag : flags_) {
    add(flag.value.empty() ? flag.name : flag.name + " " + flag.value,
        flag.help);
  }
  add("--help", "prints this");
  return text;
}

const Flags::Flag* Flags::Find(const std::string& name) const {
  for (const Flag& flag : flags_) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

bool GaveHelp(const Flags& flags, const std::vector<std::string>& arguments) {
  if (std::find(arguments.begin(), arguments.end(), "--help") ==
      arguments.end()) {
    return false;
  }
  std::fputs(flags.Help().c_str(), stdout);
  return true;
}

absl::Status ReadNumber(const std::string& flag, const std::string& value,
                        int max, int* number) {
  if (absl::SimpleAtoi(value, number) && *number >= 1 && *number <= max) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": '", value, "' is not a number in 1..", max));
}

void Outputs::AddTo(Flags* flags) {
  flags->AddText("--json", "FILE", "writes each figure as a line of JSON",
                 &json_file);
  flags->AddText("--plots", "DIR", "draws figures as SVG and PNG",
                 &plots_folder);
}

absl::Status Outputs::Check() const {
  ORDO_RETURN_IF_ERROR(CheckJsonFile(json_file));
  return CheckPlotsFolder(plots_folder);
}

absl::Status Outputs::WriteJson(
    const std::vector<model::benchmark::Measurement>& measurements) const {
  if (json_file.empty()) return absl::OkStatus();
  std::string lines;
  for (const auto& measurement : measurements) {
    absl::StrAppend(&lines, ToJson(measurement), "\n");
  }
  base::PosixFilesystem files;
  return base::AtomicWrite(files, json_file, lines);
}

void AddDevice(Flags* flags, DeviceName* device) {
  flags->Add("--device", "NAME",
             "cpu (unless given), cuda, or cuda:1 for another than the first "
             "GPU",
             [=](const std::string& value) {
               const auto parsed = kernels::ParseDevice(value);
               if (!parsed.ok()) {
                 return absl::InvalidArgumentError(
                     absl::StrCat("--device ", parsed.status().message()));
               }
               *device = *parsed;
               return absl::OkStatus();
             });
}

absl::Status OpenDevice(const DeviceName& device) {
  if (device.device == Device::kCpu) return absl::OkStatus();
  if (device.index > 0 && kernels::GpusAreChosen()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--device: ", kernels::ToString(device),
        " cannot be taken where CUDA_VISIBLE_DEVICES says which GPUs are seen; "
        "unset it, or name cuda, which is the first of those"));
  }
  kernels::SeeGpu(device.index);
  ORDO_ASSIGN_OR_RETURN(const std::string library, LibraryPath());
  const absl::Status opened =
      model::training::OpenDevice("cuda", library).status();
  if (opened.ok()) return opened;
  return absl::FailedPreconditionError(
      absl::StrCat("--device: ", kernels::ToString(device),
                   " cannot be measured here: ", opened.message()));
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
