#ifndef ORDO_SERVICES_CHECKPOINTS_UPLOAD_LIST_H_
#define ORDO_SERVICES_CHECKPOINTS_UPLOAD_LIST_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status/details.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"

// The list of an upload's files, which is the checkpoint's MANIFEST.json from
// the start: the manifest's digest names both. That of data is hidden, since a
// file of data may be called MANIFEST.json.

namespace ordo::services::checkpoints {

inline constexpr char kManifestFile[] = "MANIFEST.json";
inline constexpr char kDataManifestFile[] = ".manifest.json";
inline constexpr char kIndexFile[] = "model.safetensors.index.json";
inline constexpr char kWeightsFile[] = "model.safetensors";
inline constexpr char kStateFile[] = "state.json";
inline constexpr char kOptimizerFile[] = "optimizer.safetensors";
inline constexpr int kMaxUploadFiles = 1000;
// Of one file, in bytes: a mistake in a size is not to become an overflow.
inline constexpr int64_t kMaxUploadFileBytes = int64_t{1} << 50;
// Of the text of a manifest.
inline constexpr size_t kMaxManifestBytes = 4 << 20;

// Whether a checkpoint's folder may have a file of this name.
bool IsUploadFile(const std::string& name);

// INVALID_ARGUMENT with one violation for each thing wrong with the list of a
// checkpoint; fields are those of CreateUploadRequest, "upload.files[2].path".
absl::Status CheckUploadList(const ordo::checkpoints::v1::Upload& upload);

// Appends what is wrong with the size and the digest of a file, at `field`.
void CheckFileFacts(const std::string& field,
                    const ordo::checkpoints::v1::UploadFile& file,
                    std::vector<base::FieldViolation>* violations);

// The name of the manifest's file.
const char* ManifestFileOf(const ordo::checkpoints::v1::Upload& upload);

// The text of the manifest; the same for the same files in any order.
std::string ManifestText(const ordo::checkpoints::v1::Upload& upload);

// Kind and files of a manifest, by path. DATA_LOSS when it is not one.
absl::StatusOr<ordo::checkpoints::v1::Upload> ParseManifest(
    const std::string& text);

}  // namespace ordo::services::checkpoints

#endif  // ORDO_SERVICES_CHECKPOINTS_UPLOAD_LIST_H_
