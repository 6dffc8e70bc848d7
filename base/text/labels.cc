#include "base/text/labels.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace ordo::base {
namespace {

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kMaxLabelBytes &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.' ||
                  c == '/';
         });
}

bool IsValue(const std::string& value) {
  return value.size() <= kMaxLabelBytes &&
         std::none_of(value.begin(), value.end(),
                      [](unsigned char c) { return absl::ascii_iscntrl(c); });
}

// What is wrong with a label of the field; nothing: nullopt.
std::optional<FieldViolation> Judge(const std::string& path,
                                    const std::string& name,
                                    const std::string& value) {
  if (!IsName(name)) {
    return FieldViolation{
        path, absl::StrCat("name '", name.substr(0, kMaxLabelBytes),
                           "' must be 1 to ", kMaxLabelBytes,
                           " letters, digits, '-', '_', '.' and '/'")};
  }
  if (IsValue(value)) return std::nullopt;
  return FieldViolation{absl::StrCat(path, ".", name),
                        absl::StrCat("must be at most ", kMaxLabelBytes,
                                     " bytes without control characters")};
}

}  // namespace

void CheckLabels(const Labels& labels, const LabelsField& field,
                 std::vector<FieldViolation>* violations) {
  if (labels.size() > static_cast<size_t>(field.max)) {
    violations->push_back(
        {field.path, absl::StrCat("has ", labels.size(), " entries; at most ",
                                  field.max, " are possible")});
    return;
  }
  Labels good = labels;
  for (FieldViolation& each : TakeOutBadLabels(field.path, &good)) {
    violations->push_back(std::move(each));
  }
}

std::vector<FieldViolation> TakeOutBadLabels(const std::string& path,
                                             Labels* labels) {
  const std::map<std::string, std::string> ordered(labels->begin(),
                                                   labels->end());
  std::vector<FieldViolation> violations;
  for (const auto& [name, value] : ordered) {
    auto violation = Judge(path, name, value);
    if (!violation.has_value()) continue;
    violations.push_back(*std::move(violation));
    labels->erase(name);
  }
  return violations;
}

}  // namespace ordo::base
