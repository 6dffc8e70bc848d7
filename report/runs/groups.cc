#include "report/runs/groups.h"

#include <algorithm>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "report/forest.h"
#include "report/json_values.h"
#include "report/statistics.h"

namespace ordo::report::runs {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sets the bounds.
absl::Status SetInterval(const Struct& json, Group* group) {
  group->low = -kInfinity;
  group->high = kInfinity;
  const Value& error = JsonField(json, "standard_error");
  if (error.kind_case() != Value::kNumberValue) return absl::OkStatus();
  const double units = JsonField(json, "units").number_value();
  const double questions = JsonField(json, "questions").number_value();
  if (units > 0) {
    if (!(units >= 2 && questions >= units && error.number_value() >= 0)) {
      return base::InvalidField(absl::StrCat("groups.", group->name),
                                "must have two units or more, as many "
                                "questions, and an error");
    }
    // A mean may be rounded past 1.
    const Share share =
        SampledInterval({std::clamp(group->score, 0.0, 1.0),
                         error.number_value(), units, questions});
    group->low = share.low;
    group->high = share.high;
  } else if (error.number_value() > 0) {
    // Results of earlier releases have no units.
    const double half = kNormal95 * error.number_value();
    group->low = group->score - half;
    group->high = group->score + half;
  }
  return absl::OkStatus();
}

// Of a result.json, whose groups are scored by its metric.
std::string ScoreOf(const Struct& result) {
  const std::string& metric = JsonField(result, "metric").string_value();
  if (metric.empty()) return "score";
  // That is a geometric mean of means, which a group has none of.
  return metric == "rouge" ? "mean of rouge1, rouge2 and rougeL" : metric;
}

}  // namespace

absl::StatusOr<Groups> ParseGroups(std::string_view json) {
  Struct result;
  ORDO_RETURN_IF_ERROR(base::ReadMessage(json, base::TextForm::kJson, &result));
  std::map<std::string, Group> by_name;
  for (const auto& [name, value] :
       JsonField(result, "groups").struct_value().fields()) {
    const Value& score = JsonField(value.struct_value(), "value");
    if (score.kind_case() != Value::kNumberValue) {
      return base::InvalidField(absl::StrCat("groups.", name, ".value"),
                                "must be a number");
    }
    Group& group = by_name[name];
    group.name = name;
    group.score = score.number_value();
    ORDO_RETURN_IF_ERROR(SetInterval(value.struct_value(), &group));
  }
  Groups groups;
  groups.score = ScoreOf(result);
  for (const auto& [name, group] : by_name) groups.rows.push_back(group);
  return groups;
}

Figure GroupPlot(const std::string& title, const Groups& groups) {
  Forest forest;
  forest.title = title;
  forest.x_label =
      absl::StrCat(groups.score, ", 95 % intervals over the questions");
  for (const Group& group : groups.rows) {
    forest.rows.push_back({group.name, group.score, group.low, group.high});
  }
  return ForestPlot(forest);
}

}  // namespace ordo::report::runs
