#include "services/checkpoints/uploads.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/units/units.h"
#include "services/checkpoints/upload_list.h"

namespace ordo::services::checkpoints {
namespace {

using ordo::checkpoints::v1::Checkpoint;
using ordo::checkpoints::v1::Upload;
using ordo::checkpoints::v1::UploadFile;
using ordo::checkpoints::v1::WriteUploadRequest;

constexpr char kUploadsFolder[] = "uploads";
constexpr size_t kReadBytes = 1 << 20;

// Of a checkpoint that no attempt has written.
constexpr char kImportedSuffix[] = "-0";

absl::Status Gone(const std::string& id) {
  return absl::NotFoundError(
      absl::StrCat("there is no uploads/", id,
                   "; one that nobody writes to for a day is removed: begin "
                   "again with CreateUpload"));
}

// "uploads/<id>".
std::string NameOfUpload(const std::string& id) {
  return absl::StrCat(kUploadsFolder, "/", id);
}

std::string CheckpointsFolder(const std::string& job) {
  return absl::StrCat("jobs/", job, "/checkpoints");
}

absl::StatusOr<UploadFile> FindFile(const Upload& list,
                                    const std::string& path) {
  for (const UploadFile& file : list.files()) {
    if (file.path() == path) return file;
  }
  return base::InvalidField("path",
                            "is none of the files that CreateUpload "
                            "was given");
}

absl::Status CheckPart(const WriteUploadRequest& request,
                       const UploadFile& file, int64_t held) {
  const auto size = static_cast<int64_t>(request.data().size());
  if (request.offset() != held) {
    return absl::OutOfRangeError(
        absl::StrCat("offset: ", request.offset(), ", but ", held, " bytes of ",
                     file.path(), " are here: go on there"));
  }
  if (held + size > file.size_bytes()) {
    return base::InvalidField(
        "data", absl::StrCat(file.path(), " would have more than its ",
                             file.size_bytes(), " bytes"));
  }
  return absl::OkStatus();
}

// Everything written to it is on the disk.
absl::Status SyncFile(base::Filesystem& files, const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(const auto file,
                        files.OpenForWrite(path, base::WriteMode::kAppend));
  ORDO_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

}  // namespace

absl::Status CheckWriteSize(const WriteUploadRequest& request) {
  const size_t size = request.data().size();
  if (size == 0 || size > kMaxWriteBytes) {
    return base::InvalidField(
        "data",
        absl::StrCat("must have 1..", kMaxWriteBytes, " bytes, has ", size));
  }
  if (request.ByteSizeLong() <= kMaxWriteMessageBytes) return absl::OkStatus();
  return base::InvalidField(
      "path", absl::StrCat("and what else is beside data may have at most ",
                           kMaxWriteMessageBytes - kMaxWriteBytes,
                           " bytes; give a path of Upload.files"));
}

void Uploads::Hold::Release() {
  base::MutexLock lock(uploads_.mutex_);
  for (const std::string& name : names_) uploads_.held_.erase(name);
  names_.clear();
}

absl::StatusOr<std::shared_ptr<Uploads::Hold>> Uploads::Take(
    const std::set<std::string>& names) {
  base::MutexLock lock(mutex_);
  for (const std::string& name : names) {
    if (held_.count(name) == 0) continue;
    return absl::AbortedError(
        absl::StrCat("another call is at work on ", name, "; try again"));
  }
  held_.insert(names.begin(), names.end());
  return std::make_shared<Hold>(*this, names);
}

std::string Uploads::FolderOf(const std::string& id) const {
  return base::JoinPath(base::JoinPath(storage_.root, kUploadsFolder), id);
}

absl::StatusOr<Upload> Uploads::ReadList(const std::string& folder,
                                         const std::string& id) const {
  // Data may have a file that is called as the manifest of a checkpoint is.
  auto text =
      base::ReadFile(storage_.files, base::JoinPath(folder, kDataManifestFile),
                     kMaxManifestBytes);
  if (absl::IsNotFound(text.status())) {
    text = base::ReadFile(storage_.files, base::JoinPath(folder, kManifestFile),
                          kMaxManifestBytes);
  }
  if (absl::IsNotFound(text.status())) return Gone(id);
  ORDO_RETURN_IF_ERROR(text);
  if (base::Sha256Hex(*text) != id) {
    return absl::DataLossError(
        absl::StrCat("the manifest in ", folder, " is not that of the upload"));
  }
  return ParseManifest(*text);
}

absl::StatusOr<Uploads::ListPtr> Uploads::ListOf(const std::string& id) {
  const std::string folder = FolderOf(id);
  const std::string name = NameOfUpload(id);
  ListPtr last;
  {
    base::MutexLock lock(mutex_);
    last = last_list_;
  }
  if (last != nullptr && last->name() == name) {
    // It may have been removed since.
    if (base::Exists(storage_.files,
                     base::JoinPath(folder, ManifestFileOf(*last)))) {
      return last;
    }
    return Gone(id);
  }
  ORDO_ASSIGN_OR_RETURN(Upload list, ReadList(folder, id));
  list.set_name(name);
  last = std::make_shared<const Upload>(std::move(list));
  base::MutexLock lock(mutex_);
  last_list_ = last;
  return last;
}

absl::StatusOr<int64_t> Uploads::HeldBytes(const std::string& path) const {
  const auto info = storage_.files.Stat(path);
  if (absl::IsNotFound(info.status())) return 0;
  ORDO_RETURN_IF_ERROR(info);
  return static_cast<int64_t>(info->size_bytes);
}

absl::Status Uploads::CheckRoom(const Upload& upload) const {
  uint64_t missing = 0;
  for (const UploadFile& file : upload.files()) {
    missing += static_cast<uint64_t>(file.size_bytes() - file.held_bytes());
  }
  ORDO_ASSIGN_OR_RETURN(const uint64_t free,
                        storage_.files.FreeBytes(storage_.root));
  if (missing <= free) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the upload needs ", base::HumanBytes(missing),
      " more, and the storage root has room for ", base::HumanBytes(free),
      "; free space there, then repeat the command: it goes on where it "
      "stopped"));
}

absl::StatusOr<Upload> Uploads::Create(Upload upload) {
  RemoveStale();
  const std::string manifest = ManifestText(upload);
  if (manifest.size() > kMaxManifestBytes) {
    return base::InvalidField(
        "upload.files",
        absl::StrCat("paths are too long for so many files: the list has ",
                     manifest.size(), " bytes; at most ", kMaxManifestBytes));
  }
  const std::string id = base::Sha256Hex(manifest);
  const std::string folder = FolderOf(id);
  upload.set_name(NameOfUpload(id));
  ORDO_ASSIGN_OR_RETURN(const auto hold, Take({upload.name()}));
  for (UploadFile& file : *upload.mutable_files()) {
    const std::string path = base::JoinPath(folder, file.path());
    ORDO_ASSIGN_OR_RETURN(int64_t held, HeldBytes(path));
    if (held > file.size_bytes()) {
      ORDO_RETURN_IF_ERROR(storage_.files.RemoveFile(path));
      held = 0;
    }
    file.set_held_bytes(held);
  }
  ORDO_RETURN_IF_ERROR(CheckRoom(upload));
  ORDO_RETURN_IF_ERROR(storage_.files.MakeFolders(folder));
  ORDO_RETURN_IF_ERROR(base::AtomicWrite(
      storage_.files, base::JoinPath(folder, ManifestFileOf(upload)),
      manifest));
  return upload;
}

absl::StatusOr<int64_t> Uploads::Write(const WriteUploadRequest& request) {
  ORDO_RETURN_IF_ERROR(CheckWriteSize(request));
  const std::string id = base::NameOf(request.name());
  ORDO_ASSIGN_OR_RETURN(const auto hold, Take({NameOfUpload(id)}));
  ORDO_ASSIGN_OR_RETURN(const ListPtr list, ListOf(id));
  ORDO_ASSIGN_OR_RETURN(const UploadFile file, FindFile(*list, request.path()));
  const std::string path = base::JoinPath(FolderOf(id), file.path());
  ORDO_ASSIGN_OR_RETURN(const int64_t held, HeldBytes(path));
  ORDO_RETURN_IF_ERROR(CheckPart(request, file, held));
  if (absl::StrContains(file.path(), '/')) {
    ORDO_RETURN_IF_ERROR(storage_.files.MakeFolders(base::FolderOf(path)));
  }
  ORDO_ASSIGN_OR_RETURN(const auto output, storage_.files.OpenForWrite(
                                               path, base::WriteMode::kAppend));
  ORDO_RETURN_IF_ERROR(output->Append(request.data()));
  ORDO_RETURN_IF_ERROR(output->Close());
  return held + static_cast<int64_t>(request.data().size());
}

absl::StatusOr<std::string> Uploads::Digest(const std::string& path) const {
  ORDO_ASSIGN_OR_RETURN(const auto file, storage_.files.OpenForRead(path));
  base::Sha256 sha256;
  for (uint64_t offset = 0;; offset += kReadBytes) {
    if (stopped_) {
      return absl::UnavailableError(
          "the scheduler is leaving; try again when it is back");
    }
    ORDO_ASSIGN_OR_RETURN(const std::string part,
                          file->ReadAt(offset, kReadBytes));
    sha256.Update(part);
    if (part.size() < kReadBytes) return sha256.FinishHex();
  }
}

absl::Status Uploads::CheckDigests(const std::string& folder,
                                   const Upload& list) {
  for (const UploadFile& file : list.files()) {
    ORDO_ASSIGN_OR_RETURN(const int64_t held,
                          HeldBytes(base::JoinPath(folder, file.path())));
    if (held == file.size_bytes()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(file.path(), " has ", held, " of its ", file.size_bytes(),
                     " bytes; send the rest with WriteUpload"));
  }
  std::string damaged;
  for (const UploadFile& file : list.files()) {
    const std::string path = base::JoinPath(folder, file.path());
    ORDO_ASSIGN_OR_RETURN(const std::string sha256, Digest(path));
    if (sha256 == file.sha256()) continue;
    ORDO_RETURN_IF_ERROR(storage_.files.RemoveFile(path));
    absl::StrAppend(&damaged, damaged.empty() ? "" : " and ", file.path());
  }
  if (damaged.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      damaged,
      ": what came has another SHA-256 than was announced; its bytes "
      "were dropped: send it again"));
}

absl::StatusOr<std::string> Uploads::FindPlaced(const std::string& id,
                                                const std::string& job) const {
  const std::string parent =
      base::JoinPath(storage_.root, CheckpointsFolder(job));
  const auto names = storage_.files.List(parent);
  if (!names.ok()) return Gone(id);
  for (const std::string& name : *names) {
    if (!absl::EndsWith(name, kImportedSuffix)) continue;
    const std::string folder = base::JoinPath(parent, name);
    if (ReadList(folder, id).ok()) return folder;
  }
  return Gone(id);
}

absl::StatusOr<Uploads::Placed> Uploads::Describe(const std::string& folder,
                                                  const std::string& id) const {
  ORDO_ASSIGN_OR_RETURN(const Upload list, ReadList(folder, id));
  Placed placed;
  ORDO_ASSIGN_OR_RETURN(placed.contents,
                        CheckFolder(storage_.files, folder, list));
  Checkpoint& checkpoint = placed.checkpoint;
  checkpoint.set_step(placed.contents.step);
  for (const UploadFile& file : list.files()) {
    auto& info = *checkpoint.add_files();
    info.set_path(file.path());
    info.set_size_bytes(file.size_bytes());
    info.set_sha256(file.sha256());
  }
  checkpoint.set_manifest_sha256(id);
  checkpoint.set_state_digest(placed.contents.state_digest);
  checkpoint.set_model_type(placed.contents.model_type);
  return placed;
}

absl::Status Uploads::Move(const std::string& from, const std::string& to) {
  base::Filesystem& files = storage_.files;
  const std::string parent = base::FolderOf(to);
  ORDO_RETURN_IF_ERROR(files.MakeFolders(parent));
  ORDO_RETURN_IF_ERROR(files.RemoveTree(to));
  ORDO_RETURN_IF_ERROR(files.Rename(from, to));
  // Up to the storage root, each folder of which may be new.
  for (std::string folder = parent; folder.size() > storage_.root.size();
       folder = base::FolderOf(folder)) {
    ORDO_RETURN_IF_ERROR(files.SyncFolder(folder));
  }
  return files.SyncFolder(storage_.root);
}

absl::Status Uploads::Sync(const std::string& folder, const Upload& list) {
  std::set<std::string> folders = {folder};
  for (const UploadFile& file : list.files()) {
    const std::string path = base::JoinPath(folder, file.path());
    ORDO_RETURN_IF_ERROR(SyncFile(storage_.files, path));
    for (std::string parent = base::FolderOf(path);
         parent.size() > folder.size(); parent = base::FolderOf(parent)) {
      folders.insert(parent);
    }
  }
  for (const std::string& each : folders) {
    ORDO_RETURN_IF_ERROR(storage_.files.SyncFolder(each));
  }
  return absl::OkStatus();
}

absl::StatusOr<Upload> Uploads::Complete(const std::string& id,
                                         Upload::Kind kind) {
  const std::string folder = FolderOf(id);
  ORDO_ASSIGN_OR_RETURN(Upload list, ReadList(folder, id));
  if (list.kind() != kind) {
    return base::InvalidField(
        "name", absl::StrCat(NameOfUpload(id),
                             kind == Upload::DATA ? " is of a checkpoint"
                                                  : " is of data",
                             ", not what is asked for here"));
  }
  ORDO_RETURN_IF_ERROR(CheckDigests(folder, list));
  ORDO_RETURN_IF_ERROR(Sync(folder, list));
  return list;
}

absl::StatusOr<Uploads::Placed> Uploads::Place(const std::string& id,
                                               const std::string& job) {
  const std::string folder = FolderOf(id);
  if (!base::Exists(storage_.files, folder)) {
    ORDO_ASSIGN_OR_RETURN(const std::string placed, FindPlaced(id, job));
    return Describe(placed, id);
  }
  ORDO_RETURN_IF_ERROR(Complete(id, Upload::KIND_UNSPECIFIED));
  ORDO_ASSIGN_OR_RETURN(Placed placed, Describe(folder, id));
  const std::string target = absl::StrCat(
      CheckpointsFolder(job), "/", placed.checkpoint.step(), kImportedSuffix);
  // What lies there was never registered: its job would have been found.
  ORDO_RETURN_IF_ERROR(Move(folder, base::JoinPath(storage_.root, target)));
  return placed;
}

absl::Status Uploads::TakeBack(const std::string& id, const std::string& job,
                               const Placed& placed) {
  const std::string target = absl::StrCat(
      CheckpointsFolder(job), "/", placed.checkpoint.step(), kImportedSuffix);
  return Move(base::JoinPath(storage_.root, target), FolderOf(id));
}

absl::Time Uploads::LastWrite(const std::string& folder) const {
  const auto info = storage_.files.Stat(folder);
  if (!info.ok()) return absl::InfinitePast();
  absl::Time last = info->modified;
  if (!info->is_folder) return last;
  const auto names = storage_.files.List(folder);
  if (!names.ok()) return last;
  for (const std::string& name : *names) {
    last = std::max(last, LastWrite(base::JoinPath(folder, name)));
  }
  return last;
}

void Uploads::RemoveStale() {
  const std::string parent = base::JoinPath(storage_.root, kUploadsFolder);
  const auto ids = storage_.files.List(parent);
  if (!ids.ok()) return;
  for (const std::string& id : *ids) {
    const auto hold = Take({NameOfUpload(id)});
    if (!hold.ok()) continue;
    const std::string folder = base::JoinPath(parent, id);
    if (clock_.Now() - LastWrite(folder) <= kUploadLifetime) continue;
    const absl::Status status = storage_.files.RemoveTree(folder);
    if (status.ok()) {
      base::LogInfo("upload removed, since nobody wrote to it for a day",
                    {{"upload", id}});
    } else {
      base::LogWarning("an upload could not be removed", {{"error", status}});
    }
  }
}

}  // namespace ordo::services::checkpoints
