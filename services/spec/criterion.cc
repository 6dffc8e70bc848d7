#include "services/spec/criterion.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/nearest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/fields.h"
#include "model/catalog/metric_names.h"

namespace ordo::services::spec {
namespace {

using google::protobuf::Message;
using Violations = std::vector<base::FieldViolation>;

// Names of scores have no more.
constexpr size_t kMaxMetricLength = 255;

std::string Text(const Message& message, const std::string& name) {
  const auto* field = message.GetDescriptor()->FindFieldByName(name);
  return message.GetReflection()->GetString(message, field);
}

}  // namespace

void CheckChoice(const Choice& choice, Violations* violations) {
  const auto& [field, value, choices] = choice;
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  const std::string problem =
      value.empty()
          ? absl::StrCat("required; one of ", absl::StrJoin(choices, ", "))
          : absl::StrCat("'", value, "' is not known",
                         base::SuggestName(value, choices));
  violations->push_back({field, problem});
}

void CheckCriterion(const std::string& path, const Message& message,
                    Violations* violations) {
  const std::string metric = Text(message, "metric");
  if (metric.empty() || metric.size() > kMaxMetricLength) {
    violations->push_back(
        {model::catalog::FieldPath(path, "metric"),
         absl::StrCat("required; a score of the evaluation, such as score or "
                      "perplexity, of at most ",
                      kMaxMetricLength, " bytes")});
  }
  CheckChoice({model::catalog::FieldPath(path, "goal"),
               Text(message, "goal"),
               {"max", "min"}},
              violations);
}

void CheckMetric(const MetricField& named,
                 const ordo::training::v1::Evaluation& evaluation,
                 const ordo::training::v1::Data& trained_on,
                 Violations* violations) {
  const auto* task = model::catalog::Find(model::catalog::Kind::kEvaluationTask,
                                          evaluation.task());
  if (task == nullptr) return;
  const std::vector<std::string> names =
      model::catalog::MetricNames(*task, evaluation.params(), &trained_on);
  if (model::catalog::IsMetricName(names, named.metric)) return;
  violations->push_back(
      {named.field, absl::StrCat("the evaluation '", evaluation.name(), "' of ",
                                 task->name, " has no score '", named.metric,
                                 "'", base::SuggestName(named.metric, names))});
}

}  // namespace ordo::services::spec
