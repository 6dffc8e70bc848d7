#ifndef ORDO_SCHEDULER_CORE_ALIASES_H_
#define ORDO_SCHEDULER_CORE_ALIASES_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "scheduler/scheduler.h"

// What people call checkpoints, and the record of it. Functions of their
// arguments; who calls them keeps the map.

namespace ordo::scheduler::core {

// Shared, never changed.
using AliasPtr = std::shared_ptr<const checkpoints::v1::Alias>;
// By id. A deleted one stays, with its delete_time, for its changes.
using Aliases = std::map<std::string, AliasPtr>;
// Deleted ones that are kept.
inline constexpr size_t kMaxDeletedAliases = 100;

// "aliases/main", and whether a reference to a checkpoint begins as that does.
std::string AliasName(const std::string& alias);
bool NamesAlias(const std::string& reference);

// Null when there is none or it is deleted.
AliasPtr FindAlias(const Aliases& aliases, const std::string& alias);
// NOT_FOUND, naming the nearest there is.
absl::StatusOr<AliasPtr> GetAlias(const Aliases& aliases,
                                  const std::string& alias);
// Those that are not deleted, by id.
Aliases AllAliases(const Aliases& aliases);

// Whether an alias that a store gave is one that could have been made.
bool IsSound(const std::string& id, const checkpoints::v1::Alias& alias);

struct AliasMove {
  // Its `checkpoint` is not read.
  const AliasSetting& setting;
  // What the alias is to name.
  const checkpoints::v1::Checkpoint& to;
};
// The alias that takes its place in the map, or why it cannot be; see
// Scheduler. One that names the checkpoint already is given as it is there.
absl::StatusOr<AliasPtr> MovedAlias(const Aliases& aliases,
                                    const AliasMove& move, const Author& author,
                                    absl::Time now);

struct AliasDeletion {
  // Id.
  std::string alias;
  // Empty: whatever it is.
  std::string etag;
};
absl::StatusOr<AliasPtr> DeletedAlias(const Aliases& aliases,
                                      const AliasDeletion& deletion,
                                      const Author& author, absl::Time now);

// The deleted alias to keep no longer: the one that was deleted first, when
// there are more than kMaxDeletedAliases. Empty: none.
std::string AliasToForget(const Aliases& aliases);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_ALIASES_H_
