#ifndef ORDO_REPORT_RUNS_GROUPS_H_
#define ORDO_REPORT_RUNS_GROUPS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "report/figure.h"

namespace ordo::report::runs {

// What an evaluation scored on the questions of one group, such as a subject.
struct Group {
  std::string name;
  double score = 0;
  // At 95 %, over another draw of the questions: Wilson's. Infinite where they
  // say nothing of it: a single unit, or all alike and nobody knows how many.
  double low = 0;
  double high = 0;
};

struct Groups {
  // What they were scored by, for people: "acc".
  std::string score;
  // By name.
  std::vector<Group> rows;
};

// Reads the `groups` and the `metric` of an evaluation's result.json; no rows
// where it has none. INVALID_ARGUMENT names the group whose value is no number,
// or of which there are fewer questions than units.
absl::StatusOr<Groups> ParseGroups(std::string_view json);

// The scores with 95 % intervals, one below the other. REQUIRES: a group.
Figure GroupPlot(const std::string& title, const Groups& groups);

}  // namespace ordo::report::runs

#endif  // ORDO_REPORT_RUNS_GROUPS_H_
