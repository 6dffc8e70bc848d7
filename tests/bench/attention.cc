// Measures the attention kernels beside LibTorch's flash attention; its flags
// are those of kAbout and FlagsOf.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status/status.h"
#include "kernels/common/device_name.h"
#include "kernels/common/type.h"
#include "model/benchmark/attention_benchmark.h"
#include "model/benchmark/attention_classes.h"
#include "model/benchmark/attention_results.h"
#include "tests/bench/attention_figures.h"
#include "tests/bench/panels.h"
#include "tests/bench/program.h"

namespace {

using ordo::kernels::Device;
using ordo::kernels::DeviceName;
using ordo::kernels::Type;
using ordo::model::benchmark::AttentionClass;
using ordo::model::benchmark::AttentionOptions;
using ordo::model::benchmark::AttentionResults;
using ordo::model::benchmark::AttentionShape;
using ordo::model::benchmark::Measurement;
using ordo::model::benchmark::TextOf;
using ordo::model::benchmark::TypeNamed;
using ordo::tests::bench::AddDevice;
using ordo::tests::bench::ExitCodeOf;
using ordo::tests::bench::FiguresOf;
using ordo::tests::bench::Flags;
using ordo::tests::bench::GaveHelp;
using ordo::tests::bench::OpenDevice;
using ordo::tests::bench::Outputs;
using ordo::tests::bench::ReadNumber;
using ordo::tests::bench::WriteFigures;

constexpr int kMaxLength = 65536;

constexpr char kAbout[] =
    "Measures the attention kernels beside LibTorch's flash attention, for "
    "each class\n"
    "of encodings. OMP_NUM_THREADS sets the threads; docs/kernels.md says what "
    "the\n"
    "figures mean. Example:\n"
    "  tools/bench attention --json figures.jsonl --plots figures\n";

struct Arguments {
  DeviceName device;
  AttentionOptions options;
  Outputs outputs;
  bool quick = false;
  bool list = false;
  std::vector<std::string> encodings;
  std::vector<int64_t> lengths;
  std::vector<Type> types;
};

absl::Status ReadLengths(const std::string& value, Arguments* arguments) {
  for (const auto text : absl::StrSplit(value, ',')) {
    int length = 0;
    ORDO_RETURN_IF_ERROR(
        ReadNumber("--lengths", std::string(text), kMaxLength, &length));
    arguments->lengths.push_back(length);
  }
  return absl::OkStatus();
}

absl::Status ReadTypes(const std::string& value, Arguments* arguments) {
  for (const std::string& name :
       std::vector<std::string>(absl::StrSplit(value, ','))) {
    const absl::StatusOr<Type> type = TypeNamed(name);
    if (!type.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--types: ", std::string(type.status().message())));
    }
    arguments->types.push_back(*type);
  }
  return absl::OkStatus();
}

// Only the classes that are named, in the order of their table.
absl::Status KeepClasses(const std::vector<std::string>& names,
                         std::vector<AttentionClass>* classes) {
  std::vector<std::string> known;
  for (const AttentionClass& about : *classes) known.push_back(about.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat("--encodings: '", name,
                                                   "' is not one of ",
                                                   absl::StrJoin(known, ", ")));
  }
  std::vector<AttentionClass> kept;
  for (const AttentionClass& about : *classes) {
    if (std::find(names.begin(), names.end(), about.name) == names.end()) {
      continue;
    }
    kept.push_back(about);
  }
  *classes = kept;
  return absl::OkStatus();
}

// Those lengths in the place of the shapes' own; where as many tokens are
// measured at every length, that many.
void TakeLengths(const std::vector<int64_t>& lengths,
                 std::vector<AttentionShape>* shapes) {
  std::vector<AttentionShape> taken;
  int64_t width = 0;
  for (AttentionShape shape : *shapes) {
    if (shape.width == width) continue;
    width = shape.width;
    const int64_t tokens = shape.batch * shape.length;
    for (const int64_t length : lengths) {
      shape.length = length;
      if (shape.device != Device::kCpu) {
        shape.batch = std::max<int64_t>(tokens / length, 1);
      }
      taken.push_back(shape);
    }
  }
  *shapes = taken;
}

Flags FlagsOf(Arguments* arguments) {
  Flags flags(kAbout);
  AddDevice(&flags, &arguments->device);
  flags.Add("--encodings", "A,B", "some of the classes",
            [=](const std::string& value) {
              arguments->encodings = absl::StrSplit(value, ',');
              return absl::OkStatus();
            });
  flags.Add(
      "--lengths", "N,N", "those tokens, in place of the standard ones",
      [=](const std::string& value) { return ReadLengths(value, arguments); });
  flags.Add(
      "--types", "A,B", "some of fp32, bf16, fp16",
      [=](const std::string& value) { return ReadTypes(value, arguments); });
  arguments->outputs.AddTo(&flags);
  flags.AddSwitch("--quick", "few short lengths, to see that it works",
                  [=] { arguments->quick = true; });
  flags.AddSwitch("--list", "names the classes, and measures nothing",
                  [=] { arguments->list = true; });
  return flags;
}

absl::Status Parse(const Flags& flags, const std::vector<std::string>& given,
                   Arguments* arguments) {
  ORDO_RETURN_IF_ERROR(flags.Read(given));
  // Before the table is read.
  ORDO_RETURN_IF_ERROR(OpenDevice(arguments->device));
  AttentionOptions& options = arguments->options;
  options = AttentionOptions::For(arguments->device.device);
  options.gpu = arguments->device.index;
  if (arguments->quick) options = options.Quick();
  if (!arguments->lengths.empty()) {
    TakeLengths(arguments->lengths, &options.shapes);
  }
  if (!arguments->types.empty()) options.types = arguments->types;
  if (arguments->encodings.empty()) return absl::OkStatus();
  return KeepClasses(arguments->encodings, &options.classes);
}

absl::Status Run(const Arguments& arguments) {
  ORDO_RETURN_IF_ERROR(arguments.outputs.Check());
  bool head_said = false;
  ORDO_ASSIGN_OR_RETURN(
      const AttentionResults results,
      RunAttention(arguments.options,
                   [&](const auto& about, auto type, const auto& so_far) {
                     if (!head_said) std::puts(HeadText(so_far).c_str());
                     head_said = true;
                     std::puts(TimesTable(about, type, so_far).c_str());
                     std::fflush(stdout);
                   }));
  if (results.rows.empty() && !results.refused.empty()) {
    return absl::UnimplementedError(absl::StrCat(
        "no kernel takes any class in any of the types: ",
        results.refused.begin()->first, ": ", results.refused.begin()->second));
  }
  std::fputs(MemoryTable(results).c_str(), stdout);
  std::fflush(stdout);
  std::vector<Measurement> measurements = MeasurementsOf(results);
  if (arguments.quick) {
    for (Measurement& each : measurements) each.params["quick"] = "true";
  }
  ORDO_RETURN_IF_ERROR(arguments.outputs.WriteJson(measurements));
  if (arguments.outputs.plots_folder.empty()) return absl::OkStatus();
  return WriteFigures(FiguresOf(results), arguments.outputs.plots_folder);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  Arguments arguments;
  const Flags flags = FlagsOf(&arguments);
  if (GaveHelp(flags, given)) return 0;
  const absl::Status parsed = Parse(flags, given, &arguments);
  if (!parsed.ok()) return ExitCodeOf("attention", parsed);
  if (arguments.list) {
    for (const AttentionClass& about : arguments.options.classes) {
      std::printf("%-14s %s\n", about.name.c_str(), TextOf(about).c_str());
    }
    return 0;
  }
  return ExitCodeOf("attention", Run(arguments));
}
