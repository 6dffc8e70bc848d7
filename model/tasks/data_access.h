#ifndef ORDO_MODEL_TASKS_DATA_ACCESS_H_
#define ORDO_MODEL_TASKS_DATA_ACCESS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/files/files.h"

namespace ordo::model::tasks {

// Where tasks find what they read. Those that make their rows up need none of
// it.
struct DataAccess {
  // Null: nothing can be read. Outlives the tasks.
  base::Filesystem* files = nullptr;
  // What relative paths are under: data/ of the storage root. Empty: there is
  // none.
  std::string data_folder;
  // Absolute folders that an administrator lists. Absolute paths lead into one
  // of them, or into data_folder.
  std::vector<std::string> data_roots;
  // Where tokens are kept for whoever needs the same, and where they are
  // written before: a folder that nobody else writes to, of the same mount.
  std::string store_folder;
  std::string work_folder;
  // The file of libordo_sentence_piece.so.
  std::string sentence_piece;
  // Asked again and again while data is read that takes its time, or another
  // process makes tokens of it; an error ends that, and is passed on.
  std::function<absl::Status()> keep_going = [] { return absl::OkStatus(); };
};

// The reason (base::ErrorInfo) of data that cannot be read, or is not what it
// was.
inline constexpr char kDataMissingReason[] = "DATA_MISSING";

// The error with that reason. INVALID_ARGUMENT, which says what to mend in the
// specification or the data, CANCELLED, RESOURCE_EXHAUSTED, and what has a
// reason already stay as they are.
absl::Status DataMissing(const absl::Status& status);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_DATA_ACCESS_H_
