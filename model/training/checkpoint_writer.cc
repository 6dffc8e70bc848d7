#include "model/training/checkpoint_writer.h"

#include <memory>
#include <utility>

#include "base/check.h"

namespace ordo::model::training {

CheckpointWriter::~CheckpointWriter() {
  if (busy()) in_flight_.wait();
}

void CheckpointWriter::Start(Checkpoint checkpoint, absl::Duration waited) {
  ORDO_CHECK(!busy()) << "one checkpoint at a time";
  const absl::Duration start = clock_.Monotonic();
  checkpoint.snapshot = Copy(checkpoint.snapshot);
  const absl::Duration stall = waited + clock_.Monotonic() - start;
  // Shared, because a std::async functor is copied.
  const auto owned = std::make_shared<const Checkpoint>(std::move(checkpoint));
  in_flight_ = std::async(std::launch::async, [this, owned, start, stall] {
    Outcome outcome{owned->snapshot.cursors.step,
                    WriteCheckpoint(files_, folder_, *owned)};
    if (outcome.written.ok()) {
      outcome.written->set_stall_seconds(absl::ToDoubleSeconds(stall));
      outcome.written->set_write_seconds(
          absl::ToDoubleSeconds(clock_.Monotonic() - start));
    }
    return outcome;
  });
}

std::optional<CheckpointWriter::Outcome> CheckpointWriter::Poll(
    absl::Duration patience) {
  if (!busy() || in_flight_.wait_for(absl::ToChronoMilliseconds(patience)) !=
                     std::future_status::ready) {
    return std::nullopt;
  }
  return in_flight_.get();
}

}  // namespace ordo::model::training
