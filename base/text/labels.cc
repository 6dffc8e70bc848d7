#include "base/text/labels.h"

#include <algorithm>
#include <map>

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

}  // namespace

void CheckLabels(const Labels& labels, const LabelsField& field,
                 std::vector<FieldViolation>* violations) {
  if (labels.size() > static_cast<size_t>(field.max)) {
    violations->push_back(
        {field.path, absl::StrCat("has ", labels.size(), " entries; at most ",
                                  field.max, " are possible")});
    return;
  }
  const std::map<std::string, std::string> ordered(labels.begin(),
                                                   labels.end());
  for (const auto& [name, value] : ordered) {
    if (!IsName(name)) {
      violations->push_back(
          {field.path,
           absl::StrCat("name '", name.substr(0, kMaxLabelBytes),
                        "' must be 1 to ", kMaxLabelBytes,
                        " letters, digits, '-', '_', '.' and '/'")});
    } else if (!IsValue(value)) {
      violations->push_back(
          {absl::StrCat(field.path, ".", name),
           absl::StrCat("must be at most ", kMaxLabelBytes,
                        " bytes without control characters")});
    }
  }
}

}  // namespace ordo::base
