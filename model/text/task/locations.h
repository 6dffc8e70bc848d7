#ifndef ORDO_MODEL_TEXT_TASK_LOCATIONS_H_
#define ORDO_MODEL_TEXT_TASK_LOCATIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/tasks/data_access.h"

// Where the paths of a task's parameters lead. `field` is the parameter's path,
// for messages.

namespace ordo::model::text::task {

// The absolute path of what `path` names, whether or not it is there: relative
// ones are below data_folder, absolute ones in it or in one of the data roots,
// links followed. INVALID_ARGUMENT, with the field: it leads elsewhere, or
// data_folder is not known.
absl::StatusOr<std::string> LocateData(const tasks::DataAccess& access,
                                       const std::string& field,
                                       const std::string& path);

// The same of a file. INVALID_ARGUMENT, with the field: it is a folder.
absl::StatusOr<std::string> LocateFile(const tasks::DataAccess& access,
                                       const std::string& field,
                                       const std::string& path);

// LocateData of text that is there. NOT_FOUND, with the layout that is
// expected: nothing is.
absl::StatusOr<std::string> FindData(const tasks::DataAccess& access,
                                     const std::string& field,
                                     const std::string& path);

// The files of the data at `path`, which FindData has found: it itself, or all
// below the folder, sorted, but for those that begin with a dot. Of
// `token_files` those whose name ends in .bin, compressed or not.
// INVALID_ARGUMENT: a link leads out of what may be read. NOT_FOUND: there is
// none.
struct FilesOptions {
  std::string field;
  bool token_files = false;
};
absl::StatusOr<std::vector<std::string>> FilesOf(
    const tasks::DataAccess& access, const std::string& path,
    const FilesOptions& options);

}  // namespace ordo::model::text::task

#endif  // ORDO_MODEL_TEXT_TASK_LOCATIONS_H_
