#include "scheduler/policy/data_roots.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ordo::scheduler::policy {
namespace {

bool LiesIn(const std::string& path, const std::string& folder) {
  return folder == "/" || path == folder ||
         absl::StartsWith(path, absl::StrCat(folder, "/"));
}

}  // namespace

bool MayRead(const DataRoots& roots, const std::set<std::string>& paths) {
  if (!roots.has_value()) return true;
  return std::all_of(paths.begin(), paths.end(), [&](const std::string& path) {
    return std::any_of(
        roots->begin(), roots->end(),
        [&path](const std::string& root) { return LiesIn(path, root); });
  });
}

}  // namespace ordo::scheduler::policy
