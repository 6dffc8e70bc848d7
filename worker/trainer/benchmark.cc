#include "worker/trainer/benchmark.h"

#include <algorithm>
#include <string>

#include "base/log/log.h"
#include "base/status/status.h"
#include "model/benchmark/job.h"
#include "model/training/numerics.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ordo::training::v1::BenchmarkSpec;
using ordo::training::v1::ExitCode;

absl::StatusOr<ExitCode> Measure(const TrainerContext& context,
                                 const BenchmarkSpec& spec,
                                 Progress* progress) {
  ORDO_RETURN_IF_ERROR(OpenDevice(context, spec.resources()).status());
  model::training::ConfigureNumerics(spec.resources().threads());
  const std::string& name = spec.benchmark().name();
  const auto& finished = spec.finished_reports();
  if (std::find(finished.begin(), finished.end(), name) != finished.end()) {
    return ordo::training::v1::FINISHED;
  }
  model::benchmark::JobHooks hooks;
  hooks.should_stop = context.stop_requested;
  hooks.on_shape = [&](int64_t num_done, int64_t num_total) {
    ordo::training::v1::EvaluationProgress record;
    record.set_name(name);
    record.set_done(num_done);
    record.set_total(num_total);
    progress->Evaluation(record);
  };
  const auto results = model::benchmark::RunJob(spec, hooks);
  if (absl::IsCancelled(results.status())) return ordo::training::v1::STOPPED;
  ORDO_RETURN_IF_ERROR(results.status());
  ORDO_RETURN_IF_ERROR(progress->CheckFolder());
  const auto report = model::benchmark::WriteReport(
      context.files, context.job_folder, spec, *results);
  ORDO_RETURN_IF_ERROR(
      WithExitCode(report.status(), ordo::training::v1::STORAGE_ERROR));
  progress->Report(*report, name);
  base::LogInfo("report written", {{"id", report->id()}});
  return ordo::training::v1::FINISHED;
}

}  // namespace

absl::StatusOr<ExitCode> RunBenchmark(const TrainerContext& context,
                                      const BenchmarkSpec& spec,
                                      Progress* progress) {
  ordo::training::v1::TrainerStarted started;
  started.set_build_digest(context.build_digest);
  started.set_exact(true);
  progress->Started(started);
  const absl::StatusOr<ExitCode> code = Measure(context, spec, progress);
  ordo::training::v1::TrainerFinished finished;
  finished.set_code(code.ok() ? *code : ExitCodeOf(code.status()));
  finished.set_message(!code.ok() ? std::string(code.status().message())
                       : *code == ordo::training::v1::FINISHED
                           ? "all is measured"
                           : "stopped on request");
  const absl::Status told = progress->Finished(finished);
  if (code.ok() && !told.ok()) return told;
  return code;
}

}  // namespace ordo::worker::trainer
