#include "services/jobs/best_checkpoint.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status/status.h"
#include "model/catalog/headline.h"

namespace ordo::services::jobs {
namespace {

using ordo::checkpoints::v1::Checkpoint;
using ordo::jobs::v1::Job;
using ordo::jobs::v1::JobSpec;
using ordo::reports::v1::Report;

constexpr char kBest[] = "/checkpoints/best";
constexpr int kReportsAPage = 1000;

// The job of jobs/{job}/checkpoints/best; empty: it names another.
std::string JobOfBest(const std::string& reference) {
  const std::vector<std::string> parts = absl::StrSplit(reference, '/');
  if (parts.size() != 4 || parts[0] != "jobs" ||
      !absl::EndsWith(reference, kBest)) {
    return "";
  }
  return parts[1];
}

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

// A checkpoint with what it scored.
struct Scored {
  std::string checkpoint;
  int64_t step = 0;
  double value = 0;
};

// What one evaluation found, best first.
struct Ranking {
  std::string evaluation;
  const model::catalog::Headline* headline = nullptr;
  std::vector<Scored> scored;
};

Ranking Rank(const std::string& evaluation, const std::vector<Report>& all) {
  Ranking ranking;
  ranking.evaluation = evaluation;
  for (const Report& report : all) {
    const bool is_of =
        LastPart(report.name()) == absl::StrCat(evaluation, "-", report.step());
    if (!is_of || report.checkpoint().empty()) continue;
    const auto* headline = model::catalog::HeadlineOf(report.metrics());
    if (headline == nullptr) continue;
    if (ranking.headline == nullptr) ranking.headline = headline;
    // One evaluation has one, but for results that are not finite.
    if (ranking.headline != headline) continue;
    ranking.scored.push_back({report.checkpoint(), report.step(),
                              report.metrics().at(headline->metric)});
  }
  std::sort(ranking.scored.begin(), ranking.scored.end(),
            [&ranking](const Scored& a, const Scored& b) {
              const bool less = ranking.headline->less_is_better;
              const double first = less ? a.value : -a.value;
              const double second = less ? b.value : -b.value;
              return std::make_tuple(first, -a.step) <
                     std::make_tuple(second, -b.step);
            });
  return ranking;
}

// Of the first evaluation of the job that has results.
Ranking RankFirst(const Job& job, const std::vector<Report>& all) {
  for (const auto& evaluation : job.spec().evaluations()) {
    const std::string& name =
        evaluation.name().empty() ? evaluation.task() : evaluation.name();
    Ranking ranking = Rank(name, all);
    if (!ranking.scored.empty()) return ranking;
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
  for (const Scored& scored : ranking.scored) {
    if (!IsThere(scheduler, scored.checkpoint)) continue;
    const Scored& best = ranking.scored.front();
    if (scored.checkpoint != best.checkpoint) {
      notices->push_back(absl::StrCat(
          "the best checkpoint of ", id, " by ", ranking.evaluation, " (",
          ranking.headline->metric, "), ", best.checkpoint, ", was removed; ",
          scored.checkpoint,
          " is the best that is there: raise checkpoint.keep to keep more"));
    }
    return scored.checkpoint;
  }
  return absl::NotFoundError(absl::StrCat(
      "no checkpoint of ", id, " that is there was evaluated in the job itself",
      "; give it evaluations with every_steps, or name one: ordo list "
      "checkpoints ",
      id));
}

}  // namespace

bool NamesBest(const JobSpec& spec) {
  return spec.kind() == JobSpec::EVALUATE &&
         std::any_of(spec.checkpoints().begin(), spec.checkpoints().end(),
                     [](const std::string& reference) {
                       return !JobOfBest(reference).empty();
                     });
}

void FillBest(const scheduler::Scheduler& scheduler, JobSpec* spec,
              std::vector<std::string>* notices,
              std::vector<base::FieldViolation>* violations) {
  if (!NamesBest(*spec)) return;
  for (int i = 0; i < spec->checkpoints_size(); ++i) {
    const std::string id = JobOfBest(spec->checkpoints(i));
    if (id.empty()) continue;
    auto best = BestOf(scheduler, id, notices);
    if (best.ok()) {
      spec->set_checkpoints(i, *std::move(best));
    } else {
      violations->push_back({absl::StrCat("checkpoints[", i, "]"),
                             std::string(best.status().message())});
    }
  }
}

}  // namespace ordo::services::jobs
