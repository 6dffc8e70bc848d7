#include "report/summary/tuning.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "report/summary/results.h"

namespace ordo::report::summary {
namespace {

using ordo::training::v1::PartResult;
using ordo::training::v1::SummarizeSpec;

bool IsTrial(const PartResult& part) { return !part.trial_of().empty(); }

// Of its newest report; NaN: there is none, or none with the score.
double ScoreOf(const PartResult& part, const SummarizeSpec::Tuning& tuning) {
  double score = NAN;
  int64_t newest = -1;
  for (const PartResult::Report& report : part.reports()) {
    const auto found = report.metrics().find(tuning.metric());
    if (report.evaluation() != tuning.evaluation() ||
        found == report.metrics().end() || report.step() < newest) {
      continue;
    }
    newest = report.step();
    score = found->second;
  }
  return score;
}

// What its runs took, by arm: the rates, as text.
std::map<std::string, std::set<std::string>> TakenByArm(
    const SummarizeSpec& spec) {
  std::map<std::string, std::set<std::string>> taken;
  for (const PartResult& part : spec.parts()) {
    if (!IsRun(part) || !HasSucceeded(part)) continue;
    taken[part.part()].insert(NumberText(part.control().learning_rate()));
  }
  return taken;
}

std::map<std::string, int> NumTrialsByArm(const std::vector<Trial>& trials) {
  std::map<std::string, int> number;
  for (const Trial& trial : trials) {
    number[trial.part->trial_of()] += EndedAsMeant(*trial.part) ? 1 : 0;
  }
  return number;
}

void CheckNumbers(const std::vector<Trial>& trials, Control* control) {
  std::vector<std::string> missing;
  for (const Trial& trial : trials) {
    if (!EndedAsMeant(*trial.part)) missing.push_back(trial.part->job());
  }
  if (!missing.empty()) {
    control->reasons.push_back(
        absl::StrCat("arms have not equally many trials, as these did not end "
                     "by themselves: ",
                     absl::StrJoin(missing, ", ")));
    return;
  }
  std::set<int> numbers;
  for (const auto& [arm, number] : NumTrialsByArm(trials)) {
    numbers.insert(number);
  }
  if (numbers.size() < 2) return;
  control->reasons.push_back(absl::StrCat("arms have not equally many trials: ",
                                          absl::StrJoin(numbers, ", ")));
}

// That each run recorded the rate of the trial that it is to follow.
void CheckTaken(const SummarizeSpec& spec, Control* control) {
  std::map<std::string, double> rates;
  for (const PartResult& part : spec.parts()) {
    if (IsTrial(part)) rates[part.job()] = part.control().learning_rate();
  }
  for (const PartResult& part : spec.parts()) {
    if (!IsRun(part) || !HasSucceeded(part)) continue;
    const auto rate = rates.find(part.tuned_from());
    if (rate != rates.end() && rate->second > 0 &&
        rate->second == part.control().learning_rate()) {
      continue;
    }
    control->reasons.push_back(
        absl::StrCat(part.job(),
                     " did not record that it has the learning "
                     "rate of the best trial of its arm"));
  }
}

// That no run was asked what trials were chosen by.
void CheckQuestions(const SummarizeSpec& spec,
                    const std::vector<PartRecords>& records, Control* control) {
  std::set<std::string> of_trials;
  std::map<std::string, std::string> of_runs;
  for (int i = 0; i < spec.parts_size(); ++i) {
    if (static_cast<size_t>(i) >= records.size()) break;
    const PartResult& part = spec.parts(i);
    for (const CountedReport& counted : CountedReports(part)) {
      const auto asked = records[i].questions.find(counted.report->path());
      if (asked == records[i].questions.end()) continue;
      if (IsTrial(part)) {
        of_trials.insert(asked->second);
      } else {
        of_runs.emplace(asked->second, counted.evaluation);
      }
    }
  }
  for (const auto& [digest, evaluation] : of_runs) {
    if (of_trials.count(digest) == 0) continue;
    control->reasons.push_back(absl::StrCat(
        "trials were chosen by what runs were asked in ", evaluation));
  }
}

}  // namespace

std::vector<Trial> TrialsOf(const SummarizeSpec& spec) {
  std::set<std::string> chosen;
  for (const PartResult& part : spec.parts()) chosen.insert(part.tuned_from());
  std::vector<Trial> trials;
  for (const PartResult& part : spec.parts()) {
    if (!IsTrial(part)) continue;
    trials.push_back({&part, ScoreOf(part, spec.comparison().tuning()),
                      chosen.count(part.job()) > 0});
  }
  return trials;
}

SummarizeSpec RunsOf(const SummarizeSpec& spec) {
  SummarizeSpec runs = spec;
  runs.clear_parts();
  for (const PartResult& part : spec.parts()) {
    if (IsRun(part)) *runs.add_parts() = part;
  }
  return runs;
}

std::vector<PartRecords> RecordsOfRuns(
    const SummarizeSpec& spec, const std::vector<PartRecords>& records) {
  std::vector<PartRecords> runs;
  for (int i = 0; i < spec.parts_size(); ++i) {
    if (static_cast<size_t>(i) >= records.size()) break;
    if (IsRun(spec.parts(i))) runs.push_back(records[i]);
  }
  return runs;
}

void CheckTuning(const SummarizeSpec& spec,
                 const std::vector<PartRecords>& records, Control* control) {
  const std::vector<Trial> trials = TrialsOf(spec);
  if (trials.empty()) return;
  CheckNumbers(trials, control);
  CheckTaken(spec, control);
  CheckQuestions(spec, records, control);
  const SummarizeSpec::Tuning& tuning = spec.comparison().tuning();
  std::vector<std::string> taken;
  for (const auto& [arm, rates] : TakenByArm(spec)) {
    taken.push_back(
        absl::StrCat(absl::StrJoin(rates, " and "), " (", arm, ")"));
  }
  const std::string best = tuning.goal() == "min" ? "smallest " : "largest ";
  control->differences.push_back(
      absl::StrCat("learning rate, of the trial of each arm with the ", best,
                   tuning.metric(), " of ", tuning.evaluation(), ": ",
                   absl::StrJoin(taken, ", ")));
}

Table TuningTable(const SummarizeSpec& spec) {
  const SummarizeSpec::Tuning& tuning = spec.comparison().tuning();
  Table table;
  table.title = "Trials";
  table.num_text_columns = 3;
  table.header = {"arm",
                  "job",
                  "state",
                  "learning rate",
                  absl::StrCat(tuning.evaluation(), ": ", tuning.metric()),
                  "chosen"};
  for (const Trial& trial : TrialsOf(spec)) {
    const PartResult& part = *trial.part;
    const double rate = part.control().learning_rate();
    table.rows.push_back(
        {part.trial_of(), part.job(),
         part.reason().empty() || HasSucceeded(part)
             ? part.state()
             : absl::StrCat(part.state(), ", ", part.reason()),
         rate > 0 ? NumberText(rate) : kNoValue,
         std::isfinite(trial.score) ? NumberText(trial.score) : kNoValue,
         trial.is_chosen ? "yes" : kNoValue});
  }
  return table;
}

}  // namespace ordo::report::summary
