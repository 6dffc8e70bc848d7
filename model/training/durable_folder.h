#ifndef ORDO_MODEL_TRAINING_DURABLE_FOLDER_H_
#define ORDO_MODEL_TRAINING_DURABLE_FOLDER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "proto/ordo/training/v1/progress.pb.h"

// Folders that are there whole or not at all, and manifests that show later
// damage.

namespace ordo::model::training {

inline constexpr char kManifestFile[] = "MANIFEST.json";
inline constexpr char kTemporaryPrefix[] = ".tmp-";
// Of a checkpoint; thinning takes it away and leaves the manifest as it is.
inline constexpr char kOptimizerFile[] = "optimizer.safetensors";

struct NamedBytes {
  std::string name;
  std::string bytes;
};

// Creates `path` with `bytes`, durable.
absl::Status WriteDurably(base::Filesystem& files, const std::string& path,
                          const std::string& bytes);

// Creates `file` in `folder`, durable, and says what it is.
absl::StatusOr<ordo::training::v1::FileInfo> WriteNamed(
    base::Filesystem& files, const std::string& folder, const NamedBytes& file);

// Makes the folder ".tmp-<name>" beside `folder`, lets `fill` write into it (it
// is given its path and syncs its files), then renames it to `folder` and syncs
// the parent; missing parents are made, durable too. An older `folder` is
// replaced. After an error nothing new is left and an older folder stands.
absl::Status WriteAside(
    base::Filesystem& files, const std::string& folder,
    const std::function<absl::Status(const std::string& aside)>& fill);

// Writes a folder of small files in that way and says what is in it.
absl::StatusOr<std::vector<ordo::training::v1::FileInfo>> WriteFolder(
    base::Filesystem& files, const std::string& folder,
    const std::vector<NamedBytes>& contents);

// Size and SHA-256 of a file of `folder` as it stands.
absl::StatusOr<ordo::training::v1::FileInfo> InfoOfFile(
    base::Filesystem& files, const std::string& folder,
    const std::string& name);

// The text of MANIFEST.json for these files.
std::string ManifestText(
    const std::vector<ordo::training::v1::FileInfo>& infos);

// Checks the files of `folder` against its manifest, which has to list those
// called `required`, and the manifest against `manifest_sha256` unless that is
// empty. kOptimizerFile is looked at only where it is required. DATA_LOSS
// naming the damaged file; NOT_FOUND when there is no manifest.
absl::Status VerifyManifest(base::Filesystem& files, const std::string& folder,
                            const std::string& manifest_sha256,
                            const std::vector<std::string>& required = {});

// Removes what interrupted writers left in `parent`, and brings back a folder
// that one of them was about to replace.
absl::Status RemoveTemporaries(base::Filesystem& files,
                               const std::string& parent);

// DATA_LOSS: "<path> is damaged: <what>".
absl::Status DamagedFile(const std::string& path, const std::string& what);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_DURABLE_FOLDER_H_
