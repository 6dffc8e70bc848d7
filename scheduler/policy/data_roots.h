#ifndef ORDO_SCHEDULER_POLICY_DATA_ROOTS_H_
#define ORDO_SCHEDULER_POLICY_DATA_ROOTS_H_

#include <optional>
#include <set>
#include <string>

// Which workers may read what a job names by its whole path.

namespace ordo::scheduler::policy {

// Folders, as the worker calls them; nothing: it does not say.
using DataRoots = std::optional<std::set<std::string>>;

// Whether each of the whole paths is one of the folders or lies below one, as
// it is written; true where they are not known. Pure, thread-safe.
bool MayRead(const DataRoots& roots, const std::set<std::string>& paths);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_DATA_ROOTS_H_
