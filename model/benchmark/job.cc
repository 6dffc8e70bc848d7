#include "model/benchmark/job.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "kernels/common/device_name.h"
#include "model/benchmark/measurement.h"
#include "model/training/durable_folder.h"
#include "nlohmann/json.hpp"

namespace ordo::model::benchmark {
namespace {

namespace v1 = ::ordo::training::v1;
using kernels::Device;
using kernels::Type;

Device DeviceOf(const v1::Resources& resources) {
  return resources.device() == "cuda" ? Device::kCuda : Device::kCpu;
}

// The machine, then a table for each class and type.
std::string TablesOf(const AttentionResults& results) {
  std::string text = absl::StrCat("```\n", HeadText(results));
  std::set<std::pair<std::string, Type>> done;
  for (const AttentionRow& row : results.rows) {
    if (!done.emplace(row.encoding, row.shape.type).second) continue;
    for (const AttentionClass& about : AttentionClasses()) {
      if (about.name != row.encoding) continue;
      absl::StrAppend(&text, "\n", TimesTable(about, row.shape.type, results));
    }
  }
  return text + "```\n";
}

std::map<std::string, double> MetricsOf(const AttentionResults& results) {
  std::map<std::string, double> metrics;
  for (const AttentionRow& row : results.rows) {
    if (row.runner != Runner::kSelected) continue;
    // Rows come in the order of shapes: the last stays.
    metrics[absl::StrCat(row.has_backward ? "fwd_bwd_ratio_" : "fwd_ratio_",
                         row.encoding, "_", NameOf(row.shape.type))] =
        Quantile(row.has_backward ? row.total_ratio : row.forward_ratio, 0.5);
  }
  return metrics;
}

}  // namespace

AttentionOptions OptionsOf(const v1::Benchmark& benchmark, Device device) {
  AttentionOptions options = AttentionOptions::For(device);
  const auto is_left_out = [&](const AttentionClass& about) {
    const auto& names = benchmark.classes();
    return std::find(names.begin(), names.end(), about.name) == names.end();
  };
  options.classes.erase(std::remove_if(options.classes.begin(),
                                       options.classes.end(), is_left_out),
                        options.classes.end());
  options.types.clear();
  for (const std::string& type : benchmark.types()) {
    options.types.push_back(*TypeNamed(type));
  }
  options.shapes.clear();
  for (const v1::BenchmarkShape& shape : benchmark.shapes()) {
    AttentionShape one;
    one.batch = shape.batch();
    one.heads = shape.heads();
    one.length = shape.length();
    one.width = shape.width();
    options.shapes.push_back(one);
  }
  options.backward = benchmark.passes() != "forward";
  options.max_rounds = benchmark.rounds();
  options.min_rounds = std::min(options.min_rounds, options.max_rounds);
  options.seconds_of_all = benchmark.seconds();
  options.memory_lengths.clear();
  int64_t longest = 0;
  for (const AttentionShape& shape : options.shapes) {
    longest = std::max(longest, shape.length);
  }
  // Few short shapes are not to wait for large products.
  constexpr int64_t kLeastSide = 512;
  options.gemm_side =
      std::clamp(longest, kLeastSide, std::max(options.gemm_side, kLeastSide));
  return options;
}

absl::StatusOr<AttentionResults> RunJob(const v1::BenchmarkSpec& spec,
                                        const JobHooks& hooks) {
  AttentionOptions options =
      OptionsOf(spec.benchmark(), DeviceOf(spec.resources()));
  options.should_stop = hooks.should_stop;
  options.on_shape = hooks.on_shape;
  ORDO_ASSIGN_OR_RETURN(
      AttentionResults results,
      RunAttention(options, [](const auto&, auto, const auto&) {}));
  if (!results.rows.empty()) return results;
  const auto first = results.refused.begin();
  return base::InvalidField(
      "benchmark.types",
      absl::StrCat("no kernel of this device takes any of them, with "
                   "benchmark.classes at benchmark.shapes: ",
                   first == results.refused.end()
                       ? "none is asked for"
                       : absl::StrCat(first->first, ": ", first->second)));
}

absl::StatusOr<v1::ReportWritten> WriteReport(base::Filesystem& files,
                                              const std::string& job_folder,
                                              const v1::BenchmarkSpec& spec,
                                              const AttentionResults& results) {
  const std::map<std::string, double> metrics = MetricsOf(results);
  nlohmann::ordered_json result;
  result["task"] = "attention";
  result["name"] = spec.benchmark().name();
  result["job"] = spec.job();
  result["attempt"] = spec.attempt();
  result["device"] = kernels::ToString({results.device, results.gpu});
  result["threads"] = results.threads;
  result["benchmark"] = nlohmann::ordered_json::parse(
      base::WriteMessage(spec.benchmark(), base::TextForm::kJson), nullptr,
      /*allow_exceptions=*/false);
  result["no_kernel"] = results.refused;
  result["metrics"] = metrics;
  std::string lines;
  for (const Measurement& measurement : MeasurementsOf(results)) {
    absl::StrAppend(&lines, ToJson(measurement), "\n");
  }
  v1::ReportWritten report;
  report.set_id(spec.benchmark().name());
  report.set_kind("benchmark");
  report.set_task("attention");
  report.set_folder(absl::StrCat("results/", report.id(), "-", spec.attempt()));
  report.mutable_metrics()->insert(metrics.begin(), metrics.end());
  const std::vector<training::NamedBytes> contents = {
      {"figures.jsonl", lines},
      {"result.json", result.dump(2) + "\n"},
      {"table.md", TablesOf(results)},
  };
  ORDO_ASSIGN_OR_RETURN(
      const auto infos,
      base::AddContext(
          training::WriteFolder(
              files, base::JoinPath(job_folder, report.folder()), contents),
          absl::StrCat("write report ", report.id())));
  report.mutable_files()->Assign(infos.begin(), infos.end());
  return report;
}

}  // namespace ordo::model::benchmark
