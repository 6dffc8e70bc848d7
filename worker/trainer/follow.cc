#include "worker/trainer/follow.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status/status.h"
#include "model/guard.h"
#include "model/training/environment_json.h"
#include "model/training/share_state.h"
#include "model/training/snapshot.h"
#include "worker/trainer/exit_code.h"
#include "worker/trainer/notes.h"
#include "worker/trainer/step_meter.h"

namespace ordo::worker::trainer {
namespace {

using ordo::model::training::Collective;
using ordo::model::training::Environment;
using ordo::model::training::Run;
using ordo::training::v1::ExitCode;
using ordo::training::v1::ProgressRecord;

// Between looks at a request to stop.
constexpr absl::Duration kLookInterval = absl::Milliseconds(100);

class Follower {
 public:
  Follower(const TrainerContext& context, const FollowerRun& run,
           Progress* progress)
      : context_(context),
        environment_(run.environment),
        collective_(*run.collective),
        run_(*run.run),
        progress_(*progress),
        meter_(context.clock, run_.spec().training()) {}

  absl::StatusOr<ExitCode> Main() {
    ORDO_RETURN_IF_ERROR(Introduce());
    ORDO_ASSIGN_OR_RETURN(ProgressRecord turn, AwaitTurn());
    if (turn.has_finished()) return End(turn.finished());
    ORDO_RETURN_IF_ERROR(Start(turn.started()));
    bool paused = true;
    while (true) {
      ORDO_RETURN_IF_ERROR(progress_.CheckFolder());
      if (paused) {
        ORDO_ASSIGN_OR_RETURN(turn, AwaitTurn());
        if (turn.has_finished()) return End(turn.finished());
        meter_.Start(run_.cursors());
      }
      ordo::model::training::Wishes wishes;
      wishes.stop = context_.stop_requested();
      ORDO_ASSIGN_OR_RETURN(const auto result, run_.Step(wishes));
      if (const auto done = meter_.Record(result, run_.cursors())) {
        progress_.Step(*done);
      }
      paused = result.wishes.stop || result.wishes.pause;
    }
  }

 private:
  absl::Status Introduce() {
    const int rank = collective_.rank();
    ORDO_RETURN_IF_ERROR(
        collective_.Tell(TaskNote(rank), run_.spec().SerializeAsString()));
    return collective_.Tell(EnvironmentNote(rank),
                            ordo::model::training::ToJson(environment_).dump());
  }

  absl::Status Start(const ordo::training::v1::TrainerStarted& leader) {
    ORDO_RETURN_IF_ERROR(
        ordo::model::training::ShareState(&collective_, &run_));
    ORDO_ASSIGN_OR_RETURN(
        const std::string digest, model::Guard("digest the state", [&] {
          return ordo::model::training::StateDigest(run_.State());
        }));
    if (digest != leader.state_digest()) {
      return absl::InternalError(
          absl::StrCat("the state that rank 0 shared arrived as ", digest,
                       " and was ", leader.state_digest()));
    }
    ordo::training::v1::TrainerStarted started = leader;
    started.set_build_digest(context_.build_digest);
    progress_.Started(started);
    return absl::OkStatus();
  }

  // What rank 0 says next. Meanwhile tells it of a request to stop, and the
  // worker that this rank lives.
  absl::StatusOr<ProgressRecord> AwaitTurn() {
    ORDO_RETURN_IF_ERROR(
        collective_.Tell(HereNote(next_turn_, collective_.rank()), ""));
    absl::Duration told = context_.clock.Monotonic();
    while (true) {
      ORDO_ASSIGN_OR_RETURN(
          const auto note,
          collective_.Told(TurnNote(next_turn_), kLookInterval));
      if (note) {
        ++next_turn_;
        ProgressRecord turn;
        if (turn.ParseFromString(*note)) return turn;
        return absl::InternalError("what rank 0 told cannot be read");
      }
      if (context_.stop_requested()) {
        ORDO_RETURN_IF_ERROR(collective_.Tell(kStopNote, ""));
      }
      const absl::Duration now = context_.clock.Monotonic();
      if (now - told >= StepMeter::kLongestSilence) {
        told = now;
        progress_.Waiting(run_.cursors().step);
      }
    }
  }

  absl::StatusOr<ExitCode> End(
      const ordo::training::v1::TrainerFinished& leader) {
    // Rank 0 may be gone already; what it said is said.
    collective_.Tell(LeftNote(collective_.rank()), "").IgnoreError();
    if (leader.code() == ordo::training::v1::FINISHED ||
        leader.code() == ordo::training::v1::STOPPED) {
      return leader.code();
    }
    return WithExitCode(
        absl::AbortedError(absl::StrCat("rank 0: ", leader.message())),
        leader.code());
  }

  const TrainerContext& context_;
  const Environment& environment_;
  Collective& collective_;
  Run& run_;
  Progress& progress_;
  StepMeter meter_;
  int next_turn_ = 0;
};

}  // namespace

absl::StatusOr<ExitCode> Follow(const TrainerContext& context,
                                const FollowerRun& run, Progress* progress) {
  return Follower(context, run, progress).Main();
}

}  // namespace ordo::worker::trainer
