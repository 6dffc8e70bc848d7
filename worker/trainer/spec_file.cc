#include "worker/trainer/spec_file.h"

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "base/yaml/limits.h"
#include "base/yaml/text_form.h"
#include "model/catalog/resolve.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

absl::Status Read(base::Filesystem& files, const std::string& path,
                  google::protobuf::Message* message) {
  const auto read = [&]() -> absl::Status {
    ORDO_ASSIGN_OR_RETURN(const base::TextForm form,
                          base::TextFormOfFile(path));
    ORDO_ASSIGN_OR_RETURN(const std::string text,
                          base::ReadFile(files, path, base::kMaxTextBytes));
    return base::ReadMessage(text, form, message);
  };
  return WithExitCode(
      base::AddContext(read(), absl::StrCat("read task ", path)),
      ordo::training::v1::BAD_SPEC);
}

}  // namespace

absl::StatusOr<ordo::training::v1::TrainSpec> ReadTrainSpec(
    base::Filesystem& files, const std::string& path) {
  ordo::training::v1::TrainSpec spec;
  ORDO_RETURN_IF_ERROR(Read(files, path, &spec));
  return base::AddContext(model::catalog::ResolveTrainSpec(spec),
                          absl::StrCat("check task ", path));
}

absl::StatusOr<ordo::training::v1::EvaluateSpec> ReadEvaluateSpec(
    base::Filesystem& files, const std::string& path) {
  ordo::training::v1::EvaluateSpec spec;
  ORDO_RETURN_IF_ERROR(Read(files, path, &spec));
  return base::AddContext(model::catalog::ResolveEvaluateSpec(spec),
                          absl::StrCat("check task ", path));
}

}  // namespace ordo::worker::trainer
