#include "worker/trainer/control.h"

#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/training/durable_folder.h"

namespace ordo::worker::trainer {

absl::Status WriteInitialValues(
    const TrainerContext& context, int attempt,
    const ordo::model::training::InitialValues& values) {
  if (values.empty()) return absl::OkStatus();
  return base::AddContext(
      ordo::model::training::WriteDurably(
          context.files,
          base::JoinPath(AttemptFolder(context, attempt), kInitialFile),
          ordo::model::training::ToJson(values).dump(2) + "\n"),
      "write the digests of the initial values");
}

}  // namespace ordo::worker::trainer
