#include "worker/trainer/progress.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "base/units/proto_time.h"
#include "nlohmann/json.hpp"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {

using ordo::training::v1::CheckpointWritten;
using ordo::training::v1::ProgressRecord;
using ordo::training::v1::ReportWritten;
using ordo::training::v1::StepDone;

absl::StatusOr<std::unique_ptr<Progress>> Progress::Open(
    base::Filesystem& files, base::Clock& clock,
    const std::string& attempt_folder, int rank) {
  std::unique_ptr<Progress> progress(
      new Progress(files, clock, attempt_folder, rank));
  const auto open = [&]() -> absl::Status {
    ORDO_RETURN_IF_ERROR(files.MakeFolders(attempt_folder));
    ORDO_ASSIGN_OR_RETURN(
        progress->records_,
        base::RecordWriter::Open(files, progress->RecordsPath()));
    if (rank != 0) return absl::OkStatus();
    ORDO_ASSIGN_OR_RETURN(
        progress->metrics_,
        files.OpenForWrite(base::JoinPath(attempt_folder, "metrics.jsonl"),
                           base::WriteMode::kAppend));
    ORDO_ASSIGN_OR_RETURN(
        progress->events_,
        EventFile::Create(
            files, attempt_folder, clock.Now(),
            absl::StrCat("attempt-", base::NameOf(attempt_folder))));
    return absl::OkStatus();
  };
  ORDO_RETURN_IF_ERROR(WithExitCode(open(), ordo::training::v1::STORAGE_ERROR));
  return progress;
}

std::string Progress::RecordsPath() const {
  const std::string name = rank_ == 0
                               ? "progress.records"
                               : absl::StrCat("progress-", rank_, ".records");
  return base::JoinPath(folder_, name);
}

ProgressRecord Progress::Record() const {
  ProgressRecord record;
  *record.mutable_time() = base::ToTimestamp(clock_.Now());
  return record;
}

absl::Status Progress::AppendKept() {
  if (records_ == nullptr) {
    ORDO_ASSIGN_OR_RETURN(records_,
                          base::RecordWriter::Open(files_, RecordsPath()));
  }
  if (kept_.empty()) return absl::OkStatus();
  for (const std::string& payload : kept_) {
    ORDO_RETURN_IF_ERROR(records_->Append(payload));
  }
  // Before this they may be lost; a record that is there twice does no harm.
  ORDO_RETURN_IF_ERROR(records_->Sync());
  kept_.clear();
  return absl::OkStatus();
}

absl::Status Progress::Append(const ProgressRecord& record, bool must_know) {
  const std::string payload = record.SerializeAsString();
  if (must_know) kept_.push_back(payload);
  const auto append = [&]() -> absl::Status {
    ORDO_RETURN_IF_ERROR(AppendKept());
    return must_know ? absl::OkStatus() : records_->Append(payload);
  };
  const absl::Status status = append();
  if (!status.ok()) {
    // The file may end in a torn record: opening it again cuts that off.
    records_ = nullptr;
    base::LogWarning("progress record not written", {{"error", status}});
  }
  return status;
}

void Progress::AppendMetrics(const std::string& line) {
  if (metrics_ == nullptr) return;
  const absl::Status status = metrics_->Append(line + "\n");
  if (status.ok()) return;
  base::LogWarning("metrics.jsonl ends here", {{"error", status}});
  metrics_ = nullptr;
}

void Progress::AppendEvents(int64_t step,
                            const std::map<std::string, double>& values) {
  if (events_ == nullptr) return;
  const absl::Status status = events_->Append(clock_.Now(), step, values);
  if (status.ok()) return;
  base::LogWarning("TensorBoard's file ends here", {{"error", status}});
  events_ = nullptr;
}

void Progress::Started(const ordo::training::v1::TrainerStarted& started) {
  ProgressRecord record = Record();
  *record.mutable_started() = started;
  Append(record, /*must_know=*/true).IgnoreError();
}

void Progress::Step(const StepDone& step) {
  ProgressRecord record = Record();
  *record.mutable_step() = step;
  Append(record, /*must_know=*/false).IgnoreError();
  const std::map<std::string, double> values = {
      {"train/loss", step.loss()},
      {"train/learning_rate", step.learning_rate()},
      {"train/gradient_norm", step.gradient_norm()},
      {"train/tokens_per_second", step.tokens_per_second()},
  };
  nlohmann::ordered_json line;
  line["time"] =
      absl::FormatTime(absl::RFC3339_sec, clock_.Now(), absl::UTCTimeZone());
  line["step"] = step.step();
  line["loss"] = step.loss();
  line["learning_rate"] = step.learning_rate();
  line["gradient_norm"] = step.gradient_norm();
  line["tokens"] = step.tokens();
  line["tokens_per_second"] = step.tokens_per_second();
  line["step_seconds"] = step.step_seconds();
  AppendMetrics(line.dump());
  AppendEvents(step.step(), values);
}

void Progress::Checkpoint(const CheckpointWritten& checkpoint) {
  ProgressRecord record = Record();
  *record.mutable_checkpoint() = checkpoint;
  Append(record, /*must_know=*/true).IgnoreError();
}

void Progress::CheckpointFailed(int64_t step, const absl::Status& status) {
  ProgressRecord record = Record();
  record.mutable_checkpoint_failed()->set_step(step);
  record.mutable_checkpoint_failed()->set_message(
      std::string(status.message().data(), status.message().size()));
  Append(record, /*must_know=*/true).IgnoreError();
  base::LogWarning("checkpoint failed", {{"step", step}, {"error", status}});
}

void Progress::Evaluation(
    const ordo::training::v1::EvaluationProgress& evaluation) {
  ProgressRecord record = Record();
  *record.mutable_evaluation() = evaluation;
  Append(record, /*must_know=*/false).IgnoreError();
}

void Progress::Report(const ReportWritten& report, const std::string& name) {
  ProgressRecord record = Record();
  *record.mutable_report() = report;
  Append(record, /*must_know=*/true).IgnoreError();
  nlohmann::ordered_json line;
  line["time"] =
      absl::FormatTime(absl::RFC3339_sec, clock_.Now(), absl::UTCTimeZone());
  line["step"] = report.step();
  line["evaluation"] = name;
  std::map<std::string, double> values;
  for (const auto& [metric, value] : std::map<std::string, double>(
           report.metrics().begin(), report.metrics().end())) {
    line[metric] = value;
    values[absl::StrCat(name, "/", metric)] = value;
  }
  AppendMetrics(line.dump());
  AppendEvents(report.step(), values);
}

void Progress::Warning(const std::string& message) {
  ProgressRecord record = Record();
  record.mutable_warning()->set_message(message);
  Append(record, /*must_know=*/true).IgnoreError();
  base::LogWarning(message);
}

void Progress::Waiting(int64_t step) {
  ProgressRecord record = Record();
  record.mutable_waiting()->set_step(step);
  Append(record, /*must_know=*/false).IgnoreError();
}

absl::Status Progress::Finished(
    const ordo::training::v1::TrainerFinished& finished) {
  ProgressRecord record = Record();
  *record.mutable_finished() = finished;
  return WithExitCode(Append(record, /*must_know=*/true),
                      ordo::training::v1::STORAGE_ERROR);
}

absl::Status Progress::CheckFolder() const {
  const auto stat = files_.Stat(RecordsPath());
  if (!absl::IsNotFound(stat.status())) return absl::OkStatus();
  return WithExitCode(absl::NotFoundError(absl::StrCat(
                          "the folder ", folder_,
                          " vanished while the trainer was writing to it")),
                      ordo::training::v1::DATA_MISSING);
}

}  // namespace ordo::worker::trainer
