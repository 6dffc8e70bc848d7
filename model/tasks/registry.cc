#include "model/tasks/registry.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/catalog/catalog.h"
#include "model/tasks/addition.h"
#include "model/tasks/addition_grid.h"

namespace ordo::model::tasks {
namespace {

using catalog::Params;

// The parameters with their defaults, checked.
absl::StatusOr<catalog::ParamMap> Resolved(catalog::Kind kind,
                                           const std::string& name,
                                           catalog::ParamMap params) {
  std::vector<base::FieldViolation> violations;
  const catalog::Entry* entry =
      catalog::ResolveName(kind, "task", name, &violations);
  if (entry != nullptr) {
    catalog::ResolveParams(*entry, "", &params, &violations);
  }
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  return params;
}

std::unique_ptr<TrainingTask> AdditionOf(const Params& params) {
  AdditionOptions options;
  options.max_digits = static_cast<int>(params.Integer("max_digits"));
  return MakeAddition(options);
}

// `trained_on` is the resolved data of a model, or null.
std::unique_ptr<EvaluationTask> AdditionGridOf(
    const Params& params, const ordo::training::v1::Data* trained_on) {
  AdditionGridOptions options;
  options.max_digits = static_cast<int>(params.Integer("max_digits"));
  options.samples = static_cast<int>(params.Integer("samples"));
  if (trained_on != nullptr && trained_on->task() == "addition") {
    options.trained_digits =
        static_cast<int>(Params(trained_on->params()).Integer("max_digits"));
  }
  return MakeAdditionGrid(options);
}

struct TrainingRow {
  const char* name;
  std::unique_ptr<TrainingTask> (*make)(const Params& params);
};

struct EvaluationRow {
  const char* name;
  std::unique_ptr<EvaluationTask> (*make)(
      const Params& params, const ordo::training::v1::Data* trained_on);
};

constexpr TrainingRow kTrainingTasks[] = {
    {"addition", AdditionOf},
};

constexpr EvaluationRow kEvaluationTasks[] = {
    {"addition_grid", AdditionGridOf},
};

template <typename Table>
std::vector<std::string> NamesOf(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

absl::Status NotInTable(const std::string& name) {
  return absl::InternalError(
      absl::StrCat("task '", name, "' is in the catalogue but has no code"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TrainingTask>> MakeTrainingTask(
    const ordo::training::v1::Data& data) {
  ORDO_ASSIGN_OR_RETURN(
      const catalog::ParamMap params,
      Resolved(catalog::Kind::kTrainingTask, data.task(), data.params()));
  for (const TrainingRow& row : kTrainingTasks) {
    if (data.task() == row.name) return row.make(Params(params));
  }
  return NotInTable(data.task());
}

absl::StatusOr<std::unique_ptr<EvaluationTask>> MakeEvaluationTask(
    const ordo::training::v1::Evaluation& evaluation,
    const ordo::training::v1::Data* trained_on) {
  ORDO_ASSIGN_OR_RETURN(const catalog::ParamMap params,
                        Resolved(catalog::Kind::kEvaluationTask,
                                 evaluation.task(), evaluation.params()));
  ordo::training::v1::Data resolved;
  if (trained_on != nullptr) {
    resolved = *trained_on;
    ORDO_ASSIGN_OR_RETURN(*resolved.mutable_params(),
                          Resolved(catalog::Kind::kTrainingTask,
                                   resolved.task(), resolved.params()));
  }
  for (const EvaluationRow& row : kEvaluationTasks) {
    if (evaluation.task() != row.name) continue;
    return row.make(Params(params),
                    trained_on == nullptr ? nullptr : &resolved);
  }
  return NotInTable(evaluation.task());
}

std::vector<std::string> TrainingTaskNames() { return NamesOf(kTrainingTasks); }

std::vector<std::string> EvaluationTaskNames() {
  return NamesOf(kEvaluationTasks);
}

}  // namespace ordo::model::tasks
