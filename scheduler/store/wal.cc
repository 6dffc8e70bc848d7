#include "scheduler/store/wal.h"

#include "absl/strings/str_cat.h"
#include "scheduler/store/damage.h"

namespace ordo::scheduler::store {

bool IsEmptyFile(base::Filesystem& files, const std::string& path) {
  const auto info = files.Stat(path);
  return info.ok() && !info->is_folder && info->size_bytes == 0;
}

absl::Status CheckNotEmptied(base::Filesystem& files,
                             const std::string& store) {
  const std::string log = store + kLog;
  const auto info = files.Stat(log);
  if (!info.ok() || info->size_bytes == 0 || !IsEmptyFile(files, store)) {
    return absl::OkStatus();
  }
  const Origin origin{store};
  return absl::DataLossError(
      absl::StrCat(origin.name(), " is damaged: it is empty, and its log ", log,
                   " is not; both were left as they are; ", origin.advice(),
                   "; or move both away to start with an empty store"));
}

}  // namespace ordo::scheduler::store
