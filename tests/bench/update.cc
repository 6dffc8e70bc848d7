// Measures the change of TAPE's state by kernels, beside plain operations and
// beside copies. Example:
//   tools/bench update --json figures.jsonl
//
// --device cuda measures on the first GPU; --quick takes one short shape of
// each map, to see that it works. OMP_NUM_THREADS sets the threads.
// docs/kernels.md says what the figures mean.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/status.h"
#include "model/benchmark/measurement.h"
#include "model/benchmark/update_benchmark.h"
#include "tests/bench/program.h"

namespace {

using ordo::kernels::Device;
using ordo::model::benchmark::Measurement;
using ordo::model::benchmark::UpdateOptions;
using ordo::tests::bench::ExitCodeOf;
using ordo::tests::bench::Flags;
using ordo::tests::bench::OpenDevice;
using ordo::tests::bench::ReadDevice;
using ordo::tests::bench::ReadFlags;

struct Arguments {
  Device device = Device::kCpu;
  std::string json_file;
  bool quick = false;
};

absl::Status Parse(const std::vector<std::string>& given,
                   Arguments* arguments) {
  Flags flags;
  flags.switches["--quick"] = [=] { arguments->quick = true; };
  flags.values["--json"] = [=](const std::string& value) {
    arguments->json_file = value;
    return absl::OkStatus();
  };
  flags.values["--device"] = [=](const std::string& value) {
    return ReadDevice(value, &arguments->device);
  };
  return ReadFlags(given, flags);
}

absl::Status Run(const Arguments& arguments) {
  ORDO_RETURN_IF_ERROR(OpenDevice(arguments.device));
  UpdateOptions options = UpdateOptions::For(arguments.device);
  if (arguments.quick) options = options.Quick();
  ORDO_ASSIGN_OR_RETURN(const auto results, RunUpdate(options));
  std::fputs(TableOf(results).c_str(), stdout);
  if (arguments.json_file.empty()) return absl::OkStatus();
  std::string lines;
  for (Measurement& measurement : MeasurementsOf(results)) {
    if (arguments.quick) measurement.params["quick"] = "true";
    absl::StrAppend(&lines, ToJson(measurement), "\n");
  }
  ordo::base::PosixFilesystem files;
  return ordo::base::AtomicWrite(files, arguments.json_file, lines);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  absl::Status status = Parse({argv + 1, argv + argc}, &arguments);
  if (status.ok()) status = Run(arguments);
  return ExitCodeOf("update", status);
}
