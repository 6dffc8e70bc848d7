#include "scheduler/core/artifacts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/catalog/result_key.h"
#include "scheduler/core/board.h"
#include "scheduler/core/follow.h"
#include "scheduler/core/references.h"
#include "scheduler/core/results.h"
#include "scheduler/core/scores.h"
#include "scheduler/core/waiting.h"

namespace ordo::scheduler::core {
namespace {

using checkpoints::v1::Checkpoint;

google::protobuf::Timestamp TimeOf(const Turn& turn,
                                   const agent::v1::DurableRecord& record) {
  return record.has_time() ? record.time() : ToTimestamp(turn.now.wall);
}

void TakeCheckpoint(JobEdit& edit, const agent::v1::DurableRecord& record) {
  Turn& turn = edit.turn();
  JobEntry& entry = edit.entry();
  Live& live = *LiveIn(entry);
  const training::v1::CheckpointWritten& written = record.checkpoint();
  const int32_t attempt = edit.read().attempt_number();
  const CheckpointKey key{attempt, written.step()};
  if (written.step() < 0 || written.id() != CheckpointId(key)) {
    turn.Counted(Count::What::kCheckpoint, "refused");
    AddWarning(edit, absl::StrCat("checkpoint '", written.id(),
                                  "' was refused: attempt ", attempt,
                                  " writes <step>-", attempt));
    return;
  }
  if (entry.checkpoints.count(key) > 0) return;
  auto checkpoint = std::make_shared<checkpoints::v1::Checkpoint>();
  checkpoint->set_name(CheckpointName(entry.job->id(), written.id()));
  checkpoint->set_step(written.step());
  checkpoint->set_attempt(attempt);
  checkpoint->set_state(checkpoints::v1::Checkpoint::AVAILABLE);
  *checkpoint->mutable_create_time() = TimeOf(turn, record);
  *checkpoint->mutable_files() = written.files();
  checkpoint->set_manifest_sha256(written.manifest_sha256());
  checkpoint->set_state_digest(written.state_digest());
  checkpoint->set_origin(checkpoints::v1::Checkpoint::TRAINED);
  checkpoint->set_data_digest(written.data_digest());
  checkpoint->set_tokens(written.tokens());
  entry.checkpoints[key] = checkpoint;
  turn.Emit(Record{CheckpointPtr(checkpoint)});
  if (edit.read().interruptions != 0) edit.job().interruptions = 0;
  live.durable = turn.now.monotonic;
  live.unsaved_device_seconds = 0;
  ShowCheckpoint(turn, edit.read());
  live.durable_step = std::max(live.durable_step, written.step());
  TellFollowers(turn, entry.job->id());
  AddAnswers(turn.state, entry.job->id());
  turn.Counted(Count::What::kCheckpoint, "written");
  turn.Counted(Count::What::kCheckpointStall, "", written.stall_seconds());
  turn.Counted(Count::What::kCheckpointWrite, "", written.write_seconds());
  int64_t num_bytes = 0;
  for (const auto& file : written.files()) num_bytes += file.size_bytes();
  turn.Counted(Count::What::kCheckpointBytes, "",
               static_cast<double>(num_bytes));
  ApplyRetention(turn, entry);
}

bool IsPlainName(const std::string& id) {
  return !id.empty() && id.size() <= 255 && id != "." && id != ".." &&
         id.find('/') == std::string::npos &&
         id.find('\0') == std::string::npos;
}

// Of a report that calls itself so.
reports::v1::Report::Kind KindOf(const std::string& name) {
  using reports::v1::Report;
  static constexpr std::pair<const char*, Report::Kind> kKinds[] = {
      {"benchmark", Report::BENCHMARK},
      {"sweep", Report::SWEEP},
      {"comparison", Report::COMPARISON},
      {"pipeline", Report::PIPELINE},
      {"gate", Report::GATE},
  };
  for (const auto& [each, kind] : kKinds) {
    if (name == each) return kind;
  }
  return Report::EVALUATION;
}

// What a gate says of its candidate, by its scores.
const char* VerdictOf(const reports::v1::Report& gate) {
  const auto says = [&gate](const char* name) {
    const auto found = gate.metrics().find(name);
    return found != gate.metrics().end() && found->second == 1;
  };
  return says("passed") ? "pass" : says("failed") ? "fail" : "inconclusive";
}

// Counts what a job found of a checkpoint, and how long that took since it was
// there, or the job, whose checkpoint may be old.
void CountFinding(Turn& turn, const JobFacts& job,
                  const reports::v1::Report& report) {
  const bool is_gate = report.kind() == reports::v1::Report::GATE;
  if (!is_gate && report.kind() != reports::v1::Report::EVALUATION) return;
  if (is_gate) {
    turn.Counted(Count::What::kVerdict, VerdictOf(report));
  } else {
    turn.Counted(Count::What::kEvaluation,
                 report.taken_from().empty() ? "computed" : "taken");
  }
  const CheckpointPtr checkpoint =
      FindCheckpoint(turn.state, report.checkpoint());
  if (checkpoint == nullptr) return;
  const absl::Time since = std::max(ToTime(checkpoint->create_time()),
                                    absl::FromUnixNanos(job.create_ns));
  turn.Counted(Count::What::kToVerdict, is_gate ? "gate" : "evaluation",
               std::max(0.0, absl::ToDoubleSeconds(
                                 ToTime(report.create_time()) - since)));
}

void TakeReport(JobEdit& edit, const agent::v1::DurableRecord& record) {
  Turn& turn = edit.turn();
  JobEntry& entry = edit.entry();
  const std::string& job = entry.job->id();
  const training::v1::ReportWritten& written = record.report();
  const int32_t attempt = edit.read().attempt_number();
  if (!IsPlainName(written.id()) ||
      written.folder() !=
          absl::StrCat("results/", written.id(), "-", attempt)) {
    turn.Counted(Count::What::kReport, "refused");
    AddWarning(
        edit, absl::StrCat("report '", written.id(), "' in '", written.folder(),
                           "' was refused: attempt ", attempt,
                           " writes results/<report>-", attempt));
    return;
  }
  if (entry.reports.count(written.id()) > 0) return;
  auto report = std::make_shared<reports::v1::Report>();
  report->set_name(ReportName(job, written.id()));
  report->set_kind(KindOf(written.kind()));
  report->set_task(written.task());
  report->set_task_version(written.task_version());
  report->set_step(written.step());
  report->set_attempt(attempt);
  if (!written.checkpoint().empty()) {
    report->set_checkpoint(absl::StrContains(written.checkpoint(), "/")
                               ? written.checkpoint()
                               : CheckpointName(job, written.checkpoint()));
  }
  *report->mutable_create_time() = TimeOf(turn, record);
  *report->mutable_metrics() = written.metrics();
  *report->mutable_files() = written.files();
  report->set_folder(written.folder());
  if (written.has_encoding()) *report->mutable_encoding() = written.encoding();
  if (written.has_key()) {
    report->set_key(model::catalog::KeyDigest(written.key()));
  }
  report->set_taken_from(written.taken_from());
  entry.reports[written.id()] = report;
  if (!entry.job->facts->parent.empty()) {
    turn.reported.push_back({job, report->step()});
  }
  turn.Emit(Record{ReportPtr(report)});
  TakeResult(turn, entry, written, *report);
  // Another may be the best now.
  ApplyRetention(turn, entry);
  // What it has evaluated of a job that it follows may go.
  const auto followed = turn.state.jobs.find(FollowedBy(*entry.job->facts));
  if (followed != turn.state.jobs.end()) ApplyRetention(turn, followed->second);
  turn.Counted(Count::What::kReport, "written");
  CountFinding(turn, *entry.job->facts, *report);
}

}  // namespace

void AddWarning(JobEdit& edit, const std::string& message) {
  if (edit.read().newest_attempt().warnings_size() >= kMaxWarnings) return;
  edit.attempt().add_warnings(message);
}

void TakeDurableRecord(JobEdit& edit, int32_t rank,
                       const agent::v1::DurableRecord& record) {
  if (rank > 0 && (record.has_checkpoint() || record.has_report())) {
    edit.turn().Counted(record.has_checkpoint() ? Count::What::kCheckpoint
                                                : Count::What::kReport,
                        "refused");
    AddWarning(edit, absl::StrCat("what rank ", rank,
                                  " wrote was refused: rank 0 writes "
                                  "checkpoints and reports"));
    return;
  }
  switch (record.event_case()) {
    case agent::v1::DurableRecord::kCheckpoint:
      TakeCheckpoint(edit, record);
      return;
    case agent::v1::DurableRecord::kCheckpointFailed:
      edit.turn().Counted(Count::What::kCheckpoint, "failed");
      AddWarning(edit, absl::StrCat("the checkpoint at step ",
                                    record.checkpoint_failed().step(),
                                    " could not be written: ",
                                    record.checkpoint_failed().message(),
                                    "; the run goes on and tries again; if the "
                                    "disk is full, free space under the "
                                    "storage root"));
      return;
    case agent::v1::DurableRecord::kReport:
      TakeReport(edit, record);
      return;
    case agent::v1::DurableRecord::kWarning:
      AddWarning(edit, record.warning().message());
      return;
    case agent::v1::DurableRecord::EVENT_NOT_SET:
      // From a newer worker: acknowledged, since it cannot be understood later
      // either.
      return;
  }
}

void MarkDeleted(Turn& turn, std::shared_ptr<Checkpoint> next,
                 CheckpointPtr* slot) {
  next->set_state(Checkpoint::DELETED);
  *slot = std::move(next);
  const std::string& name = (*slot)->name();
  turn.Emit(Record{*slot});
  turn.Emit(RemoveCheckpoint{JobIdOf(name), IdOf(name)});
  turn.Counted(Count::What::kCheckpoint, "removed");
}

void MarkThinned(Turn& turn, std::shared_ptr<Checkpoint> next,
                 CheckpointPtr* slot) {
  auto* files = next->mutable_files();
  files->erase(std::remove_if(files->begin(), files->end(),
                              [](const auto& file) {
                                return file.path() == kOptimizerFile;
                              }),
               files->end());
  *next->mutable_thin_time() = ToTimestamp(turn.now.wall);
  *slot = std::move(next);
  const std::string& name = (*slot)->name();
  turn.Emit(Record{*slot});
  turn.Emit(RemoveCheckpoint{JobIdOf(name), IdOf(name), kOptimizerFile});
  turn.Counted(Count::What::kCheckpoint, "thinned");
}

void ApplyRetention(Turn& turn, JobEntry& entry) {
  const Demand& demand = entry.job->facts->demand();
  // Looked for once, if at all: most of the time nothing is to go.
  std::optional<CheckpointPtr> best;
  const auto is_best = [&best, &entry](const CheckpointPtr& checkpoint) {
    if (!best.has_value()) best = BestCheckpoint(entry);
    return *best == checkpoint;
  };
  int num_newer = 0;
  for (auto it = entry.checkpoints.rbegin(); it != entry.checkpoints.rend();
       ++it) {
    const CheckpointPtr& checkpoint = it->second;
    if (checkpoint->state() != Checkpoint::AVAILABLE) continue;
    const int place = num_newer++;
    const bool is_old = place >= demand.keep;
    const bool is_thin = place >= demand.keep_optimizer;
    if (!is_old && !(is_thin && HasOptimizer(*checkpoint))) continue;
    if (turn.state.pins.count(checkpoint->name()) > 0) continue;
    if (!AwaitedBy(turn.state, *checkpoint).empty()) continue;
    if (IsNeededAsBest(turn.state, entry, *checkpoint)) continue;
    const bool goes = is_old && !is_best(checkpoint);
    if (!goes && !(is_thin && HasOptimizer(*checkpoint))) continue;
    auto next = std::make_shared<Checkpoint>(*checkpoint);
    if (goes) {
      MarkDeleted(turn, std::move(next), &it->second);
    } else {
      MarkThinned(turn, std::move(next), &it->second);
    }
  }
}

}  // namespace ordo::scheduler::core
