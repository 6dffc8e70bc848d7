#include "scheduler/store/wal.h"

#include "absl/strings/str_cat.h"
#include "scheduler/store/damage.h"

namespace ordo::scheduler::store {

bool IsEmptyFile(base::Filesystem& files, const std::string& path) {
  const auto info = files.Stat(path);
  return info.ok() && !info->is_folder && info->size_bytes == 0;
}

absl::Status CheckNotLost(base::Filesystem& files, const std::string& store) {
  const std::string log = store + kLog;
  const auto info = files.Stat(log);
  if (!info.ok() || info->size_bytes == 0) return absl::OkStatus();
  const bool is_gone = absl::IsNotFound(files.Stat(store).status());
  if (!is_gone && !IsEmptyFile(files, store)) return absl::OkStatus();
  const Origin origin{store};
  return absl::DataLossError(absl::StrCat(
      origin.name(), " is damaged: it is ", is_gone ? "gone" : "empty",
      ", and its log ", log, " is not; ",
      is_gone ? "the log was left as it is; " : "both were left as they are; ",
      origin.advice(), "; or move ", is_gone ? "the log" : "both",
      " away to start with an empty store"));
}

}  // namespace ordo::scheduler::store
