#include "report/runs/losses.h"

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "report/json_values.h"

namespace ordo::report::runs {

using google::protobuf::Struct;
using google::protobuf::Value;

void AddLosses(const std::string& jsonl, std::map<int64_t, double>* losses) {
  bool is_first = true;
  for (const absl::string_view line :
       absl::StrSplit(jsonl, '\n', absl::SkipEmpty())) {
    Struct json;
    if (!base::ReadMessage(std::string(line), base::TextForm::kJson, &json)
             .ok()) {
      continue;
    }
    const Value& step = JsonField(json, "step");
    const Value& loss = JsonField(json, "loss");
    if (step.kind_case() != Value::kNumberValue ||
        loss.kind_case() != Value::kNumberValue) {
      continue;
    }
    const auto number = static_cast<int64_t>(step.number_value());
    if (is_first) losses->erase(losses->lower_bound(number), losses->end());
    is_first = false;
    (*losses)[number] = loss.number_value();
  }
}

}  // namespace ordo::report::runs
