#include "report/gate/testing/comparisons.h"

#include "absl/strings/str_cat.h"

namespace ordo::report::gate::testing {

Comparison Answers(const std::string& task, const Counts& counts) {
  Comparison comparison;
  comparison.task = task;
  for (int i = 0; i < counts.items; ++i) {
    const bool better = i < counts.better;
    const bool worse = !better && i < counts.better + counts.worse;
    comparison.items.push_back(
        {absl::StrCat("i", i), "", better ? 0.0 : 1.0, worse ? 0.0 : 1.0});
  }
  return comparison;
}

Options Margin(double margin) {
  Options options;
  options.margin = margin;
  return options;
}

}  // namespace ordo::report::gate::testing
