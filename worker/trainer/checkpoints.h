#ifndef ORDO_WORKER_TRAINER_CHECKPOINTS_H_
#define ORDO_WORKER_TRAINER_CHECKPOINTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/training/checkpoint_writer.h"
#include "model/training/initial_values.h"
#include "model/training/numerics.h"
#include "model/training/run.h"
#include "worker/trainer/context.h"
#include "worker/trainer/progress.h"
#include "worker/trainer/starting_point.h"

namespace ordo::worker::trainer {

// The checkpoints of a training task: writes them beside the training, tells of
// them, tries again what a disk did not take, and removes what is of no use.
// One is written at a time. What waits for a write tells the worker that the
// trainer lives; STORAGE_ERROR when the write takes longer than kLongestWrite.
// Not thread-safe.
class Checkpoints {
 public:
  // A hundred gigabytes at 60 MB/s: a storage that is slower than that for the
  // job's checkpoints is of no use to it.
  static constexpr absl::Duration kLongestWrite = absl::Minutes(30);

  // All of it outlives the object, which waits for the write under way at its
  // end.
  Checkpoints(const TrainerContext& context,
              const ordo::model::training::Run& run, Progress* progress);
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // Removes what earlier attempts left half written, and those that the job's
  // own put into place and did not live to tell of: nobody else would.
  void RemoveLeftOver();

  // The run begins at `point`, in `environment`.
  void Begin(const StartingPoint& point,
             const ordo::model::training::Environment& environment);

  // Tells of the write under way if it has ended; does not wait.
  void Poll() { Finish(writer_.Poll()); }
  // Waits for it.
  absl::Status Wait();

  // Begins to write the state of the run as it is now if it is to be written
  // and is not yet: every checkpoint.every_steps, after the last step, when
  // `wanted`, and some time after a write failed. Waits for the write before.
  absl::Status WriteIfDue(bool wanted);

  // Whether WriteIfDue may have to wait when the run is at `step`, which is
  // where it is or its next. What is wanted beside the policy is not counted.
  bool MayWaitAt(int64_t step) const;

  // Waits until the state of the run is durable, trying once more if needed.
  // STORAGE_ERROR.
  absl::Status MakeDurable();

  // A write is under way for longer than kLongestWrite; it may have no end.
  bool IsHeldUp() const;

  // The id of the newest that is durable; empty if there is none.
  const std::string& durable_id() const { return durable_id_; }
  // SHA-256 of its MANIFEST.json; empty where that is not known.
  const std::string& durable_manifest() const { return durable_manifest_; }
  // The id of the checkpoint of the state in which the run is: of the one that
  // is durable, or that would be written.
  std::string CurrentId() const;

 private:
  absl::Status Write();
  void Finish(
      std::optional<ordo::model::training::CheckpointWriter::Outcome> outcome);
  void Prune();
  void Thin(const std::string& id);
  void Remove(const std::string& id);

  const TrainerContext& context_;
  const ordo::model::training::Run& run_;
  Progress& progress_;
  ordo::model::training::CheckpointWriter writer_;
  ordo::model::training::Environment environment_;
  bool exact_ = true;
  ordo::model::training::InitialValues initial_;
  // Step of the newest checkpoint of this job that is known to be durable, and
  // of the newest that was begun; -1 if there is none.
  int64_t durable_step_ = -1;
  std::string durable_id_;
  std::string durable_manifest_;
  int64_t begun_step_ = -1;
  // When that was begun; by the monotonic clock.
  absl::Duration begun_at_;
  absl::Status write_error_;
  // When to try again, after a write failed; by the monotonic clock.
  std::optional<absl::Duration> retry_at_;
  // Checkpoints of this job that were found damaged.
  std::set<std::string> passed_over_;
};

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_CHECKPOINTS_H_
