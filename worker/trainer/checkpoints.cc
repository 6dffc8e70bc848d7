#include "worker/trainer/checkpoints.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "model/training/checkpoint.h"
#include "model/training/durable_folder.h"
#include "worker/trainer/exit_code.h"
#include "worker/trainer/step_meter.h"

namespace ordo::worker::trainer {

using ordo::model::training::CheckpointWriter;
using ordo::model::training::Environment;
using ordo::model::training::Run;
using ordo::training::v1::TrainSpec;

namespace {

// Before a write is tried again that a full or slow disk did not take.
constexpr absl::Duration kRetryDelay = absl::Seconds(10);
// Between looks at the time while a write is waited for.
constexpr absl::Duration kLookInterval = absl::Milliseconds(100);

}  // namespace

Checkpoints::Checkpoints(const TrainerContext& context, const Run& run,
                         Progress* progress)
    : context_(context),
      run_(run),
      progress_(*progress),
      writer_(context.files, context.clock, CheckpointsFolder(context)) {}

void Checkpoints::RemoveLeftOver() {
  const std::string folder = CheckpointsFolder(context_);
  model::training::RemoveTemporaries(context_.files, folder).IgnoreError();
  const auto ids = model::training::ListCheckpoints(context_.files, folder);
  if (!ids.ok()) return;
  // Those newer than any that the job knows were not told of.
  std::pair<int64_t, int64_t> newest_known(0, 0);
  for (const auto& source : run_.spec().resume()) {
    const auto number =
        model::training::ParseCheckpointId(base::NameOf(source.path()));
    if (!number) continue;
    newest_known =
        std::max(newest_known, std::pair(number->attempt, number->step));
  }
  const auto& own = run_.spec().own_attempts();
  for (const std::string& id : *ids) {
    const auto number = model::training::ParseCheckpointId(id);
    const bool is_own = own.empty() || std::find(own.begin(), own.end(),
                                                 number->attempt) != own.end();
    if (is_own && number->attempt < run_.spec().attempt() &&
        std::pair(number->attempt, number->step) > newest_known) {
      Remove(id);
    }
  }
}

void Checkpoints::Begin(const StartingPoint& point,
                        const Environment& environment) {
  environment_ = environment;
  exact_ = point.own_exact;
  initial_ = point.initial;
  passed_over_.insert(point.passed_over.begin(), point.passed_over.end());
  if (point.own_checkpoint.empty()) return;
  durable_step_ = run_.cursors().step;
  durable_id_ = point.own_checkpoint;
  for (const auto& source : run_.spec().resume()) {
    if (base::NameOf(source.path()) == durable_id_) {
      durable_manifest_ = source.manifest_sha256();
    }
  }
}

std::string Checkpoints::CurrentId() const {
  const int64_t step = run_.cursors().step;
  if (step == durable_step_) return durable_id_;
  return model::training::CheckpointId(step, run_.spec().attempt());
}

absl::Status Checkpoints::Wait() {
  absl::Duration told = context_.clock.Monotonic();
  while (true) {
    Finish(writer_.Poll(kLookInterval));
    if (!writer_.busy()) return absl::OkStatus();
    if (IsHeldUp()) {
      return WithExitCode(
          absl::DeadlineExceededError(absl::StrCat(
              "the storage has not taken the checkpoint of step ", begun_step_,
              " within ", absl::FormatDuration(kLongestWrite), ": ",
              CheckpointsFolder(context_))),
          ordo::training::v1::STORAGE_ERROR);
    }
    const absl::Duration now = context_.clock.Monotonic();
    if (now - told >= StepMeter::kLongestSilence) {
      told = now;
      progress_.Waiting(run_.cursors().step);
    }
  }
}

bool Checkpoints::IsHeldUp() const {
  return writer_.busy() &&
         context_.clock.Monotonic() - begun_at_ >= kLongestWrite;
}

bool Checkpoints::MayWaitAt(int64_t step) const {
  return writer_.busy() && step % run_.spec().checkpoint().every_steps() == 0;
}

absl::Status Checkpoints::WriteIfDue(bool wanted) {
  const int64_t step = run_.cursors().step;
  if (step == 0 || step == durable_step_ || step == begun_step_) {
    return absl::OkStatus();
  }
  const bool again = retry_at_ && context_.clock.Monotonic() >= *retry_at_;
  const auto& spec = run_.spec();
  if (again || wanted || step % spec.checkpoint().every_steps() == 0 ||
      step == spec.training().steps()) {
    return Write();
  }
  return absl::OkStatus();
}

absl::Status Checkpoints::Write() {
  const absl::Duration start = context_.clock.Monotonic();
  ORDO_RETURN_IF_ERROR(Wait());
  begun_at_ = context_.clock.Monotonic();
  begun_step_ = run_.cursors().step;
  retry_at_.reset();
  TrainSpec recorded = run_.spec();
  recorded.clear_resume();
  recorded.clear_start();
  recorded.clear_base();
  recorded.clear_finished_reports();
  recorded.clear_host();
  recorded.clear_own_attempts();
  writer_.Start({run_.State(), std::move(recorded), environment_, exact_,
                 /*state_digest=*/"", initial_},
                begun_at_ - start);
  return absl::OkStatus();
}

void Checkpoints::Finish(std::optional<CheckpointWriter::Outcome> outcome) {
  if (!outcome) return;
  if (!outcome->written.ok()) {
    write_error_ = outcome->written.status();
    retry_at_ = context_.clock.Monotonic() + kRetryDelay;
    progress_.CheckpointFailed(outcome->step, write_error_);
    return;
  }
  durable_step_ = outcome->step;
  durable_id_ = outcome->written->id();
  durable_manifest_ = outcome->written->manifest_sha256();
  passed_over_.erase(durable_id_);
  progress_.Checkpoint(*outcome->written);
  base::LogInfo("checkpoint written",
                {{"id", outcome->written->id()},
                 {"seconds", outcome->written->write_seconds()}});
  if (context_.prune_checkpoints) Prune();
}

absl::Status Checkpoints::MakeDurable() {
  ORDO_RETURN_IF_ERROR(Wait());
  if (durable_step_ != run_.cursors().step) {
    ORDO_RETURN_IF_ERROR(Write());
    ORDO_RETURN_IF_ERROR(Wait());
  }
  if (durable_step_ == run_.cursors().step) return absl::OkStatus();
  return WithExitCode(write_error_, ordo::training::v1::STORAGE_ERROR);
}

// Removes all but the newest checkpoints that the policy keeps, and the
// optimizer's state of those that it does not keep whole. Those beyond
// the newest good one are of a run that was longer, or were passed over as
// damaged: the former stay, the latter go, and neither takes the place of a
// good one.
void Checkpoints::Prune() {
  const auto ids = model::training::ListCheckpoints(
      context_.files, CheckpointsFolder(context_));
  if (!ids.ok()) return;
  const auto& policy = run_.spec().checkpoint();
  int num_kept = 0;
  for (const std::string& id : *ids) {
    const bool damaged = passed_over_.count(id) != 0;
    const auto number = model::training::ParseCheckpointId(id);
    if (!damaged && number->step > durable_step_) continue;
    const bool keep =
        id == durable_id_ || (!damaged && num_kept < policy.keep());
    if (keep) {
      ++num_kept;
      if (id != durable_id_ && policy.has_keep_optimizer() &&
          num_kept > policy.keep_optimizer()) {
        Thin(id);
      }
    } else {
      Remove(id);
    }
  }
}

void Checkpoints::Thin(const std::string& id) {
  const std::string path =
      base::JoinPath(base::JoinPath(CheckpointsFolder(context_), id),
                     ordo::model::training::kOptimizerFile);
  const absl::Status status = context_.files.RemoveTree(path);
  if (!status.ok()) {
    base::LogWarning("checkpoint not thinned", {{"error", status}});
  }
}

void Checkpoints::Remove(const std::string& id) {
  const absl::Status status = context_.files.RemoveTree(
      base::JoinPath(CheckpointsFolder(context_), id));
  if (status.ok()) {
    base::LogInfo("checkpoint removed", {{"id", id}});
  } else {
    base::LogWarning("checkpoint not removed", {{"error", status}});
  }
}

}  // namespace ordo::worker::trainer
