#include "scheduler/core/scores.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ordo::scheduler::core {
namespace {

std::string ReportIdOf(const Criterion& by, int64_t step) {
  return absl::StrCat(by.evaluation, "-", step);
}

}  // namespace

std::optional<double> ScoreAt(const JobEntry& entry, const Criterion& by,
                              int64_t step) {
  const auto report = entry.reports.find(ReportIdOf(by, step));
  if (report == entry.reports.end()) return std::nullopt;
  const auto& metrics = report->second->metrics();
  const auto score = metrics.find(by.metric);
  if (score == metrics.end()) return std::nullopt;
  return score->second;
}

int64_t NewestStep(const JobEntry& entry, const Criterion& by) {
  int64_t newest = 0;
  const std::string head = by.evaluation + "-";
  for (auto it = entry.reports.lower_bound(head);
       it != entry.reports.end() && absl::StartsWith(it->first, head); ++it) {
    const int64_t step = it->second->step();
    // Another evaluation's name may begin like this one's.
    if (it->first == ReportIdOf(by, step)) newest = std::max(newest, step);
  }
  return newest;
}

std::string ScoreNames(const JobEntry& entry, const Criterion& by,
                       int64_t step) {
  const auto report = entry.reports.find(ReportIdOf(by, step));
  if (report == entry.reports.end()) return "";
  std::set<std::string> names;
  for (const auto& [name, score] : report->second->metrics()) {
    names.insert(name);
  }
  return absl::StrJoin(names, ", ");
}

bool IsBetter(const Criterion& by, double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) {
    return std::isfinite(a) && !std::isfinite(b);
  }
  return by.maximize ? a > b : a < b;
}

}  // namespace ordo::scheduler::core
