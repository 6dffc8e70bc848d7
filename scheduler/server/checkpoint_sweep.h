#ifndef ORDO_SCHEDULER_SERVER_CHECKPOINT_SWEEP_H_
#define ORDO_SCHEDULER_SERVER_CHECKPOINT_SWEEP_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/store/reader.h"

namespace ordo::scheduler::server {

// Finds what an earlier life of the scheduler may have left behind on the
// storage: folders of checkpoints whose records say DELETED, then files that
// thinned ones have lost. For one thread.
class CheckpointSweep {
 public:
  // `reader` outlives this.
  explicit CheckpointSweep(store::Reader& reader) : reader_(reader) {}

  // Some more paths, below the storage root, that are to be gone, whether or
  // not they are; nothing: that was all, or the store could not be read, which
  // is logged.
  std::optional<std::vector<std::string>> Next();

 private:
  absl::StatusOr<std::vector<std::string>> NextDeleted();
  absl::StatusOr<std::vector<std::string>> NextThinned();
  store::Reader& reader_;
  bool deleted_done_ = false;
  bool thinned_done_ = false;
  // The last that was looked at, of each kind.
  std::string last_deleted_;
  std::string last_thinned_;
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_CHECKPOINT_SWEEP_H_
