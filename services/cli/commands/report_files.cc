#include "services/cli/commands/report_files.h"

#include <cstddef>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/files/file_util.h"
#include "base/status/status.h"

namespace ordo::services::cli {
namespace {

constexpr size_t kMaxListBytes = 1 << 20;

// Whether a list may have it removed: whoever wrote the list, it is a file
// beside the page and has a name as only those of its report.
bool IsOfReport(const std::string& name, const std::string& html) {
  const std::string stem = base::NameOf(StemOf(html));
  return name == base::NameOf(name) && absl::StartsWith(name, stem) &&
         (absl::StartsWith(name.substr(stem.size()), "-") ||
          absl::StartsWith(name.substr(stem.size()), "."));
}

}  // namespace

std::string StemOf(const std::string& html) {
  return std::string(absl::StripSuffix(html, kPageEnd));
}

absl::Status ReplaceReport(Context& context, const std::string& html,
                           const std::set<std::string>& paths) {
  std::set<std::string> names;
  for (const std::string& path : paths) names.insert(base::NameOf(path));
  const std::string list = StemOf(html) + "-files.txt";
  const auto before = base::ReadFile(context.files, list, kMaxListBytes);
  if (!before.ok() && !absl::IsNotFound(before.status())) {
    return before.status();
  }
  const std::vector<std::string> listed =
      absl::StrSplit(before.ok() ? *before : std::string(), '\n');
  for (const std::string& name : listed) {
    if (names.count(name) > 0 || !IsOfReport(name, html)) continue;
    const absl::Status removed =
        context.files.RemoveFile(base::JoinPath(base::FolderOf(html), name));
    if (!absl::IsNotFound(removed)) ORDO_RETURN_IF_ERROR(removed);
  }
  return base::AtomicWrite(context.files, list,
                           absl::StrJoin(names, "\n") + "\n");
}

}  // namespace ordo::services::cli
