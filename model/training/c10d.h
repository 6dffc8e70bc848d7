#ifndef ORDO_MODEL_TRAINING_C10D_H_
#define ORDO_MODEL_TRAINING_C10D_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "model/training/collective.h"

namespace ordo::model::training {

namespace nccl {
struct Library;
}  // namespace nccl

struct MeetOptions {
  // Which of how many this process is; from 0.
  int rank = 0;
  int ranks = 2;
  // Address of this machine, or a name of it, that the other ranks reach this
  // one at; nothing listens elsewhere.
  std::string host = "127.0.0.1";
  // Where rank 0 leaves its address until all have met; a path that all ranks
  // see. One that an earlier run left is of no harm.
  std::string address_file;
  // How long to wait for the others. Trainers start within seconds of each
  // other; what takes longer is a shared folder that shows a file late.
  absl::Duration timeout = absl::Minutes(5);
  // Asked while waiting, several times a second.
  std::function<bool()> stop_requested = [] { return false; };
  // For tensors of a GPU (nccl/load.h); null for those of a CPU. All ranks have
  // the same.
  const nccl::Library* nccl = nullptr;
  // On GPUs, how long after another rank was lost, or this one failed, it may
  // wait for the others, and what is called then, from another thread, with
  // this rank's failure, OK where another was lost: it ends the process.
  absl::Duration patience = absl::Seconds(3);
  std::function<void(const absl::Status& failure)> on_stuck =
      [](const absl::Status&) {};
};

// Meets the other ranks over c10d, LibTorch's library for that: its TCPStore in
// the process of rank 0, and between all of them Gloo, or NCCL, which does not
// notice when a rank is lost, beside connections that do (peer_watch.h).
// `files` and `clock` are used until it returns.
//
// UNAVAILABLE with kPeerLostReason: they did not all come in time, or one was
// lost. CANCELLED: stop_requested said so. INVALID_ARGUMENT: two processes have
// the same rank, or say that there are different numbers of them. NOT_FOUND,
// UNAVAILABLE: this rank cannot listen at `host`. Else what the address file's
// folder gives.
absl::StatusOr<std::unique_ptr<Collective>> Meet(base::Filesystem& files,
                                                 base::Clock& clock,
                                                 const MeetOptions& options);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_C10D_H_
