#ifndef ORDO_TESTS_FAKE_CHECKPOINT_H_
#define ORDO_TESTS_FAKE_CHECKPOINT_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "proto/ordo/training/v1/progress.pb.h"

namespace ordo::tests::fake {

// What the fake trainer "trains": a few numbers, each step a function of the
// step before, so that a run that resumed from anything but its own state shows
// a wrong end.
struct State {
  uint64_t seed = 0;
  int64_t step = 0;
  std::array<uint64_t, 8> words{};
};

// The state at step 0.
State InitialState(uint64_t seed);

// One step on.
void Advance(State& state);

// SHA-256 over all of the state.
std::string DigestOf(const State& state);

struct CheckpointOptions {
  // <out>/checkpoints.
  std::string folder;
  int attempt = 0;
  // Called once, when the first file is there and the others are not.
  std::function<void()> midway;
};

// Writes <folder>/<step>-<attempt> aside, makes it durable and renames it.
// What was written of one that failed is removed.
absl::StatusOr<training::v1::CheckpointWritten> WriteCheckpoint(
    base::Filesystem& files, const State& state,
    const CheckpointOptions& options);

// Verifies sizes and sums, and the manifest against `manifest_sha256` unless
// that is empty. DATA_LOSS or NOT_FOUND names the file.
absl::StatusOr<State> ReadCheckpoint(base::Filesystem& files,
                                     const std::string& path,
                                     const std::string& manifest_sha256);

}  // namespace ordo::tests::fake

#endif  // ORDO_TESTS_FAKE_CHECKPOINT_H_
