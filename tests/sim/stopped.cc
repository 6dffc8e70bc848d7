#include "tests/sim/stopped.h"

#include <cmath>
#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"
#include "scheduler/core/reasons.h"

namespace ordo::tests::sim {
namespace {

namespace core = scheduler::core;
using jobs::v1::Job;

// By step.
using Scores = std::map<int64_t, double>;

bool IsBetter(const core::EarlyStop& rule, double a, double b) {
  if (!std::isfinite(b)) return std::isfinite(a);
  return std::isfinite(a) && (rule.by.maximize ? a > b : a < b);
}

bool IsJudged(const core::EarlyStop& rule, int64_t step) {
  if (rule.rule == core::EarlyStop::Rule::kMedian) {
    return step >= rule.from_step;
  }
  int64_t rung = rule.from_step;
  while (rung < step) rung *= rule.factor;
  return rung == step;
}

// Whether the last of `own` is too far behind the others there.
bool IsBehind(const core::EarlyStop& rule, const Scores& own,
              const std::map<std::string, Scores>& all) {
  if (own.empty() || !IsJudged(rule, own.rbegin()->first)) return false;
  const auto [step, score] = *own.rbegin();
  int number = 0;
  int num_better = 0;
  for (const auto& [part, scores] : all) {
    const auto there = scores.find(step);
    if (there == scores.end()) continue;
    ++number;
    num_better += IsBetter(rule, there->second, score) ? 1 : 0;
  }
  if (number < rule.min_reports) return false;
  return rule.rule == core::EarlyStop::Rule::kMedian
             ? 2 * num_better > number
             : num_better * rule.factor >= number;
}

// Whether it may yet succeed.
bool MaySucceed(const JobView& view) {
  return !core::IsTerminal(view.state) && view.state != Job::CANCELLING;
}

absl::Status CheckSweep(const core::JobRecord& sweep, const Durable& durable,
                        const std::set<std::string>& newly) {
  const core::EarlyStop& rule = sweep.facts->demand().early_stop;
  std::map<std::string, Scores> all;
  for (const std::string& part : sweep.facts->parts) {
    all[part] = durable.ScoresOf(part, rule.by);
  }
  size_t num_stopped = 0;
  // Of those that have succeeded, or may, the last is not stopped.
  size_t num_standing = 0;
  for (const auto& [part, own] : all) {
    const JobView* view = durable.Find(part);
    if (view == nullptr) continue;
    num_standing += MaySucceed(*view) || view->state == Job::SUCCEEDED ? 1 : 0;
  }
  for (const auto& [part, own] : all) {
    const JobView* view = durable.Find(part);
    if (view == nullptr) continue;
    const bool stopped = view->reason == core::reason::kStoppedEarly;
    num_stopped += stopped ? 1 : 0;
    const bool is_last =
        !own.empty() && own.rbegin()->first >= view->facts->demand().num_steps;
    const bool behind = !is_last && IsBehind(rule, own, all);
    if (behind && MaySucceed(*view) && num_standing > 1) {
      return absl::InternalError(
          absl::StrCat(part, " is behind the others and goes on"));
    }
    if (!behind && newly.count(part) > 0) {
      return absl::InternalError(
          absl::StrCat(part, " was stopped early and was not behind"));
    }
  }
  if (num_stopped > 0 && num_stopped == all.size()) {
    return absl::InternalError(
        absl::StrCat("of ", sweep.id(), " all parts were stopped early"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckStoppedEarly(const core::State& state, const Durable& durable,
                               const std::set<std::string>& newly) {
  for (const auto& [id, entry] : state.jobs) {
    const core::JobRecord& job = *entry.job;
    if (job.facts->demand().early_stop.rule == core::EarlyStop::Rule::kNone) {
      continue;
    }
    const absl::Status status = CheckSweep(job, durable, newly);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace ordo::tests::sim
