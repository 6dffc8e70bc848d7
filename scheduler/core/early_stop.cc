#include "scheduler/core/early_stop.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/artifacts.h"
#include "scheduler/core/cancel.h"
#include "scheduler/core/scores.h"

namespace ordo::scheduler::core {
namespace {

// Worst first; there are some. Of an even number the worse of both in the
// middle: nobody ends for being between them.
double Median(const Criterion& by, std::vector<double> scores) {
  std::sort(scores.begin(), scores.end(),
            [&by](double a, double b) { return IsBetter(by, b, a); });
  return scores[(scores.size() - 1) / 2];
}

// A part that has reported at a step.
struct Candidate {
  JobEntry* entry;
  double score;
};

// Whether it may yet succeed.
bool MaySucceed(const JobRecord& job) {
  return !IsTerminal(job.state) && job.state != jobs::v1::Job::CANCELLING;
}

// Whether it may end at this step: that is its newest, and not its last.
bool MayEnd(const JobEntry& entry, const EarlyStop& rule, int64_t step) {
  return MaySucceed(*entry.job) &&
         step < entry.job->facts->demand().num_steps &&
         NewestStep(entry, rule.by) == step;
}

void JudgeStep(Turn& turn, const JobFacts& parent, int64_t step) {
  const EarlyStop& rule = parent.demand().early_stop;
  std::vector<Candidate> candidates;
  std::vector<double> scores;
  size_t num_standing = 0;
  for (const std::string& part : parent.parts) {
    const auto found = turn.state.jobs.find(part);
    if (found == turn.state.jobs.end()) continue;
    const JobRecord& job = *found->second.job;
    if (MaySucceed(job) || job.state == jobs::v1::Job::SUCCEEDED) {
      ++num_standing;
    }
    const auto score = ScoreAt(found->second, rule.by, step);
    if (!score.has_value()) continue;
    scores.push_back(*score);
    candidates.push_back({&found->second, *score});
  }
  for (const Candidate& candidate : candidates) {
    if (!MayEnd(*candidate.entry, rule, step)) continue;
    const std::string why = WhyBehind(rule, candidate.score, scores);
    if (why.empty()) continue;
    // What it is behind may itself have been stopped, and reported once more.
    if (num_standing == 1) return;
    --num_standing;
    StopEarly(
        turn, *candidate.entry,
        absl::StrCat("stopped early at step ", step, " of ",
                     candidate.entry->job->facts->demand().num_steps,
                     ", where ", rule.by.metric, " of ", rule.by.evaluation,
                     ", ", candidate.score, ", ", why));
  }
}

// A score that no report has, most likely by a mistake, would stop nobody.
void WarnOfNoScore(Turn& turn, JobEntry& entry, const EarlyStop& rule,
                   int64_t step) {
  const std::string names = ScoreNames(entry, rule.by, step);
  if (names.empty() || ScoreAt(entry, rule.by, step).has_value() ||
      IsTerminal(entry.job->state)) {
    return;
  }
  const std::string warning = absl::StrCat(
      "reports of ", rule.by.evaluation, " have no ", rule.by.metric,
      ", by which runs are to be stopped early; they have ", names);
  const auto& said = entry.job->newest_attempt().warnings();
  if (std::count(said.begin(), said.end(), warning) > 0) return;
  JobEdit edit(turn, entry);
  AddWarning(edit, warning);
  edit.Commit();
}

}  // namespace

bool JudgesAt(const EarlyStop& rule, int64_t step) {
  switch (rule.rule) {
    case EarlyStop::Rule::kNone:
      return false;
    case EarlyStop::Rule::kMedian:
      return step >= rule.from_step;
    case EarlyStop::Rule::kHalving:
      // from_step times a power of the factor.
      while (step > rule.from_step && step % rule.factor == 0) {
        step /= rule.factor;
      }
      return step == rule.from_step;
  }
  return false;
}

std::string WhyBehind(const EarlyStop& rule, double score,
                      const std::vector<double>& scores) {
  const size_t number = scores.size();
  if (number < static_cast<size_t>(rule.min_reports)) return "";
  const std::string there = absl::StrCat(" of ", number, " runs there");
  if (rule.rule == EarlyStop::Rule::kMedian) {
    const double median = Median(rule.by, scores);
    if (!IsBetter(rule.by, median, score)) return "";
    return absl::StrCat("is worse than the median", there, ", ", median);
  }
  const auto factor = static_cast<size_t>(rule.factor);
  const size_t num_kept = (number + factor - 1) / factor;
  const auto num_better = static_cast<size_t>(std::count_if(
      scores.begin(), scores.end(),
      [&](double other) { return IsBetter(rule.by, other, score); }));
  if (num_better < num_kept) return "";
  return absl::StrCat("is not among the best ", num_kept, there);
}

void JudgeParts(Turn& turn) {
  std::set<std::pair<std::string, int64_t>> judged;
  for (const Reported& reported : turn.reported) {
    const std::string parent =
        turn.state.jobs.at(reported.job).job->facts->parent.value();
    const auto found = turn.state.jobs.find(parent);
    if (found == turn.state.jobs.end()) continue;
    const FactsPtr facts = found->second.job->facts;
    const EarlyStop& rule = facts->demand().early_stop;
    if (!JudgesAt(rule, reported.step)) continue;
    WarnOfNoScore(turn, turn.state.jobs.at(reported.job), rule, reported.step);
    if (judged.insert({parent, reported.step}).second) {
      JudgeStep(turn, *facts, reported.step);
    }
  }
  turn.reported.clear();
}

}  // namespace ordo::scheduler::core
