#ifndef ORDO_SERVICES_CHECKPOINTS_UPLOAD_LIST_H_
#define ORDO_SERVICES_CHECKPOINTS_UPLOAD_LIST_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"

// The list of an upload's files, which is the checkpoint's MANIFEST.json from
// the start: the manifest's digest names both.

namespace ordo::services::checkpoints {

inline constexpr char kManifestFile[] = "MANIFEST.json";
inline constexpr char kIndexFile[] = "model.safetensors.index.json";
inline constexpr char kWeightsFile[] = "model.safetensors";
inline constexpr char kStateFile[] = "state.json";
inline constexpr char kOptimizerFile[] = "optimizer.safetensors";
inline constexpr int kMaxUploadFiles = 1000;
// Of one file, in bytes: a mistake in a size is not to become an overflow.
inline constexpr int64_t kMaxUploadFileBytes = int64_t{1} << 50;

// Whether a checkpoint's folder may have a file of this name.
bool IsUploadFile(const std::string& name);

// INVALID_ARGUMENT with one violation for each thing wrong with the list;
// fields are those of CreateUploadRequest, "upload.files[2].path".
absl::Status CheckUploadList(const ordo::checkpoints::v1::Upload& upload);

// The text of MANIFEST.json; the same for the same files in any order.
std::string ManifestText(const ordo::checkpoints::v1::Upload& upload);

// The files of a manifest, by path. DATA_LOSS when it is not one.
absl::StatusOr<ordo::checkpoints::v1::Upload> ParseManifest(
    const std::string& text);

}  // namespace ordo::services::checkpoints

#endif  // ORDO_SERVICES_CHECKPOINTS_UPLOAD_LIST_H_
