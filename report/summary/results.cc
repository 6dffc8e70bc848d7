#include "report/summary/results.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/status/status.h"

namespace ordo::report::summary {
namespace {

using ordo::training::v1::PartResult;

// What a gate's report says of its verdict, as report/gate/summary.h names it.
constexpr char kPassed[] = "passed";
constexpr char kFailed[] = "failed";
constexpr char kNumComparisons[] = "num_comparisons";
// Begins the message of a gate that decided.
constexpr char kVerdict[] = "Verdict: ";

// The newest step that each evaluation of a part was made at.
std::map<std::string, int64_t> LastSteps(const PartResult& part) {
  std::map<std::string, int64_t> steps;
  for (const PartResult::Report& report : part.reports()) {
    int64_t& step = steps.emplace(report.evaluation(), 0).first->second;
    step = std::max<int64_t>(step, report.step());
  }
  return steps;
}

// The checkpoints that a part evaluated: none where it trained.
std::set<std::string> ForeignCheckpoints(const PartResult& part) {
  const std::string own = absl::StrCat("jobs/", part.job(), "/");
  std::set<std::string> foreign;
  for (const PartResult::Report& report : part.reports()) {
    const std::string& name = report.checkpoint();
    if (!name.empty() && name.compare(0, own.size(), own) != 0) {
      foreign.insert(name);
    }
  }
  return foreign;
}

std::map<MetricKey, Scored> ScoresOf(const PartResult& part,
                                     const Spreads& spreads) {
  std::map<MetricKey, Scored> scores;
  for (const CountedReport& counted : CountedReports(part)) {
    for (const auto& [name, value] : counted.report->metrics()) {
      scores[{counted.evaluation, name}] = {
          value, counted.report->step(),
          SpreadOf(*counted.report, name, spreads)};
    }
  }
  return scores;
}

}  // namespace

bool operator==(const MetricKey& a, const MetricKey& b) {
  return a.evaluation == b.evaluation && a.metric == b.metric;
}

bool operator<(const MetricKey& a, const MetricKey& b) {
  if (a.evaluation != b.evaluation) return a.evaluation < b.evaluation;
  return StandsBefore(a.metric, b.metric);
}

std::string Title(const MetricKey& key) {
  return absl::StrCat(key.evaluation, ": ", key.metric);
}

std::optional<Spread> SpreadOf(const PartResult::Report& report,
                               const std::string& metric,
                               const Spreads& spreads) {
  const auto of_report = spreads.find(report.path());
  if (of_report == spreads.end()) return std::nullopt;
  const auto spread = of_report->second.find(metric);
  if (spread == of_report->second.end()) return std::nullopt;
  return spread->second;
}

std::vector<CountedReport> CountedReports(const PartResult& part) {
  const std::set<std::string> foreign = ForeignCheckpoints(part);
  const std::map<std::string, int64_t> last = LastSteps(part);
  std::vector<CountedReport> counted;
  for (const PartResult::Report& report : part.reports()) {
    std::string evaluation = report.evaluation();
    if (foreign.size() > 1) {
      absl::StrAppend(&evaluation, " of ", report.checkpoint());
    } else if (report.step() < last.at(evaluation)) {
      continue;
    }
    counted.push_back({std::move(evaluation), &report});
  }
  return counted;
}

absl::StatusOr<std::map<std::string, Spread>> ParseSpreads(
    std::string_view json) {
  ORDO_ASSIGN_OR_RETURN(const auto errors, ParseStandardErrors(json));
  ORDO_ASSIGN_OR_RETURN(const auto sizes, ParseSampled(json));
  std::map<std::string, Spread> spreads;
  for (const auto& [name, error] : errors) {
    Spread& spread = spreads[name];
    spread.standard_error = error;
    const auto size = sizes.find(name);
    if (size != sizes.end()) spread.sampled = size->second;
  }
  return spreads;
}

Results Tabulate(const ordo::training::v1::SummarizeSpec& spec,
                 const Spreads& spreads) {
  std::map<MetricKey, std::vector<std::optional<Scored>>> table;
  for (int i = 0; i < spec.parts_size(); ++i) {
    for (const auto& [key, value] : ScoresOf(spec.parts(i), spreads)) {
      auto& row = table[key];
      row.resize(spec.parts_size());
      row[i] = value;
    }
  }
  Results results;
  for (auto& [key, row] : table) {
    results.metrics.push_back(key);
    results.scores.push_back(std::move(row));
  }
  return results;
}

bool IsVerdict(const PartResult::Report& report) {
  return report.task().empty() && report.metrics().count(kPassed) > 0 &&
         report.metrics().count(kFailed) > 0;
}

bool IsScore(const PartResult::Report& report, const std::string& metric) {
  return !IsVerdict(report) ||
         (metric != kPassed && metric != kFailed && metric != kNumComparisons);
}

std::string VerdictOf(const PartResult& part) {
  const auto& reports = part.reports();
  const auto verdict = std::find_if(reports.begin(), reports.end(), IsVerdict);
  if (verdict == reports.end()) return "";
  absl::string_view message = part.message();
  if (absl::ConsumePrefix(&message, kVerdict)) return std::string(message);
  // It was decided in an attempt before the last.
  if (verdict->metrics().at(kPassed) == 1) return "pass.";
  return verdict->metrics().at(kFailed) == 1 ? "fail." : "inconclusive.";
}

bool IsRun(const PartResult& part) {
  return part.trial_of().empty() && part.pace_of().empty();
}

bool HasSucceeded(const PartResult& part) {
  return part.state() == "SUCCEEDED";
}

bool WasStoppedEarly(const PartResult& part) {
  return part.reason() == "STOPPED_EARLY";
}

bool EndedAsMeant(const PartResult& part) {
  const bool has_diverged =
      !part.trial_of().empty() && part.reason() == "NON_FINITE";
  return HasSucceeded(part) || WasStoppedEarly(part) || has_diverged;
}

}  // namespace ordo::report::summary
