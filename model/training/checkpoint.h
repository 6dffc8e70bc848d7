#ifndef ORDO_MODEL_TRAINING_CHECKPOINT_H_
#define ORDO_MODEL_TRAINING_CHECKPOINT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/training/durable_folder.h"
#include "model/training/initial_values.h"
#include "model/training/numerics.h"
#include "model/training/snapshot.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

// A checkpoint is a folder:
//   model.safetensors      parameters under Hugging Face's names; a pure
//                          function of them
//   config.json            how to rebuild the model (model_config.h)
//   optimizer.safetensors  the optimizer's moments
//   state.json             cursors, seeds, specification, Environment, digest,
//                          fingerprint of the data where it was read, the
//                          kernels that computed attention last, and digests
//                          of the initial values (initial_values.h) and of the
//                          rows so far
//   MANIFEST.json          size and SHA-256 of each of the above
// It is written aside as .tmp-<name>, every file and the folder synced, then
// renamed into place and the parent synced: a folder without ".tmp-" is whole
// unless it was damaged later, which the manifest shows.

namespace ordo::model::training {

inline constexpr char kStateFile[] = "state.json";

struct CheckpointNumber {
  int64_t step = 0;
  int64_t attempt = 0;
};

// <step>-<attempt>
std::string CheckpointId(int64_t step, int attempt);
std::optional<CheckpointNumber> ParseCheckpointId(const std::string& id);

// What a checkpoint holds.
struct Checkpoint {
  Snapshot snapshot;
  ordo::training::v1::TrainSpec spec;
  Environment environment;
  // Every step of its run up to here ran in the same environment; what the run
  // started from may have come of another.
  bool exact = true;
  // Of the snapshot, as recorded; for WriteCheckpoint it need not be set.
  std::string state_digest = "";
  // Of the run's step 0. Empty in checkpoints of releases before they were
  // written.
  InitialValues initial = {};
};

// Writes `checkpoint` to <folder>/<CheckpointId>, durable, and says what was
// written (all fields but the two times). An older folder of that name is
// replaced. After an error nothing is left behind and the message names the
// file.
absl::StatusOr<ordo::training::v1::CheckpointWritten> WriteCheckpoint(
    base::Filesystem& files, const std::string& folder,
    const Checkpoint& checkpoint);

// Reads the checkpoint in `folder` and verifies it: the manifest against
// `manifest_sha256` unless that is empty, each file against the manifest, the
// state against its digest. DATA_LOSS naming the damaged file, also for one
// that was thinned; NOT_FOUND when there is none.
absl::StatusOr<Checkpoint> ReadCheckpoint(base::Filesystem& files,
                                          const std::string& folder,
                                          const std::string& manifest_sha256);

// The step that state.json of a checkpoint records.
absl::StatusOr<int64_t> ReadStep(base::Filesystem& files,
                                 const std::string& folder);

// Folder names of whole checkpoints in `folder`, the newest (largest step, then
// attempt) first. Empty when the folder does not exist.
absl::StatusOr<std::vector<std::string>> ListCheckpoints(
    base::Filesystem& files, const std::string& folder);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_CHECKPOINT_H_
