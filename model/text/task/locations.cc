#include "model/text/task/locations.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/text/source/byte_source.h"

namespace ordo::model::text::task {
namespace {

using tasks::DataAccess;

// Folders below folders; a link to one of its parents would go on for ever.
constexpr int kMaxDepth = 32;

// The folders that may be read.
std::vector<std::string> RootsOf(const DataAccess& access) {
  std::vector<std::string> roots = access.data_roots;
  if (!access.data_folder.empty()) roots.push_back(access.data_folder);
  return roots;
}

// Links resolved; as it is where nothing is there.
std::string Resolved(const std::string& path) {
  std::error_code error;
  const auto resolved = std::filesystem::weakly_canonical(path, error);
  return error ? path : resolved.string();
}

bool IsIn(const std::string& path, const std::string& root) {
  const std::string resolved = Resolved(root);
  if (resolved == "/") return true;
  return path == resolved || absl::StartsWith(path, resolved + "/");
}

absl::Status CheckInside(const DataAccess& access, const std::string& field,
                         const std::string& path) {
  const std::string resolved = Resolved(path);
  const std::vector<std::string> roots = RootsOf(access);
  if (std::any_of(roots.begin(), roots.end(), [&](const std::string& root) {
        return IsIn(resolved, root);
      })) {
    return absl::OkStatus();
  }
  return base::InvalidField(
      field,
      absl::StrCat(resolved, " is outside of what this worker may read (",
                   roots.empty() ? "nothing" : absl::StrJoin(roots, ", "),
                   "); put it below data/ of the storage root, or have an "
                   "administrator add its folder to the worker's data_roots"));
}

absl::Status Missing(const std::string& field, const std::string& path) {
  return absl::NotFoundError(absl::StrCat(
      field, ": there is no ", path,
      "; put a file there, or a folder with files: UTF-8 text, JSON lines, or "
      "x.bin with x.bin.json, each also as .gz or .zst"));
}

// Finds the files of one data.
class Collector {
 public:
  Collector(const DataAccess& access, const std::string& field)
      : access_(access), field_(field) {}

  const std::vector<std::string>& found() const { return found_; }

  // Takes up the files at or below `path`.
  absl::Status Collect(const std::string& path, int depth = 0) {
    ORDO_RETURN_IF_ERROR(CheckInside(access_, field_, path));
    ORDO_ASSIGN_OR_RETURN(const base::FileInfo info, access_.files->Stat(path));
    if (!info.is_folder) {
      found_.push_back(path);
      return absl::OkStatus();
    }
    if (depth == kMaxDepth) {
      return base::InvalidField(
          field_, absl::StrCat(path, " lies ", kMaxDepth,
                               " folders deep; is there a link to a parent?"));
    }
    ORDO_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                          access_.files->List(path));
    for (const std::string& name : names) {
      if (name.front() == '.') continue;
      ORDO_RETURN_IF_ERROR(Collect(base::JoinPath(path, name), depth + 1));
    }
    return absl::OkStatus();
  }

 private:
  const DataAccess& access_;
  const std::string& field_;
  std::vector<std::string> found_;
};

bool IsTokenFile(const std::string& path) {
  return absl::EndsWith(std::string(source::WithoutCompression(path)), ".bin");
}

}  // namespace

absl::StatusOr<std::string> LocateData(const DataAccess& access,
                                       const std::string& field,
                                       const std::string& path) {
  if (access.files == nullptr) {
    return base::InvalidField(field, "nothing can be read here");
  }
  std::string whole = path;
  if (path.empty() || path.front() != '/') {
    if (access.data_folder.empty()) {
      return base::InvalidField(
          field, absl::StrCat("'", path,
                              "' is below data/ of the storage root, which is "
                              "not known: give --storage-root, or the whole "
                              "path and --data-roots"));
    }
    const auto joined = base::JoinUnder(access.data_folder, path);
    if (!joined.ok())
      return base::InvalidField(field, std::string(joined.status().message()));
    whole = *joined;
  }
  ORDO_RETURN_IF_ERROR(CheckInside(access, field, whole));
  return whole;
}

absl::StatusOr<std::string> LocateFile(const DataAccess& access,
                                       const std::string& field,
                                       const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(std::string whole, LocateData(access, field, path));
  const auto info = access.files->Stat(whole);
  if (info.ok() && info->is_folder) {
    return base::InvalidField(
        field, absl::StrCat(whole, " is a folder: name a file in it"));
  }
  return whole;
}

absl::StatusOr<std::string> FindData(const DataAccess& access,
                                     const std::string& field,
                                     const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(const std::string whole,
                        LocateData(access, field, path));
  const auto info = access.files->Stat(whole);
  if (absl::IsNotFound(info.status())) return Missing(field, whole);
  ORDO_RETURN_IF_ERROR(base::AddContext(info.status(), field));
  return whole;
}

absl::StatusOr<std::vector<std::string>> FilesOf(const DataAccess& access,
                                                 const std::string& path,
                                                 const FilesOptions& options) {
  Collector collector(access, options.field);
  ORDO_RETURN_IF_ERROR(collector.Collect(path));
  std::vector<std::string> found = collector.found();
  if (options.token_files) {
    found.erase(
        std::remove_if(found.begin(), found.end(),
                       [](const auto& file) { return !IsTokenFile(file); }),
        found.end());
  }
  if (found.empty()) return Missing(options.field, base::JoinPath(path, "*"));
  return found;
}

}  // namespace ordo::model::text::task
