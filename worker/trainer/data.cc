#include "worker/trainer/data.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "worker/trainer/step_meter.h"

namespace ordo::worker::trainer {

model::tasks::DataAccess DataOf(const TrainerContext& context,
                                const DataReader& reader, Progress* progress) {
  model::tasks::DataAccess access;
  access.files = &context.files;
  if (!context.storage_root.empty()) {
    access.data_folder = base::JoinPath(context.storage_root, "data");
  }
  access.data_roots = context.data_roots;
  access.store_folder = access.data_folder.empty()
                            ? base::JoinPath(context.job_folder, "data")
                            : base::JoinPath(access.data_folder, ".stores");
  access.work_folder = base::JoinPath(AttemptFolder(context, reader.attempt),
                                      absl::StrCat("data-", reader.rank));
  access.sentence_piece = context.sentence_piece;
  access.keep_going = [&context, progress, step = reader.step,
                       told = context.clock.Monotonic()]() mutable {
    if (context.stop_requested()) {
      return absl::CancelledError("stopped on request while data was read");
    }
    const absl::Duration now = context.clock.Monotonic();
    if (now - told >= StepMeter::kLongestSilence) {
      told = now;
      progress->Waiting(step);
    }
    return absl::OkStatus();
  };
  return access;
}

absl::Status AtEvaluation(const absl::Status& status, std::string_view path) {
  const std::string message(status.message());
  const bool has_field =
      message.rfind("params.", 0) == 0 || message.rfind("params:", 0) == 0;
  if (status.ok() || !has_field) return base::AddContext(status, path);
  absl::Status result(status.code(),
                      absl::StrCat(std::string(path), ".", message));
  status.ForEachPayload(
      [&result](absl::string_view type_url, const absl::Cord& data) {
        result.SetPayload(type_url, data);
      });
  return result;
}

absl::StatusOr<std::vector<std::string>> ParseDataRoots(
    const std::string& text) {
  std::vector<std::string> roots = absl::StrSplit(text, ':', absl::SkipEmpty());
  for (const std::string& root : roots) {
    if (root.front() == '/') continue;
    return base::InvalidField(
        "--data-roots",
        absl::StrCat("'", root,
                     "' must be absolute; folders have colons between them"));
  }
  return roots;
}

}  // namespace ordo::worker::trainer
