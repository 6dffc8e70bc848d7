#include "scheduler/server/checkpoint_sweep.h"

#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "scheduler/core/effect.h"

namespace ordo::scheduler::server {
namespace {

// Checkpoints looked up at once.
constexpr int kSwept = 1000;

}  // namespace

absl::StatusOr<std::vector<std::string>> CheckpointSweep::NextDeleted() {
  // The resource name is the path below the storage root.
  ORDO_ASSIGN_OR_RETURN(std::vector<std::string> names,
                        reader_.DeletedCheckpoints(last_deleted_, kSwept));
  deleted_done_ = names.empty();
  if (!names.empty()) last_deleted_ = names.back();
  return names;
}

absl::StatusOr<std::vector<std::string>> CheckpointSweep::NextThinned() {
  std::vector<std::string> paths;
  ORDO_ASSIGN_OR_RETURN(const store::Found<core::CheckpointPtr> found,
                        reader_.ListCheckpoints({"", last_thinned_, kSwept}));
  if (found.next.has_value()) {
    last_thinned_ = *found.next;
  } else if (found.items.empty()) {
    thinned_done_ = true;
  } else {
    last_thinned_ = found.items.back()->name();
  }
  for (const core::CheckpointPtr& checkpoint : found.items) {
    if (checkpoint->state() != checkpoints::v1::Checkpoint::AVAILABLE ||
        !checkpoint->has_thin_time()) {
      continue;
    }
    paths.push_back(base::JoinPath(checkpoint->name(), core::kOptimizerFile));
  }
  return paths;
}

std::optional<std::vector<std::string>> CheckpointSweep::Next() {
  if (deleted_done_ && thinned_done_) return std::nullopt;
  auto paths = deleted_done_ ? NextThinned() : NextDeleted();
  if (paths.ok()) return *std::move(paths);
  base::LogWarning("files of removed checkpoints may be left",
                   {{"error", paths.status()}});
  return std::nullopt;
}

}  // namespace ordo::scheduler::server
