#include "worker/trainer/starting_point.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "model/guard.h"
#include "model/training/base_weights.h"
#include "model/training/checkpoint.h"
#include "model/training/model_config.h"
#include "model/training/recipe.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ordo::model::training::Checkpoint;
using ordo::model::training::Environment;
using ordo::model::training::Run;
using ordo::model::training::Snapshot;
using ordo::training::v1::CheckpointSource;
using ordo::training::v1::TrainSpec;

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

// Reads and verifies a checkpoint that this run can go on from.
absl::StatusOr<Checkpoint> Read(const TrainerContext& context,
                                const CheckpointSource& source,
                                const TrainSpec& spec) {
  ORDO_ASSIGN_OR_RETURN(const std::string folder,
                        FolderOfSource(context, source));
  ORDO_ASSIGN_OR_RETURN(Checkpoint checkpoint,
                        ordo::model::training::ReadCheckpoint(
                            context.files, folder, source.manifest_sha256()));
  if (checkpoint.snapshot.cursors.step > spec.training().steps()) {
    return absl::FailedPreconditionError(
        absl::StrCat("it is at step ", checkpoint.snapshot.cursors.step,
                     " and training.steps is ", spec.training().steps()));
  }
  return checkpoint;
}

// A run's own checkpoint belongs to the same recipe: else what follows would be
// neither run.
absl::Status CheckRecipe(const TrainSpec& before, const TrainSpec& now) {
  const std::vector<std::string> differences =
      ordo::model::training::RecipeDifferences(before, now);
  if (differences.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      absl::StrJoin(differences, "; "),
      "; to go on under another recipe, name the checkpoint as `start` of a "
      "new run"));
}

// Rows of other data would not be those that the run has not had yet.
absl::Status CheckData(const Checkpoint& checkpoint, const Run& run) {
  const std::string& before = checkpoint.snapshot.data_fingerprint;
  const std::string now = run.task().data_fingerprint();
  if (before == now) return absl::OkStatus();
  return WithExitCode(
      absl::FailedPreconditionError(absl::StrCat(
          "the data has changed since the checkpoint was written: its "
          "fingerprint was ",
          before.empty() ? "none" : before, " and is ",
          now.empty() ? "none" : now,
          "; bring back what the data folders held, or name the checkpoint as "
          "`start` of a new run")),
      ordo::training::v1::DATA_MISSING);
}

// Brings the run to the checkpoint. After DATA_LOSS its state is not to be
// used.
absl::Status TakeOver(const Checkpoint& checkpoint, Run* run) {
  ORDO_RETURN_IF_ERROR(run->Load(checkpoint.snapshot));
  // What now runs, not what was read.
  Snapshot loaded = run->State();
  loaded.recipe = checkpoint.snapshot.recipe;
  loaded.data_fingerprint = checkpoint.snapshot.data_fingerprint;
  if (ordo::model::training::StateDigest(loaded) != checkpoint.state_digest) {
    return absl::DataLossError(
        "the state that was loaded has another digest than the one recorded");
  }
  return absl::OkStatus();
}

// Begins with the weights of spec.base.
absl::Status TakeBase(const TrainerContext& context, const Run& run) {
  const CheckpointSource& source = run.spec().base();
  ORDO_ASSIGN_OR_RETURN(const std::string folder,
                        FolderOfSource(context, source));
  auto loaded = ordo::model::training::LoadModel(context.files, folder,
                                                 source.manifest_sha256());
  if (!loaded.ok()) {
    return WithExitCode(loaded.status(),
                        ordo::training::v1::CHECKPOINT_DAMAGED);
  }
  ORDO_ASSIGN_OR_RETURN(const auto taken, model::Guard("take weights", [&] {
                          return ordo::model::training::TakeWeights(
                              &*loaded, run.model());
                        }));
  base::LogInfo("weights taken", {{"from", NameOfSource(source)},
                                  {"fresh", absl::StrJoin(taken.fresh, " ")},
                                  {"left", absl::StrJoin(taken.left, " ")}});
  return absl::OkStatus();
}

// Says from which checkpoint the run goes on, and how exactly.
void Describe(const Checkpoint& checkpoint, const std::string& name,
              const Environment& environment, StartingPoint* point) {
  point->resumed_from = name;
  point->state_digest = checkpoint.state_digest;
  const std::vector<std::string> differences =
      ordo::model::training::Differences(checkpoint.environment, environment);
  point->exact = checkpoint.exact && differences.empty();
  if (!differences.empty()) {
    point->warnings.push_back(
        absl::StrCat("the resume from ", name,
                     " is not bit-exact: ", absl::StrJoin(differences, "; ")));
  } else if (!checkpoint.exact) {
    point->warnings.push_back(
        absl::StrCat("an earlier resume before ", name, " was not bit-exact"));
  }
}

}  // namespace

absl::StatusOr<StartingPoint> LoadStartingPoint(const TrainerContext& context,
                                                const Environment& environment,
                                                Run* run) {
  StartingPoint point;
  const TrainSpec& spec = run->spec();
  const auto load = [&](const CheckpointSource& source, bool own) {
    return model::Guard("load the checkpoint", [&]() -> absl::Status {
      ORDO_ASSIGN_OR_RETURN(const Checkpoint checkpoint,
                            Read(context, source, spec));
      if (own) {
        ORDO_RETURN_IF_ERROR(CheckRecipe(checkpoint.spec, spec));
        ORDO_RETURN_IF_ERROR(CheckData(checkpoint, *run));
      }
      ORDO_RETURN_IF_ERROR(TakeOver(checkpoint, run));
      Describe(checkpoint, NameOfSource(source), environment, &point);
      point.own_exact = point.exact || !own;
      point.initial = own ? checkpoint.initial
                          : ordo::model::training::DigestValues(run->model());
      return absl::OkStatus();
    });
  };
  for (const CheckpointSource& source : spec.resume()) {
    const absl::Status status = load(source, /*own=*/true);
    if (status.ok()) {
      point.own_checkpoint = base::NameOf(source.path());
      return point;
    }
    // No other checkpoint would be better, and a start over no less wrong.
    if (ExitCodeOf(status) == ordo::training::v1::DATA_MISSING) {
      return base::AddContext(
          status, absl::StrCat("resume from ", NameOfSource(source)));
    }
    point.passed_over.push_back(base::NameOf(source.path()));
    point.warnings.push_back(
        absl::StrCat("checkpoint ", NameOfSource(source),
                     " was passed over: ", MessageOf(status)));
  }
  if (!spec.resume().empty() && !context.may_start_over) {
    return WithExitCode(absl::DataLossError(absl::StrCat(
                            "no checkpoint could be resumed from: ",
                            absl::StrJoin(point.warnings, "; "),
                            "; give another --out folder to start over")),
                        ordo::training::v1::CHECKPOINT_DAMAGED);
  }
  if (spec.has_start()) {
    ORDO_RETURN_IF_ERROR(WithExitCode(
        base::AddContext(
            load(spec.start(), /*own=*/false),
            absl::StrCat("start from checkpoint ", NameOfSource(spec.start()))),
        ordo::training::v1::CHECKPOINT_DAMAGED));
  } else if (run->cursors().step != 0) {
    // Loaded and then found wrong: memory cannot be trusted.
    return absl::DataLossError(point.warnings.back());
  } else {
    if (spec.has_base()) {
      ORDO_RETURN_IF_ERROR(
          base::AddContext(TakeBase(context, *run),
                           absl::StrCat("take the weights of checkpoint ",
                                        NameOfSource(spec.base()))));
    }
    ORDO_RETURN_IF_ERROR(model::Guard("digest the initial state", [&] {
      point.initial = ordo::model::training::DigestValues(run->model());
      point.state_digest = ordo::model::training::StateDigest(run->State());
    }));
  }
  if (!spec.resume().empty()) {
    point.warnings.push_back(absl::StrCat(
        "no checkpoint of this job could be loaded: starting over at step ",
        run->cursors().step));
  }
  return point;
}

}  // namespace ordo::worker::trainer
