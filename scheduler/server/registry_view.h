#ifndef ORDO_SCHEDULER_SERVER_REGISTRY_VIEW_H_
#define ORDO_SCHEDULER_SERVER_REGISTRY_VIEW_H_

#include <map>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "proto/ordo/audit/v1/change.pb.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "scheduler/core/aliases.h"
#include "scheduler/core/effect.h"
#include "scheduler/scheduler.h"

namespace ordo::scheduler::server {

// Aliases and pins as reads of the API see them. Not thread-safe.
class RegistryView {
 public:
  // One that is committed: of kind kAlias or kPin.
  void Put(const core::Row& row);

  // As in scheduler::Scheduler.
  absl::StatusOr<checkpoints::v1::Alias> Get(const std::string& alias) const;
  Listing<checkpoints::v1::Alias> List(const Page& page) const;
  // Adds to a checkpoint, as it is stored, what names it.
  void ShowNames(checkpoints::v1::Checkpoint* checkpoint) const;

 private:
  void PutAlias(const std::string& id, core::AliasPtr alias);

  core::Aliases aliases_;
  // By the checkpoint that they name: names of aliases, and the pin.
  std::map<std::string, std::set<std::string>> aliases_of_;
  std::map<std::string, audit::v1::Change> pins_;
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_REGISTRY_VIEW_H_
