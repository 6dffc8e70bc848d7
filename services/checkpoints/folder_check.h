#ifndef ORDO_SERVICES_CHECKPOINTS_FOLDER_CHECK_H_
#define ORDO_SERVICES_CHECKPOINTS_FOLDER_CHECK_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::services::checkpoints {

// What the files of a folder say of the model in it.
struct FolderContents {
  ordo::training::v1::Model model;
  ordo::training::v1::Component encoding;
  // Unset for a model that Ordo has not trained.
  ordo::training::v1::Data data;
  // `model_type` of config.json.
  std::string model_type;
  // Steps done, and digest of the state; 0 and empty when no file says.
  int64_t step = 0;
  std::string state_digest;
};

// Of all safetensors files of a folder together, so that none fills the memory
// of the server that looks at it.
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;

// Reads config.json, the index and the headers of all safetensors files; the
// weights themselves are read by the first job that uses them. `list` has the
// folder's files. INVALID_ARGUMENT names the file, and in it the key or the
// tensor, that is not right, or that the headers have too many bytes.
absl::StatusOr<FolderContents> CheckFolder(
    base::Filesystem& files, const std::string& folder,
    const ordo::checkpoints::v1::Upload& list,
    uint64_t max_header_bytes = kMaxHeaderBytes);

// The files that the index of a folder names. INVALID_ARGUMENT when it is none.
absl::StatusOr<std::set<std::string>> FilesOfIndex(base::Filesystem& files,
                                                   const std::string& folder);

}  // namespace ordo::services::checkpoints

#endif  // ORDO_SERVICES_CHECKPOINTS_FOLDER_CHECK_H_
