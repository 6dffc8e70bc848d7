#include "model/training/durable_folder.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "nlohmann/json.hpp"

namespace ordo::model::training {
namespace {

using Json = nlohmann::ordered_json;

// Of a folder that is being replaced.
constexpr char kOldPrefix[] = ".tmp-old-";
constexpr int kFormat = 1;
constexpr size_t kMaxManifestBytes = 1 << 20;

struct ManifestEntry {
  std::string name;
  uint64_t size_bytes;
  std::string sha256;
};

absl::StatusOr<std::vector<ManifestEntry>> ParseManifest(
    const std::string& text, const std::string& path) {
  const Json manifest = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object()) return DamagedFile(path, "it is not JSON");
  std::vector<ManifestEntry> entries;
  try {
    for (const Json& file : manifest.at("files")) {
      const Json& size = file.at("size_bytes");
      if (!size.is_number_unsigned()) {
        return DamagedFile(path, "a size_bytes is no number of bytes");
      }
      entries.push_back({file.at("path"), size, file.at("sha256")});
    }
  } catch (const Json::exception& error) {
    return DamagedFile(path, error.what());
  }
  return entries;
}

absl::Status VerifyFile(base::Filesystem& files, const std::string& folder,
                        const ManifestEntry& entry) {
  const auto joined = base::JoinUnder(folder, entry.name);
  if (!joined.ok()) {
    return DamagedFile(base::JoinPath(folder, kManifestFile),
                       std::string(joined.status().message()));
  }
  const std::string& path = *joined;
  const auto stat = files.Stat(path);
  if (absl::IsNotFound(stat.status())) {
    return DamagedFile(
        path, entry.name == kOptimizerFile
                  ? "it is missing; a checkpoint that was thinned has lost it, "
                    "and lends only its weights: model: {from: ...}"
                  : "it is missing");
  }
  ORDO_RETURN_IF_ERROR(stat);
  if (stat->size_bytes != entry.size_bytes) {
    return DamagedFile(
        path, absl::StrCat("it has ", stat->size_bytes,
                           " bytes, the manifest says ", entry.size_bytes));
  }
  ORDO_ASSIGN_OR_RETURN(const std::string sha256,
                        base::Sha256HexOfFile(files, path));
  if (sha256 != entry.sha256) {
    return DamagedFile(path, "its SHA-256 is not the manifest's");
  }
  return absl::OkStatus();
}

// Makes `path`. A folder is there after a crash only if the one that holds its
// entry was synced: those that had to be made, and those above them, whose
// maker may not have waited for the disk.
absl::Status MakeFoldersDurably(base::Filesystem& files,
                                const std::string& path) {
  if (base::Exists(files, path)) return absl::OkStatus();
  std::vector<std::string> holders;
  for (std::string at = path; !base::Exists(files, at); at = holders.back()) {
    holders.push_back(base::FolderOf(at));
  }
  ORDO_RETURN_IF_ERROR(files.MakeFolders(path));
  for (const std::string& holder : holders) {
    ORDO_RETURN_IF_ERROR(files.SyncFolder(holder));
  }
  std::string above = base::FolderOf(holders.back());
  for (std::string at = holders.back(); above != at;
       at = above, above = base::FolderOf(above)) {
    // Not every folder up there can be opened by everybody.
    files.SyncFolder(above).IgnoreError();
  }
  return absl::OkStatus();
}

// Renames `aside` to `folder`, durable; an error undoes it.
absl::Status MoveIntoPlace(base::Filesystem& files, const std::string& aside,
                           const std::string& folder) {
  const std::string parent = base::FolderOf(folder);
  const std::string old =
      base::JoinPath(parent, kOldPrefix + base::NameOf(folder));
  ORDO_RETURN_IF_ERROR(files.RemoveTree(old));
  const bool replaces = base::Exists(files, folder);
  if (replaces) ORDO_RETURN_IF_ERROR(files.Rename(folder, old));
  absl::Status status = files.Rename(aside, folder);
  if (status.ok()) {
    status = files.SyncFolder(parent);
    if (!status.ok()) files.RemoveTree(folder).IgnoreError();
  }
  if (!status.ok() && replaces) files.Rename(old, folder).IgnoreError();
  if (status.ok()) files.RemoveTree(old).IgnoreError();
  return status;
}

}  // namespace

absl::Status DamagedFile(const std::string& path, const std::string& what) {
  return absl::DataLossError(absl::StrCat(path, " is damaged: ", what));
}

absl::Status WriteDurably(base::Filesystem& files, const std::string& path,
                          const std::string& bytes) {
  ORDO_ASSIGN_OR_RETURN(const auto file,
                        files.OpenForWrite(path, base::WriteMode::kTruncate));
  ORDO_RETURN_IF_ERROR(file->Append(bytes));
  ORDO_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

absl::StatusOr<ordo::training::v1::FileInfo> WriteNamed(
    base::Filesystem& files, const std::string& folder,
    const NamedBytes& file) {
  ORDO_RETURN_IF_ERROR(
      WriteDurably(files, base::JoinPath(folder, file.name), file.bytes));
  ordo::training::v1::FileInfo info;
  info.set_path(file.name);
  info.set_size_bytes(static_cast<int64_t>(file.bytes.size()));
  info.set_sha256(base::Sha256Hex(file.bytes));
  return info;
}

absl::StatusOr<ordo::training::v1::FileInfo> InfoOfFile(
    base::Filesystem& files, const std::string& folder,
    const std::string& name) {
  const std::string path = base::JoinPath(folder, name);
  ordo::training::v1::FileInfo info;
  info.set_path(name);
  ORDO_ASSIGN_OR_RETURN(const base::FileInfo stat, files.Stat(path));
  info.set_size_bytes(static_cast<int64_t>(stat.size_bytes));
  ORDO_ASSIGN_OR_RETURN(const std::string sha256,
                        base::Sha256HexOfFile(files, path));
  info.set_sha256(sha256);
  return info;
}

std::string ManifestText(
    const std::vector<ordo::training::v1::FileInfo>& infos) {
  Json manifest;
  manifest["format"] = kFormat;
  manifest["files"] = Json::array();
  for (const auto& info : infos) {
    manifest["files"].push_back({{"path", info.path()},
                                 {"size_bytes", info.size_bytes()},
                                 {"sha256", info.sha256()}});
  }
  return manifest.dump(2) + "\n";
}

absl::Status WriteAside(
    base::Filesystem& files, const std::string& folder,
    const std::function<absl::Status(const std::string& aside)>& fill) {
  const std::string parent = base::FolderOf(folder);
  const std::string aside =
      base::JoinPath(parent, kTemporaryPrefix + base::NameOf(folder));
  const auto write = [&]() -> absl::Status {
    ORDO_RETURN_IF_ERROR(MakeFoldersDurably(files, parent));
    ORDO_RETURN_IF_ERROR(files.RemoveTree(aside));
    ORDO_RETURN_IF_ERROR(files.MakeFolders(aside));
    ORDO_RETURN_IF_ERROR(fill(aside));
    ORDO_RETURN_IF_ERROR(files.SyncFolder(aside));
    return MoveIntoPlace(files, aside, folder);
  };
  const absl::Status status = write();
  // What is left is removed at the next start as well.
  if (!status.ok()) files.RemoveTree(aside).IgnoreError();
  return status;
}

absl::Status VerifyManifest(base::Filesystem& files, const std::string& folder,
                            const std::string& manifest_sha256,
                            const std::vector<std::string>& required) {
  const std::string path = base::JoinPath(folder, kManifestFile);
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(files, path, kMaxManifestBytes));
  if (!manifest_sha256.empty() && base::Sha256Hex(text) != manifest_sha256) {
    return DamagedFile(path, "its SHA-256 is not the registered one");
  }
  ORDO_ASSIGN_OR_RETURN(const std::vector<ManifestEntry> entries,
                        ParseManifest(text, path));
  for (const std::string& name : required) {
    const bool listed = std::any_of(
        entries.begin(), entries.end(),
        [&](const ManifestEntry& entry) { return entry.name == name; });
    if (!listed) {
      return DamagedFile(path, absl::StrCat("it does not list ", name));
    }
  }
  const bool with_optimizer = std::find(required.begin(), required.end(),
                                        kOptimizerFile) != required.end();
  for (const ManifestEntry& entry : entries) {
    if (entry.name == kOptimizerFile && !with_optimizer) continue;
    ORDO_RETURN_IF_ERROR(VerifyFile(files, folder, entry));
  }
  return absl::OkStatus();
}

absl::Status RemoveTemporaries(base::Filesystem& files,
                               const std::string& parent) {
  const auto names = files.List(parent);
  if (absl::IsNotFound(names.status())) return absl::OkStatus();
  ORDO_RETURN_IF_ERROR(names);
  for (const std::string& name : *names) {
    if (!absl::StartsWith(name, kTemporaryPrefix)) continue;
    const std::string path = base::JoinPath(parent, name);
    if (absl::StartsWith(name, kOldPrefix)) {
      const std::string folder =
          base::JoinPath(parent, name.substr(sizeof(kOldPrefix) - 1));
      if (!base::Exists(files, folder)) {
        ORDO_RETURN_IF_ERROR(files.Rename(path, folder));
        continue;
      }
    }
    ORDO_RETURN_IF_ERROR(files.RemoveTree(path));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ordo::training::v1::FileInfo>> WriteFolder(
    base::Filesystem& files, const std::string& folder,
    const std::vector<NamedBytes>& contents) {
  std::vector<ordo::training::v1::FileInfo> infos;
  ORDO_RETURN_IF_ERROR(
      WriteAside(files, folder, [&](const std::string& aside) -> absl::Status {
        for (const NamedBytes& file : contents) {
          ORDO_ASSIGN_OR_RETURN(infos.emplace_back(),
                                WriteNamed(files, aside, file));
        }
        return absl::OkStatus();
      }));
  return infos;
}

}  // namespace ordo::model::training
