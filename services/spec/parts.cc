#include "services/spec/parts.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/yaml/field_path.h"

namespace ordo::services::spec {
namespace {

using base::FieldViolation;
using Violations = std::vector<FieldViolation>;

constexpr size_t kMaxNamed = 3;

}  // namespace

std::string OwnSourceOf(const Part& part, const std::string& field) {
  const std::pair<const std::string, std::string>* best = nullptr;
  for (const auto& source : part.sources) {
    if (!base::IsPartOf(field, source.first)) continue;
    if (best == nullptr || source.first.size() > best->first.size()) {
      best = &source;
    }
  }
  if (best != nullptr) return best->second + field.substr(best->first.size());
  // What was given of it.
  for (const auto& [here, there] : part.sources) {
    if (base::IsPartOf(here, field)) return there;
  }
  return "";
}

std::string SourceOf(const Part& part, const std::string& field) {
  std::string own = OwnSourceOf(part, field);
  if (!own.empty()) return own;
  return field.empty() ? part.origin : absl::StrCat(part.origin, ".", field);
}

void PartViolations::Add(const Part& part, const Violations& violations) {
  for (const FieldViolation& violation : violations) {
    Entry entry;
    entry.violation = {SourceOf(part, violation.field), violation.description};
    entry.of_template =
        part.shares_origin && OwnSourceOf(part, violation.field).empty();
    const auto [place, added] = places_.emplace(
        std::make_pair(entry.violation.field, violation.description),
        entries_.size());
    if (added) entries_.push_back(std::move(entry));
    entries_[place->second].labels.insert(part.label);
  }
}

void PartViolations::MoveTo(const std::vector<Part>& parts,
                            Violations* violations) {
  std::set<std::string> labels;
  for (const Part& part : parts) labels.insert(part.label);
  for (Entry& entry : entries_) {
    std::string& description = entry.violation.description;
    if (entry.of_template && entry.labels.size() < labels.size()) {
      const size_t num_named = std::min(kMaxNamed, entry.labels.size());
      const auto end = std::next(entry.labels.begin(),
                                 static_cast<std::ptrdiff_t>(num_named));
      absl::StrAppend(&description, " (in ",
                      absl::StrJoin(entry.labels.begin(), end, "; "));
      if (num_named < entry.labels.size()) {
        absl::StrAppend(&description, " and ", entry.labels.size() - num_named,
                        " more");
      }
      description += ")";
    }
    if (std::find(violations->begin(), violations->end(), entry.violation) ==
        violations->end()) {
      violations->push_back(std::move(entry.violation));
    }
  }
  entries_.clear();
  places_.clear();
}

}  // namespace ordo::services::spec
