#include "worker/trainer/context.h"

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/training/nccl/load.h"
#include "model/training/numerics.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {

absl::StatusOr<c10::Device> OpenDevice(
    const TrainerContext& context,
    const ordo::training::v1::Resources& resources) {
  const auto device =
      model::training::OpenDevice(resources.device(), context.gpu_kernels);
  if (device.ok()) return device;
  return WithExitCode(
      base::AddContext(device.status(),
                       absl::StrCat("open device ", resources.device())),
      ordo::training::v1::DEVICE_ERROR);
}

absl::StatusOr<const model::training::nccl::Library*> OpenNccl(
    const TrainerContext& context) {
  const auto nccl = model::training::nccl::LoadLibrary(context.nccl_library);
  if (nccl.ok()) return nccl;
  return WithExitCode(nccl.status(), ordo::training::v1::NCCL_ERROR);
}

std::string AttemptFolder(const TrainerContext& context, int attempt) {
  return base::JoinPath(context.job_folder, absl::StrCat("attempts/", attempt));
}

std::string CheckpointsFolder(const TrainerContext& context) {
  return base::JoinPath(context.job_folder, "checkpoints");
}

absl::StatusOr<std::string> FolderOfSource(
    const TrainerContext& context,
    const ordo::training::v1::CheckpointSource& source) {
  const std::string& path = source.path();
  if (!path.empty() && path.front() == '/') return path;
  if (context.storage_root.empty()) {
    if (context.files.Stat(path).ok()) return path;
    return base::InvalidField(
        "--storage-root",
        absl::StrCat("is needed: there is no ", path,
                     " here; the paths of a job's task are relative to it"));
  }
  return base::JoinUnder(context.storage_root, path);
}

std::string NameOfSource(const ordo::training::v1::CheckpointSource& source) {
  return source.name().empty() ? source.path() : source.name();
}

}  // namespace ordo::worker::trainer
