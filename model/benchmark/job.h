#ifndef ORDO_MODEL_BENCHMARK_JOB_H_
#define ORDO_MODEL_BENCHMARK_JOB_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "kernels/common/type.h"
#include "model/benchmark/attention_benchmark.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

// A benchmark task: what a specification asks for, and the report on it.

namespace ordo::model::benchmark {

// Of a resolved benchmark on a device. Peak memory is that of its own shapes.
AttentionOptions OptionsOf(const ordo::training::v1::Benchmark& benchmark,
                           kernels::Device device);

// Runs a resolved task on its device; a GPU has been opened. CANCELLED when
// `should_stop` said so; INVALID_ARGUMENT where no kernel takes anything of it.
struct JobHooks {
  std::function<bool()> should_stop = [] { return false; };
  // As AttentionOptions::on_shape.
  std::function<void(int64_t num_done, int64_t num_total)> on_shape =
      [](int64_t, int64_t) {};
};
absl::StatusOr<AttentionResults> RunJob(
    const ordo::training::v1::BenchmarkSpec& spec, const JobHooks& hooks);

// Writes figures.jsonl (a line for each figure, as tools/bench does), table.md
// and result.json (what was asked for, and `metrics`) to
// <job_folder>/results/<name>-<attempt>, durable and whole or not at all.
//
// Metrics, for the kernel that Select takes, at the last shape of the list:
// fwd_bwd_ratio_<class>_<type>, or fwd_ratio_... without backward passes.
absl::StatusOr<ordo::training::v1::ReportWritten> WriteReport(
    base::Filesystem& files, const std::string& job_folder,
    const ordo::training::v1::BenchmarkSpec& spec,
    const AttentionResults& results);

}  // namespace ordo::model::benchmark

#endif  // ORDO_MODEL_BENCHMARK_JOB_H_
