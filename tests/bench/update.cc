// Measures the change of TAPE's state by kernels, beside plain operations and
// beside copies; its flags are those of kAbout and FlagsOf.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "kernels/common/device_name.h"
#include "model/benchmark/attention_classes.h"
#include "model/benchmark/measurement.h"
#include "model/benchmark/update_benchmark.h"
#include "tests/bench/panels.h"
#include "tests/bench/program.h"

namespace {

using ordo::kernels::Device;
using ordo::kernels::DeviceName;
using ordo::model::benchmark::kPlainUpdate;
using ordo::model::benchmark::Measurement;
using ordo::model::benchmark::NameOf;
using ordo::model::benchmark::Quantile;
using ordo::model::benchmark::UpdateOptions;
using ordo::model::benchmark::UpdateResults;
using ordo::model::benchmark::UpdateRow;
using ordo::tests::bench::AddDevice;
using ordo::tests::bench::DrawPanels;
using ordo::tests::bench::ExitCodeOf;
using ordo::tests::bench::Flags;
using ordo::tests::bench::GaveHelp;
using ordo::tests::bench::NamedFigure;
using ordo::tests::bench::OpenDevice;
using ordo::tests::bench::Outputs;
using ordo::tests::bench::Panels;
using ordo::tests::bench::WriteFigures;

constexpr char kAbout[] =
    "Measures the change of TAPE's state by kernels, beside plain operations "
    "and\n"
    "beside copies. OMP_NUM_THREADS sets the threads; docs/kernels.md says "
    "what "
    "the\n"
    "figures mean. Example:\n"
    "  tools/bench update --json figures.jsonl --plots figures\n";

struct Arguments {
  DeviceName device;
  Outputs outputs;
  bool quick = false;
};

Flags FlagsOf(Arguments* arguments) {
  Flags flags(kAbout);
  AddDevice(&flags, &arguments->device);
  arguments->outputs.AddTo(&flags);
  flags.AddSwitch("--quick",
                  "one short shape of each map, to see that it works",
                  [=] { arguments->quick = true; });
  return flags;
}

// A panel for each map, a line for each type and width.
std::vector<NamedFigure> FiguresOf(const UpdateResults& results) {
  Panels ratios, rates;
  for (const UpdateRow& row : results.rows) {
    const std::string map =
        row.shape.inner == 0
            ? "after attention"
            : absl::StrCat("after the MLP, E=", row.shape.inner);
    const std::string line = absl::StrCat(
        NameOf(row.type), ", H=", row.shape.heads, " d=", row.shape.width);
    const auto add = [&](const std::vector<double>& samples, bool dashed,
                         Panels* panels) {
      const auto [low, high] =
          std::minmax_element(samples.begin(), samples.end());
      panels->Of(map).Add(
          line, dashed,
          {row.shape.tokens, Quantile(samples, 0.5), *low, *high});
    };
    if (!row.total_ratio.empty()) add(row.total_ratio, false, &ratios);
    std::vector<double> bytes_per_s;
    for (const double s : row.total_s) {
      bytes_per_s.push_back(1e-9 * row.total_bytes / s);
    }
    add(bytes_per_s, row.kernel == kPlainUpdate, &rates);
  }
  const std::string conditions =
      results.device == Device::kCpu
          ? absl::StrCat("CPU, ", results.threads, " threads")
          : std::string("GPU");
  return {
      {"update_ratio",
       DrawPanels(ratios, {"TAPE's change of state: forward and backward",
                           conditions, "time / plain operations",
                           /*level=*/1, "plain operations"})},
      {"update_bytes",
       DrawPanels(rates, {"TAPE's change of state: bytes that it needs",
                          conditions, "GB/s", 1e-9 * results.copy_bytes_per_s,
                          "copies", "plain operations"})}};
}

absl::Status Run(const Arguments& arguments) {
  ORDO_RETURN_IF_ERROR(arguments.outputs.Check());
  ORDO_RETURN_IF_ERROR(OpenDevice(arguments.device));
  UpdateOptions options = UpdateOptions::For(arguments.device.device);
  options.gpu = arguments.device.index;
  if (arguments.quick) options = options.Quick();
  ORDO_ASSIGN_OR_RETURN(const auto results, RunUpdate(options));
  std::fputs(TableOf(results).c_str(), stdout);
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
  absl::Status status = flags.Read(given);
  if (status.ok()) status = Run(arguments);
  return ExitCodeOf("update", status);
}
