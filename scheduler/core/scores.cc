#include "scheduler/core/scores.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/catalog/headline.h"

namespace ordo::scheduler::core {
namespace {

std::string ReportIdOf(const Criterion& by, int64_t step) {
  return absl::StrCat(by.evaluation, "-", step);
}

// Checkpoints by their full names that an evaluation found something of, best
// first.
std::vector<std::string> RankedBy(const std::string& evaluation,
                                  const JobEntry& entry) {
  std::vector<const reports::v1::Report*> reports;
  std::vector<model::catalog::HeadlineResult> results;
  const std::string head = evaluation + "-";
  for (auto it = entry.reports.lower_bound(head);
       it != entry.reports.end() && absl::StartsWith(it->first, head); ++it) {
    const reports::v1::Report& report = *it->second;
    // Another evaluation's name may begin like this one's.
    if (it->first != absl::StrCat(head, report.step())) continue;
    if (report.checkpoint().empty()) continue;
    reports.push_back(&report);
    results.push_back({report.step(), &report.metrics()});
  }
  std::vector<std::string> ranked;
  for (const size_t place : model::catalog::RankByHeadline(results)) {
    ranked.push_back(reports[place]->checkpoint());
  }
  return ranked;
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

CheckpointPtr BestCheckpoint(const JobEntry& entry) {
  for (const std::string& one : entry.job->facts->demand().evaluations) {
    const std::vector<std::string> ranked = RankedBy(one, entry);
    for (const std::string& name : ranked) {
      const auto found = std::find_if(
          entry.checkpoints.begin(), entry.checkpoints.end(),
          [&name](const auto& each) { return each.second->name() == name; });
      if (found != entry.checkpoints.end() &&
          found->second->state() == checkpoints::v1::Checkpoint::AVAILABLE) {
        return found->second;
      }
    }
    if (!ranked.empty()) return nullptr;
  }
  return nullptr;
}

bool IsBetter(const Criterion& by, double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) {
    return std::isfinite(a) && !std::isfinite(b);
  }
  return by.maximize ? a > b : a < b;
}

}  // namespace ordo::scheduler::core
