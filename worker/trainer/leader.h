#ifndef ORDO_WORKER_TRAINER_LEADER_H_
#define ORDO_WORKER_TRAINER_LEADER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/training/collective.h"
#include "model/training/gradient_sum.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "worker/trainer/context.h"
#include "worker/trainer/starting_point.h"

namespace ordo::worker::trainer {

// What rank 0 does for the other ranks, which follow it (follow.h): it says
// where the run begins, when they go on after a pause, and how the run ends.
// With one rank there is nothing to do. Not thread-safe.
//
// Its word is a note, turn/<n>, for each pause n, the start being pause 0: a
// ProgressRecord with `started`, with `finished`, or with neither: go on.
class Leader {
 public:
  // `collective` is null with one rank. Both outlive it.
  Leader(ordo::model::training::Collective* collective,
         const TrainerContext& context)
      : collective_(collective), context_(context) {}

  bool alone() const { return collective_ == nullptr; }
  // All ranks know that the run stops where it is.
  bool stop_agreed() const { return stop_agreed_; }

  // Brings all ranks to the state of `run`, which stands at `point`; says in
  // `point` how their environments differ. INVALID_ARGUMENT when a rank has a
  // task of another recipe; else as Collective.
  absl::Status ShareStart(const ordo::model::training::Environment& environment,
                          ordo::model::training::Run* run,
                          StartingPoint* point);

  // Lets the others go on if they wait: before a step.
  absl::Status BeginStep();
  // What was wished in a step that is done.
  void EndStep(const ordo::model::training::Wishes& wishes);

  // Whether this process was asked to stop, or all have agreed to, or, while
  // they wait, another rank was asked.
  bool StopRequested();

  // Tells the others, if they wait, how this rank ends, once all have come, so
  // that none leaves while another still hears from it, and gives them a moment
  // to leave. If they do not wait, they find out.
  void End(const ordo::training::v1::TrainerFinished& finished);

 private:
  absl::Status CheckTasks(const ordo::model::training::Environment& environment,
                          const ordo::training::v1::TrainSpec& spec,
                          StartingPoint* point);
  absl::StatusOr<std::string> Await(const std::string& key);
  // Waits for a note of each other rank until `deadline`.
  absl::Status AwaitAll(const std::function<std::string(int rank)>& key,
                        absl::Duration deadline);
  absl::Status TellTurn(const ordo::training::v1::ProgressRecord& record);

  ordo::model::training::Collective* const collective_;
  const TrainerContext& context_;
  // Number of the next turn/<n>.
  int next_turn_ = 0;
  // The others wait for it.
  bool paused_ = true;
  bool stop_agreed_ = false;
  // When the notes of the others were last looked at.
  absl::Duration looked_ = -absl::InfiniteDuration();
};

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_LEADER_H_
