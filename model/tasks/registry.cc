#include "model/tasks/registry.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/text/nearest.h"
#include "google/protobuf/map.h"
#include "google/protobuf/struct.pb.h"
#include "model/tasks/addition.h"
#include "model/tasks/addition_grid.h"

namespace ordo::model::tasks {
namespace {

using Params = google::protobuf::Map<std::string, google::protobuf::Value>;

int IntParam(const Params& params, const std::string& name, int fallback) {
  const auto found = params.find(name);
  if (found == params.end()) return fallback;
  return static_cast<int>(found->second.number_value());
}

std::unique_ptr<TrainingTask> AdditionOf(const Params& params) {
  AdditionOptions options;
  options.max_digits = IntParam(params, "max_digits", options.max_digits);
  return MakeAddition(options);
}

std::unique_ptr<EvaluationTask> AdditionGridOf(
    const Params& params, const training::v1::Data* trained_on) {
  AdditionGridOptions options;
  options.max_digits = IntParam(params, "max_digits", options.max_digits);
  options.samples = IntParam(params, "samples", options.samples);
  if (trained_on != nullptr && trained_on->task() == "addition") {
    options.trained_digits = IntParam(trained_on->params(), "max_digits",
                                      AdditionOptions().max_digits);
  }
  return MakeAdditionGrid(options);
}

struct TrainingRow {
  const char* name;
  std::unique_ptr<TrainingTask> (*make)(const Params& params);
};

struct EvaluationRow {
  const char* name;
  std::unique_ptr<EvaluationTask> (*make)(const Params& params,
                                          const training::v1::Data* trained_on);
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

absl::Status NoSuchTask(const std::string& name,
                        const std::vector<std::string>& names) {
  return absl::NotFoundError(absl::StrCat("there is no task '", name, "'",
                                          base::SuggestName(name, names)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TrainingTask>> MakeTrainingTask(
    const training::v1::Data& data) {
  for (const TrainingRow& row : kTrainingTasks) {
    if (data.task() == row.name) return row.make(data.params());
  }
  return NoSuchTask(data.task(), TrainingTaskNames());
}

absl::StatusOr<std::unique_ptr<EvaluationTask>> MakeEvaluationTask(
    const training::v1::Evaluation& evaluation,
    const training::v1::Data* trained_on) {
  for (const EvaluationRow& row : kEvaluationTasks) {
    if (evaluation.task() == row.name) {
      return row.make(evaluation.params(), trained_on);
    }
  }
  return NoSuchTask(evaluation.task(), EvaluationTaskNames());
}

std::vector<std::string> TrainingTaskNames() { return NamesOf(kTrainingTasks); }

std::vector<std::string> EvaluationTaskNames() {
  return NamesOf(kEvaluationTasks);
}

}  // namespace ordo::model::tasks
