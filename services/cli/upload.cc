#include "services/cli/upload.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/backoff/backoff.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "base/units/units.h"
#include "model/formats/config_file.h"
#include "services/checkpoints/folder_check.h"
#include "services/checkpoints/upload_list.h"

namespace ordo::services::cli {
namespace {

// `checkpoints` is the services' folder here.
namespace v1 = ordo::checkpoints::v1;

using v1::Checkpoint;
using v1::CheckpointsService;
using v1::UploadFile;
using SteadyClock = std::chrono::steady_clock;

constexpr size_t kMaxManifestBytes = 16 << 20;
// Of one WriteUpload.
constexpr size_t kPartBytes = 1 << 20;
// Of more files only the sum is told.
constexpr int kMaxFilesTold = 50;

// The names of a folder's weights: one file, or those that the index names.
absl::StatusOr<std::set<std::string>> WeightFiles(
    Context& context, const std::string& path,
    const std::set<std::string>& names) {
  if (names.count(checkpoints::kWeightsFile) > 0) {
    return std::set<std::string>{checkpoints::kWeightsFile};
  }
  if (names.count(checkpoints::kIndexFile) == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " has neither ", checkpoints::kWeightsFile, " nor ",
        checkpoints::kIndexFile,
        ", so no weights that can be read; other formats, such as "
        "pytorch_model.bin, have to be converted to safetensors first"));
  }
  ORDO_ASSIGN_OR_RETURN(std::set<std::string> files,
                        checkpoints::FilesOfIndex(context.files, path));
  for (const std::string& file : files) {
    if (names.count(file) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, " has no ", file, ", which ",
                       checkpoints::kIndexFile, " names"));
    }
  }
  files.insert(checkpoints::kIndexFile);
  return files;
}

// The names of the files that are sent.
absl::StatusOr<std::set<std::string>> FilesToSend(
    Context& context, const std::string& path,
    const std::set<std::string>& names) {
  if (names.count(model::formats::kConfigFile) == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        " has no config.json, which says what model the weights are of; "
        "name a folder of Hugging Face's or a checkpoint of Ordo's"));
  }
  ORDO_ASSIGN_OR_RETURN(auto sent, WeightFiles(context, path, names));
  sent.insert(model::formats::kConfigFile);
  // Only together are they a state that a job can go on from.
  if (names.count(checkpoints::kStateFile) > 0 &&
      names.count(checkpoints::kOptimizerFile) > 0) {
    sent.insert({checkpoints::kStateFile, checkpoints::kOptimizerFile});
  }
  return sent;
}

// A folder of Ordo's says itself what its files must be.
absl::Status CheckManifest(Context& context, const LocalFolder& folder) {
  const auto text = base::ReadFile(
      context.files, base::JoinPath(folder.path, checkpoints::kManifestFile),
      kMaxManifestBytes);
  if (absl::IsNotFound(text.status())) return absl::OkStatus();
  ORDO_RETURN_IF_ERROR(text);
  ORDO_ASSIGN_OR_RETURN(
      const v1::Upload listed,
      base::AddContext(checkpoints::ParseManifest(*text), folder.path));
  for (const UploadFile& file : folder.list.files()) {
    for (const UploadFile& known : listed.files()) {
      if (known.path() != file.path() || known.sha256() == file.sha256()) {
        continue;
      }
      return absl::DataLossError(absl::StrCat(
          base::JoinPath(folder.path, file.path()),
          " is damaged: its SHA-256 is not the one in MANIFEST.json; fetch it "
          "again, or remove MANIFEST.json if the change was meant"));
    }
  }
  return absl::OkStatus();
}

// How far an upload has come.
struct Transfer {
  const LocalFolder& folder;
  const UploadCalls& calls;
  v1::Upload upload = {};
  int64_t num_sent = 0;
};

absl::Status SendFile(Context& context, UploadFile* file, Transfer* transfer) {
  const std::string path = base::JoinPath(transfer->folder.path, file->path());
  ORDO_ASSIGN_OR_RETURN(const auto input, context.files.OpenForRead(path));
  v1::WriteUploadRequest request;
  request.set_name(transfer->upload.name());
  request.set_path(file->path());
  while (file->held_bytes() < file->size_bytes()) {
    const auto left = static_cast<size_t>(file->size_bytes()) -
                      static_cast<size_t>(file->held_bytes());
    const size_t size = std::min(left, kPartBytes);
    ORDO_ASSIGN_OR_RETURN(
        *request.mutable_data(),
        input->ReadAt(static_cast<uint64_t>(file->held_bytes()), size));
    if (request.data().size() != size) {
      return absl::DataLossError(absl::StrCat(
          path, " became shorter while it was sent; repeat the command"));
    }
    request.set_offset(file->held_bytes());
    ORDO_ASSIGN_OR_RETURN(
        const v1::WriteUploadResponse response,
        context.client.Call(context.client.checkpoints(),
                            &CheckpointsService::Stub::WriteUpload, request));
    file->set_held_bytes(response.held_bytes());
    transfer->num_sent += static_cast<int64_t>(size);
  }
  return absl::OkStatus();
}

// Begins, or learns what is there already, and sends the rest.
absl::Status Send(Context& context, Transfer* transfer) {
  ORDO_ASSIGN_OR_RETURN(transfer->upload, transfer->calls.create());
  const bool tell = context.output == OutputForm::kTable;
  const int num_files = transfer->upload.files_size();
  uint64_t size = 0;
  for (UploadFile& file : *transfer->upload.mutable_files()) {
    const int64_t held = file.held_bytes();
    ORDO_RETURN_IF_ERROR(SendFile(context, &file, transfer));
    size += static_cast<uint64_t>(file.size_bytes());
    if (!tell || num_files > kMaxFilesTold) continue;
    std::string remark;
    if (held == file.size_bytes()) {
      remark = "  was there already";
    } else if (held > 0) {
      remark =
          absl::StrCat("  ", base::HumanBytes(held), " were there already");
    }
    context.err << "ordo: " << file.path() << "  "
                << base::HumanBytes(file.size_bytes()) << remark << std::endl;
  }
  if (tell && num_files > kMaxFilesTold) {
    context.err << "ordo: " << num_files << " files  " << base::HumanBytes(size)
                << std::endl;
  }
  return absl::OkStatus();
}

// Commits, if the server has what is made of it or all of its bytes; else sends
// them before.
absl::Status SendAndCommit(Context& context, Transfer* transfer) {
  const absl::Status known = transfer->calls.commit();
  if (!absl::IsNotFound(known) && !absl::IsFailedPrecondition(known) &&
      !absl::IsDataLoss(known)) {
    return known;
  }
  ORDO_RETURN_IF_ERROR(Send(context, transfer));
  return transfer->calls.commit();
}

// The next try may find what this one did not.
bool IsPassing(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsAborted(status) ||
         absl::IsOutOfRange(status);
}

}  // namespace

absl::StatusOr<LocalFolder> ReadLocalFolder(Context& context,
                                            const std::string& path) {
  LocalFolder folder;
  folder.path = path;
  ORDO_ASSIGN_OR_RETURN(const auto listed, context.files.List(path));
  const std::set<std::string> names(listed.begin(), listed.end());
  ORDO_ASSIGN_OR_RETURN(const auto sent, FilesToSend(context, path, names));
  for (const std::string& name : sent) {
    folder.list.add_files()->set_path(name);
  }
  // Before the digests, which take long.
  ORDO_RETURN_IF_ERROR(base::AddContext(
      checkpoints::CheckFolder(context.files, path, folder.list), path));
  ORDO_RETURN_IF_ERROR(FillFacts(context, &folder));
  ORDO_RETURN_IF_ERROR(CheckManifest(context, folder));
  for (const std::string& name : names) {
    if (sent.count(name) == 0 && name != checkpoints::kManifestFile) {
      folder.left_out.push_back(name);
    }
  }
  return folder;
}

absl::Status FillFacts(Context& context, LocalFolder* folder) {
  for (UploadFile& file : *folder->list.mutable_files()) {
    const std::string path = base::JoinPath(folder->path, file.path());
    ORDO_ASSIGN_OR_RETURN(const auto info, context.files.Stat(path));
    file.set_size_bytes(static_cast<int64_t>(info.size_bytes));
    ORDO_ASSIGN_OR_RETURN(*file.mutable_sha256(),
                          base::Sha256HexOfFile(context.files, path));
  }
  return absl::OkStatus();
}

absl::Status SendFolder(Context& context, const LocalFolder& folder,
                        const UploadCalls& calls) {
  base::BackoffOptions backoff;
  backoff.initial = absl::Milliseconds(50);
  backoff.max = absl::Seconds(1);
  auto last_contact = SteadyClock::now();
  Transfer transfer{folder, calls};
  for (int failures = 1;; ++failures) {
    const int64_t before = transfer.num_sent;
    const absl::Status status = SendAndCommit(context, &transfer);
    if (context.interrupt.triggered()) {
      return absl::CancelledError(
          "interrupted; the same command goes on where this one stopped");
    }
    if (!IsPassing(status)) return status;
    // A server at work on the same upload, such as on a commit whose answer
    // took too long, is there.
    if (transfer.num_sent > before || absl::IsAborted(status)) {
      last_contact = SteadyClock::now();
      failures = 1;
    }
    if (absl::FromChrono(SteadyClock::now() - last_contact) >=
        context.client.options().patience) {
      return status;
    }
    context.interrupt.WaitFor(
        base::BackoffDelay(backoff, failures, folder.path));
  }
}

std::string UploadName(const LocalFolder& folder) {
  return absl::StrCat("uploads/",
                      base::Sha256Hex(checkpoints::ManifestText(folder.list)));
}

absl::StatusOr<Checkpoint> Upload(Context& context, const LocalFolder& folder,
                                  const std::string& job) {
  v1::CreateUploadRequest create;
  *create.mutable_upload() = folder.list;
  v1::CommitUploadRequest commit;
  commit.set_name(UploadName(folder));
  commit.set_job_id(job);
  absl::StatusOr<Checkpoint> checkpoint;
  UploadCalls calls;
  calls.create = [&] {
    return context.client.Call(context.client.checkpoints(),
                               &CheckpointsService::Stub::CreateUpload, create);
  };
  calls.commit = [&] {
    checkpoint =
        context.client.Call(context.client.checkpoints(),
                            &CheckpointsService::Stub::CommitUpload, commit);
    return checkpoint.status();
  };
  ORDO_RETURN_IF_ERROR(SendFolder(context, folder, calls));
  return checkpoint;
}

}  // namespace ordo::services::cli
