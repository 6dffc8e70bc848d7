#include "worker/trainer/leader.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/log/log.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/guard.h"
#include "model/training/environment_json.h"
#include "model/training/recipe.h"
#include "model/training/share_state.h"
#include "model/training/snapshot.h"
#include "worker/trainer/exit_code.h"
#include "worker/trainer/notes.h"

namespace ordo::worker::trainer {
namespace {

using ordo::model::training::Environment;
using ordo::model::training::Run;
using ordo::training::v1::ProgressRecord;
using ordo::training::v1::TrainSpec;

// Between looks at a request to stop while waiting for another rank.
constexpr absl::Duration kLookInterval = absl::Milliseconds(100);
// For the others to read the last word. They look many times a second, but a
// process that is stopped does not.
constexpr absl::Duration kFarewell = absl::Seconds(2);

}  // namespace

absl::Status Leader::ShareStart(const Environment& environment, Run* run,
                                StartingPoint* point) {
  if (alone()) return absl::OkStatus();
  ORDO_RETURN_IF_ERROR(CheckTasks(environment, run->spec(), point));
  ProgressRecord record;
  auto* started = record.mutable_started();
  started->set_start_step(run->cursors().step);
  started->set_resumed_from(point->resumed_from);
  started->set_exact(point->exact);
  ORDO_ASSIGN_OR_RETURN(
      const std::string digest, model::Guard("digest the state", [&] {
        return ordo::model::training::StateDigest(run->State());
      }));
  started->set_state_digest(digest);
  ORDO_RETURN_IF_ERROR(TellTurn(record));
  return ordo::model::training::ShareState(collective_, run);
}

absl::Status Leader::CheckTasks(const Environment& environment,
                                const TrainSpec& spec, StartingPoint* point) {
  for (int rank = 1; rank < collective_->ranks(); ++rank) {
    TrainSpec task;
    ORDO_ASSIGN_OR_RETURN(const std::string bytes, Await(TaskNote(rank)));
    if (!task.ParseFromString(bytes)) {
      return absl::InternalError(
          absl::StrCat("the task of rank ", rank, " cannot be read"));
    }
    const std::vector<std::string> other =
        ordo::model::training::RecipeDifferences(spec, task);
    if (!other.empty()) {
      return base::InvalidField(
          "rank", absl::StrCat("rank ", rank, " has another task than rank 0: ",
                               absl::StrJoin(other, "; "),
                               "; start all with the same one"));
    }
    ORDO_ASSIGN_OR_RETURN(const std::string text, Await(EnvironmentNote(rank)));
    ORDO_ASSIGN_OR_RETURN(
        const Environment there,
        model::Guard("read the environment of another rank", [&] {
          return ordo::model::training::EnvironmentOf(
              nlohmann::ordered_json::parse(text));
        }));
    const std::vector<std::string> differences =
        ordo::model::training::Differences(environment, there);
    if (differences.empty()) continue;
    point->exact = false;
    point->own_exact = false;
    point->warnings.push_back(absl::StrCat(
        "the ranks do not compute alike, so a rerun may not be bit-exact: on "
        "rank 0 ",
        absl::StrJoin(differences, "; "), " on rank ", rank));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Leader::Await(const std::string& key) {
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const auto note,
                          collective_->Told(key, kLookInterval));
    if (note) return *note;
    if (context_.stop_requested()) {
      return absl::CancelledError("stopped before all ranks had begun");
    }
  }
}

absl::Status Leader::BeginStep() {
  if (alone() || !paused_) return absl::OkStatus();
  ORDO_RETURN_IF_ERROR(TellTurn(ProgressRecord()));
  paused_ = false;
  return absl::OkStatus();
}

void Leader::EndStep(const ordo::model::training::Wishes& wishes) {
  if (alone()) return;
  stop_agreed_ = wishes.stop;
  paused_ = wishes.stop || wishes.pause;
}

bool Leader::StopRequested() {
  if (stop_agreed_ || context_.stop_requested()) return true;
  const absl::Duration now = context_.clock.Monotonic();
  if (alone() || !paused_ || now - looked_ < kLookInterval) return false;
  looked_ = now;
  const auto note = collective_->Told(kStopNote, absl::ZeroDuration());
  // A lost connection is found at the next step.
  stop_agreed_ = note.ok() && note->has_value();
  return stop_agreed_;
}

void Leader::End(const ordo::training::v1::TrainerFinished& finished) {
  if (alone() || !paused_ || finished.code() == ordo::training::v1::PEER_LOST) {
    return;
  }
  const absl::Duration deadline = context_.clock.Monotonic() + kFarewell;
  const auto tell = [&]() -> absl::Status {
    ORDO_RETURN_IF_ERROR(AwaitAll(
        [this](int rank) { return HereNote(next_turn_, rank); }, deadline));
    ProgressRecord record;
    *record.mutable_finished() = finished;
    ORDO_RETURN_IF_ERROR(TellTurn(record));
    return AwaitAll(LeftNote, deadline);
  };
  const absl::Status told = tell();
  if (!told.ok()) {
    base::LogWarning("the other ranks were not told of the end",
                     {{"error", told}});
  }
}

absl::Status Leader::AwaitAll(const std::function<std::string(int)>& key,
                              absl::Duration deadline) {
  for (int rank = 1; rank < collective_->ranks(); ++rank) {
    const absl::Duration left = deadline - context_.clock.Monotonic();
    ORDO_RETURN_IF_ERROR(
        collective_->Told(key(rank), std::max(left, kLookInterval)));
  }
  return absl::OkStatus();
}

absl::Status Leader::TellTurn(const ProgressRecord& record) {
  return collective_->Tell(TurnNote(next_turn_++), record.SerializeAsString());
}

}  // namespace ordo::worker::trainer
