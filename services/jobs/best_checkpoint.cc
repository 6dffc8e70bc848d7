#include "services/jobs/best_checkpoint.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status/status.h"
#include "model/catalog/headline.h"
#include "services/jobs/job_state.h"
#include "services/spec/references.h"

namespace ordo::services::jobs {
namespace {

using ordo::checkpoints::v1::Checkpoint;
using ordo::jobs::v1::Job;
using ordo::jobs::v1::JobSpec;
using ordo::reports::v1::Report;

constexpr int kReportsAPage = 1000;

std::string LastPart(const std::string& name) {
  return name.substr(name.rfind('/') + 1);
}

absl::StatusOr<std::vector<Report>> ReportsOf(
    const scheduler::Scheduler& scheduler, const std::string& job) {
  std::vector<Report> all;
  scheduler::Page page;
  page.size = kReportsAPage;
  do {
    ORDO_ASSIGN_OR_RETURN(auto listing, scheduler.ListReports(job, page));
    std::move(listing.items.begin(), listing.items.end(),
              std::back_inserter(all));
    page.before = listing.next;
  } while (!page.before.empty());
  return all;
}

// What one evaluation found, best first.
struct Ranking {
  std::string evaluation;
  // Never without a checkpoint and a headline metric.
  std::vector<Report> reports;
};

Ranking Rank(const std::string& evaluation, const std::vector<Report>& all) {
  std::vector<const Report*> of_it;
  std::vector<model::catalog::HeadlineResult> results;
  for (const Report& report : all) {
    const bool is_of =
        LastPart(report.name()) == absl::StrCat(evaluation, "-", report.step());
    if (!is_of || report.checkpoint().empty()) continue;
    of_it.push_back(&report);
    results.push_back({report.step(), &report.metrics()});
  }
  Ranking ranking;
  ranking.evaluation = evaluation;
  for (const size_t place : model::catalog::RankByHeadline(results)) {
    ranking.reports.push_back(*of_it[place]);
  }
  return ranking;
}

// Of the first evaluation of the job that has results.
Ranking RankFirst(const Job& job, const std::vector<Report>& all) {
  for (const auto& evaluation : job.spec().evaluations()) {
    const std::string& name =
        evaluation.name().empty() ? evaluation.task() : evaluation.name();
    Ranking ranking = Rank(name, all);
    if (!ranking.reports.empty()) return ranking;
  }
  return {};
}

bool IsThere(const scheduler::Scheduler& scheduler, const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts.size() != 4) return false;
  const auto checkpoint = scheduler.GetCheckpoint(parts[1], parts[3]);
  return checkpoint.ok() && checkpoint->state() == Checkpoint::AVAILABLE;
}

// The best that is there, with a notice where a better one is not. The error's
// text is that of a violation.
absl::StatusOr<std::string> BestOf(const scheduler::Scheduler& scheduler,
                                   const std::string& id,
                                   std::vector<std::string>* notices) {
  ORDO_ASSIGN_OR_RETURN(const Job job, scheduler.GetJob(id));
  ORDO_ASSIGN_OR_RETURN(const std::vector<Report> reports,
                        ReportsOf(scheduler, id));
  const Ranking ranking = RankFirst(job, reports);
  for (const Report& report : ranking.reports) {
    if (!IsThere(scheduler, report.checkpoint())) continue;
    const Report& best = ranking.reports.front();
    if (report.checkpoint() != best.checkpoint()) {
      notices->push_back(absl::StrCat(
          "the best checkpoint of ", id, " by ", ranking.evaluation, " (",
          model::catalog::HeadlineOf(best.metrics())->metric, "), ",
          best.checkpoint(), ", was removed; ", report.checkpoint(),
          " is the best that is there"));
    }
    return report.checkpoint();
  }
  return absl::NotFoundError(absl::StrCat(
      "no checkpoint of ", id, " that is there was evaluated in the job itself",
      "; give it evaluations with every_steps, or name one: ordo list "
      "checkpoints ",
      id));
}

// Fills one field.
class Filler {
 public:
  Filler(const KnownJobs& known, const JobSpec& spec,
         std::vector<std::string>* notices,
         std::vector<base::FieldViolation>* violations)
      : known_(known),
        spec_(spec),
        notices_(*notices),
        violations_(*violations) {}

  void Fill(const std::string& field, std::string* reference) {
    if (!spec::NamesBest(*reference)) return;
    const std::vector<std::string> parts = absl::StrSplit(*reference, '/');
    const std::string& id = parts[1];
    if (Needs(spec_, id)) {
      // It may be one that the same call has yet to make.
      const auto job = FindJob(known_, id);
      if (!job.ok() || !HasEnded(*job)) return;
    }
    auto best = BestOf(known_.scheduler, id, &notices_);
    if (best.ok()) {
      *reference = *std::move(best);
    } else {
      violations_.push_back({field, std::string(best.status().message())});
    }
  }

 private:
  const KnownJobs& known_;
  const JobSpec& spec_;
  std::vector<std::string>& notices_;
  std::vector<base::FieldViolation>& violations_;
};

}  // namespace

absl::StatusOr<std::string> BestCheckpoint(
    const scheduler::Scheduler& scheduler, const std::string& job) {
  std::vector<std::string> notices;
  return BestOf(scheduler, job, &notices);
}

bool NamesBest(const JobSpec& spec) {
  return spec::NamesBest(spec.start_from()) ||
         spec::NamesBest(spec.model().from()) ||
         spec::NamesBest(spec.gate().candidate()) ||
         spec::NamesBest(spec.gate().baseline()) ||
         spec::NamesBest(spec.gate().anchor()) ||
         std::any_of(spec.checkpoints().begin(), spec.checkpoints().end(),
                     spec::NamesBest);
}

void FillBest(const KnownJobs& known, JobSpec* spec,
              std::vector<std::string>* notices,
              std::vector<base::FieldViolation>* violations) {
  if (!NamesBest(*spec)) return;
  Filler filler(known, *spec, notices, violations);
  for (int i = 0; i < spec->checkpoints_size(); ++i) {
    filler.Fill(absl::StrCat("checkpoints[", i, "]"),
                spec->mutable_checkpoints(i));
  }
  if (!spec->start_from().empty()) {
    filler.Fill("start_from", spec->mutable_start_from());
  }
  if (!spec->model().from().empty()) {
    filler.Fill("model.from", spec->mutable_model()->mutable_from());
  }
  if (!spec->has_gate()) return;
  auto& gate = *spec->mutable_gate();
  filler.Fill("gate.candidate", gate.mutable_candidate());
  filler.Fill("gate.baseline", gate.mutable_baseline());
  filler.Fill("gate.anchor", gate.mutable_anchor());
}

}  // namespace ordo::services::jobs
