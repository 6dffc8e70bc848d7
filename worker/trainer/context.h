#ifndef ORDO_WORKER_TRAINER_CONTEXT_H_
#define ORDO_WORKER_TRAINER_CONTEXT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "c10/core/Device.h"
#include "model/training/nccl/library.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::worker::trainer {

// What a task runs in.
struct TrainerContext {
  TrainerContext(base::Filesystem& files, base::Clock& clock)
      : files(files), clock(clock) {}

  base::Filesystem& files;
  base::Clock& clock;
  // The job's folder: attempts/, checkpoints/ and results/ lie below it.
  std::string job_folder;
  // What relative paths of checkpoints are under; empty: the working folder.
  std::string storage_root;
  // Absolute folders beside data/ of the storage root whose files tasks may
  // read.
  std::vector<std::string> data_roots;
  // The library that cuts text as SentencePiece does.
  std::string sentence_piece;
  // The library of kernels for GPUs, for tasks that ask for one.
  std::string gpu_kernels;
  // The library through which several ranks on GPUs add up.
  std::string nccl_library;
  // SHA-256 of this program.
  std::string build_digest;
  // Remove checkpoints beyond checkpoint.keep after each write. A scheduler,
  // where there is one, does that itself: it knows which ones jobs need.
  bool prune_checkpoints = false;
  // Start over when no checkpoint of spec.resume can be resumed from; else that
  // is an error. A person who asked to resume did not ask for that.
  bool may_start_over = true;
  // Whether somebody asked the trainer to leave. Any thread.
  std::function<bool()> stop_requested = [] { return false; };
  // Ends the process at once, whatever its threads do. Any thread.
  std::function<void(ordo::training::v1::ExitCode)> leave =
      [](ordo::training::v1::ExitCode) {};
};

// The device that a task asks for, ready (model/training/numerics.h).
// DEVICE_ERROR says what is missing.
absl::StatusOr<c10::Device> OpenDevice(
    const TrainerContext& context,
    const ordo::training::v1::Resources& resources);

// The library through which several ranks on GPUs add up, after OpenDevice.
// NCCL_ERROR says why it cannot be loaded.
absl::StatusOr<const model::training::nccl::Library*> OpenNccl(
    const TrainerContext& context);

// <job folder>/attempts/<attempt> and <job folder>/checkpoints.
std::string AttemptFolder(const TrainerContext& context, int attempt);
std::string CheckpointsFolder(const TrainerContext& context);

// Where a checkpoint lies. INVALID_ARGUMENT for a relative path that leads out
// of the storage root.
absl::StatusOr<std::string> FolderOfSource(
    const TrainerContext& context,
    const ordo::training::v1::CheckpointSource& source);

// The name of a checkpoint for people: its resource name, else its path.
std::string NameOfSource(const ordo::training::v1::CheckpointSource& source);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_CONTEXT_H_
