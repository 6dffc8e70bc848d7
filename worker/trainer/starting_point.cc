#include "worker/trainer/starting_point.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/training/checkpoint.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ordo::model::training::Checkpoint;
using ordo::model::training::Environment;
using ordo::model::training::Run;
using ordo::training::v1::CheckpointSource;

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

// Loads one checkpoint; the run is as it was after an error.
absl::Status Load(const TrainerContext& context, const CheckpointSource& source,
                  const Environment& environment, Run* run,
                  StartingPoint* point) {
  ORDO_ASSIGN_OR_RETURN(const std::string folder,
                        FolderOfSource(context, source));
  ORDO_ASSIGN_OR_RETURN(const Checkpoint checkpoint,
                        ordo::model::training::ReadCheckpoint(
                            context.files, folder, source.manifest_sha256()));
  if (checkpoint.snapshot.cursors.step > run->spec().training().steps()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "it is at step ", checkpoint.snapshot.cursors.step,
        " and training.steps is ", run->spec().training().steps()));
  }
  ORDO_RETURN_IF_ERROR(run->Load(checkpoint.snapshot));
  point->resumed_from = NameOfSource(source);
  point->state_digest = ordo::model::training::StateDigest(run->State());
  const std::vector<std::string> differences =
      ordo::model::training::Differences(checkpoint.environment, environment);
  point->exact = checkpoint.exact && differences.empty();
  if (!differences.empty()) {
    point->warnings.push_back(
        absl::StrCat("the resume from ", point->resumed_from,
                     " is not bit-exact: ", absl::StrJoin(differences, "; ")));
  } else if (!checkpoint.exact) {
    point->warnings.push_back(absl::StrCat("an earlier resume before ",
                                           point->resumed_from,
                                           " was not bit-exact"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StartingPoint> LoadStartingPoint(const TrainerContext& context,
                                                const Environment& environment,
                                                Run* run) {
  StartingPoint point;
  const auto& spec = run->spec();
  for (const CheckpointSource& source : spec.resume()) {
    const absl::Status status = Load(context, source, environment, run, &point);
    if (status.ok()) {
      point.own_checkpoint = base::NameOf(source.path());
      return point;
    }
    point.warnings.push_back(
        absl::StrCat("checkpoint ", NameOfSource(source),
                     " was passed over: ", MessageOf(status)));
  }
  if (spec.has_start()) {
    ORDO_RETURN_IF_ERROR(WithExitCode(
        base::AddContext(
            Load(context, spec.start(), environment, run, &point),
            absl::StrCat("start from checkpoint ", NameOfSource(spec.start()))),
        ordo::training::v1::CHECKPOINT_DAMAGED));
  } else {
    point.state_digest = ordo::model::training::StateDigest(run->State());
  }
  if (!spec.resume().empty()) {
    point.warnings.push_back(absl::StrCat(
        "no checkpoint of this job could be loaded: starting over at step ",
        run->cursors().step));
  }
  return point;
}

}  // namespace ordo::worker::trainer
