#ifndef ORDO_MODEL_TRAINING_CHECKPOINT_WRITER_H_
#define ORDO_MODEL_TRAINING_CHECKPOINT_WRITER_H_

#include <cstdint>
#include <future>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "model/training/checkpoint.h"
#include "proto/ordo/training/v1/progress.pb.h"

namespace ordo::model::training {

// Writes checkpoints in the background, one at a time, so that training stands
// still only while its state is copied. Not thread-safe.
class CheckpointWriter {
 public:
  // How an attempt to write ended.
  struct Outcome {
    int64_t step = 0;
    // With both of its times.
    absl::StatusOr<ordo::training::v1::CheckpointWritten> written;
  };

  // Writes into `folder`. `files` and `clock` outlive the writer.
  CheckpointWriter(base::Filesystem& files, base::Clock& clock,
                   const std::string& folder)
      : files_(files), clock_(clock), folder_(folder) {}
  // Waits for the write in flight.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  bool busy() const { return in_flight_.valid(); }

  // Copies the tensors of `checkpoint` and begins to write. The writer is not
  // busy: how long it was waited for is `waited`, and part of the stall.
  void Start(Checkpoint checkpoint,
             absl::Duration waited = absl::ZeroDuration());

  // The end of the write in flight, if it has come or comes within `patience`.
  std::optional<Outcome> Poll(absl::Duration patience = absl::ZeroDuration());

 private:
  base::Filesystem& files_;
  base::Clock& clock_;
  const std::string folder_;
  std::future<Outcome> in_flight_;
};

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_CHECKPOINT_WRITER_H_
