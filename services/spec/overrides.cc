#include "services/spec/overrides.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/yaml/field_path.h"
#include "base/yaml/text_form.h"

namespace ordo::services::spec {
namespace {

using google::protobuf::Value;
using ordo::jobs::v1::JobSpec;
using Violations = std::vector<base::FieldViolation>;

// From here on not every whole number is one of its own.
constexpr double kFirstInexact = 9007199254740992;  // 2^53
constexpr size_t kMaxShown = 120;

bool HasInexact(const Value& value) {
  if (value.has_number_value()) {
    return std::abs(value.number_value()) >= kFirstInexact;
  }
  if (value.has_list_value()) {
    const auto& items = value.list_value().values();
    return std::any_of(items.begin(), items.end(), HasInexact);
  }
  const auto& fields = value.struct_value().fields();
  return std::any_of(fields.begin(), fields.end(), [](const auto& field) {
    return HasInexact(field.second);
  });
}

}  // namespace

void CheckOverridePath(const std::string& path, Violations* violations) {
  // What makes a spec the part that it is.
  constexpr std::array<std::string_view, 9> kFixed = {
      "name",    "kind",     "needs",    "hold",    "sweep",
      "compare", "pipeline", "tuned_by", "paced_by"};
  for (const std::string_view fixed : kFixed) {
    if (!base::IsPartOf(path, fixed)) continue;
    violations->push_back(
        {path, "is no field that single runs may differ in; leave it out"});
    return;
  }
  const absl::Status known = base::CheckFieldPath(path, *JobSpec::descriptor());
  for (const auto& wrong : base::FieldViolations(known)) {
    violations->push_back({path, wrong.description});
  }
}

void ApplyOverrides(const ValuesByPath& values, JobSpec* spec,
                    Violations* violations) {
  for (const auto& [path, value] : values) {
    const size_t num_wrong = violations->size();
    CheckOverridePath(path, violations);
    if (violations->size() > num_wrong) continue;
    if (HasInexact(*value)) {
      violations->push_back(
          {path,
           "has a number of 2^53 or more, which is not exact; write it in "
           "quotes"});
      continue;
    }
    for (auto& wrong :
         base::FieldViolations(base::SetField(path, *value, spec))) {
      violations->push_back(std::move(wrong));
    }
  }
}

std::string ValueText(const Value& value) {
  std::string text = value.has_string_value()
                         ? value.string_value()
                         : base::WriteMessage(value, base::TextForm::kJson);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.size() <= kMaxShown) return text;
  size_t end = kMaxShown;
  // Not within a character of UTF-8.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return absl::StrCat(text.substr(0, end), "...");
}

}  // namespace ordo::services::spec
