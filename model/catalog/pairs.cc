#include "model/catalog/pairs.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "model/catalog/catalog.h"

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;
using Violations = std::vector<base::FieldViolation>;

// `together` has the names of all that has been looked at and acts together
// with this one.
void Walk(const std::string& path, const Component& component,
          std::vector<std::string>* together, Violations* violations) {
  const bool separates =
      Find(Kind::kEncoding, component.name())->encoding.separates;
  if (!separates) {
    if (together->size() == 2) {
      violations->push_back(
          {absl::StrCat(path, ".name"),
           absl::StrCat(component.name(), " cannot be combined with '",
                        together->front(), "' and '", together->back(),
                        "': two act together at most; leave out one of them")});
      return;
    }
    together->push_back(component.name());
  }
  for (int i = 0; i < component.with_size(); ++i) {
    const std::string below = absl::StrCat(path, ".with[", i, "]");
    std::vector<std::string> alone;
    Walk(below, component.with(i), separates ? &alone : together, violations);
  }
}

}  // namespace

void CheckPairs(std::string_view field, const Component& encoding,
                Violations* violations) {
  std::vector<std::string> together;
  Walk(std::string(field), encoding, &together, violations);
}

}  // namespace ordo::model::catalog
