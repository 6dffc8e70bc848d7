#include "report/runs/groups.h"

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

using google::protobuf::Struct;
using google::protobuf::Value;

absl::StatusOr<std::vector<Group>> ParseGroups(std::string_view json) {
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
    const Value& error = JsonField(value.struct_value(), "standard_error");
    by_name[name] = {name, score.number_value(),
                     error.kind_case() == Value::kNumberValue
                         ? error.number_value()
                         : std::numeric_limits<double>::infinity()};
  }
  std::vector<Group> groups;
  for (const auto& [name, group] : by_name) groups.push_back(group);
  return groups;
}

Figure GroupPlot(const std::string& title, const std::vector<Group>& groups) {
  Forest forest;
  forest.title = title;
  forest.x_label = "score, 95 % intervals over the questions";
  for (const Group& group : groups) {
    const double half = kNormal95 * group.standard_error;
    forest.rows.push_back(
        {group.name, group.score, group.score - half, group.score + half});
  }
  return ForestPlot(forest);
}

}  // namespace ordo::report::runs
