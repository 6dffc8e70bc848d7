#include "scheduler/server/reads.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "scheduler/core/explain.h"
#include "scheduler/core/present.h"
#include "scheduler/core/references.h"
#include "scheduler/core/state.h"

namespace ordo::scheduler::server {
namespace {

using jobs::v1::Job;

// The sequence before which a page of jobs begins.
absl::StatusOr<int64_t> BeforeSequence(const Page& page) {
  if (page.before.empty()) return std::numeric_limits<int64_t>::max();
  int64_t before = 0;
  if (!absl::SimpleAtoi(page.before, &before)) {
    return base::InvalidField("page_token", "is not one of this listing");
  }
  return before;
}

// A page of what was listed with one more than it takes, newest first.
template <typename T>
Listing<T> Paged(const store::Found<std::shared_ptr<const T>>& found,
                 int size) {
  Listing<T> listing;
  for (const auto& each : found.items) {
    if (static_cast<int>(listing.items.size()) == size) {
      listing.next = listing.items.back().name();
      return listing;
    }
    listing.items.push_back(*each);
  }
  listing.next = found.next.value_or("");
  return listing;
}

store::ArtifactQuery QueryOf(const std::string& job, const Page& page) {
  return {job, page.before, page.size + 1};
}

}  // namespace

absl::Status Reads::NoJob(const std::string& job) const {
  ORDO_ASSIGN_OR_RETURN(const store::PastJobs past, store_.FindPast({job}, {}));
  if (past.retired.empty()) {
    return absl::NotFoundError(
        absl::StrCat("there is no job ", job, "; see: ordo list jobs"));
  }
  const core::RetiredJob& gone = past.retired.front();
  return core::Archived(gone.id, gone.state);
}

absl::StatusOr<Job> Reads::GetJob(const std::string& job) const {
  if (const auto live = view_.FindJob(job)) return Present(*live);
  ORDO_ASSIGN_OR_RETURN(const core::JobPtr stored, store_.FindJob(job));
  if (stored == nullptr) return NoJob(job);
  return core::Present(*stored);
}

absl::StatusOr<jobs::v1::Owner> Reads::GetOwner(const std::string& job) const {
  ORDO_ASSIGN_OR_RETURN(const core::JobPtr found, FindJob(job));
  return core::PresentWithoutSpec(*found).owner();
}

absl::StatusOr<std::string> Reads::GetQueueOf(const std::string& job) const {
  ORDO_ASSIGN_OR_RETURN(const core::JobPtr found, FindJob(job));
  const std::string& queue = found->facts->demand().queue;
  return queue.empty() ? kDefaultQueue : queue;
}

absl::StatusOr<core::JobPtr> Reads::FindJob(const std::string& job) const {
  if (const auto live = view_.FindJob(job)) return live->record;
  ORDO_ASSIGN_OR_RETURN(core::JobPtr stored, store_.FindJob(job));
  if (stored == nullptr) return NoJob(job);
  return stored;
}

absl::StatusOr<Listing<Job>> Reads::ListJobs(const JobFilter& filter,
                                             const Page& page) const {
  ORDO_ASSIGN_OR_RETURN(const int64_t before, BeforeSequence(page));
  // The view first: a job that ends meanwhile is seen twice, not missed.
  SeenJobs live = view_.ListJobs(filter, before, page.size + 1);
  std::map<std::string, std::string> labels = filter.labels;
  if (filter.parent.has_value()) labels[core::kParentLabel] = *filter.parent;
  ORDO_ASSIGN_OR_RETURN(
      const store::Found<core::JobPtr> ended,
      store_.ListEnded({filter.state, filter.queue, filter.owner, labels,
                        before, page.size + 1}));
  on_damage_(ended.damage);
  // Behind the last of as many as were asked for there may be more.
  const auto looked_at = static_cast<size_t>(page.size) + 1;
  std::optional<int64_t> next = std::max(live.next, ended.next);
  if (live.items.size() == looked_at) {
    next =
        std::max(next.value_or(0), live.items.back().record->facts->sequence);
  }
  if (ended.items.size() == looked_at) {
    next = std::max(next.value_or(0), ended.items.back()->facts->sequence);
  }
  Listing<Job> listing;
  if (next.has_value()) listing.next = absl::StrCat(*next);
  std::vector<absl::Status> damage;
  const auto take = [&](absl::StatusOr<Job> job) -> absl::Status {
    if (job.ok()) {
      listing.items.push_back(*std::move(job));
    } else if (absl::IsDataLoss(job.status())) {
      damage.push_back(job.status());
    } else {
      return job.status();
    }
    return absl::OkStatus();
  };
  auto live_job = live.items.begin();
  auto ended_job = ended.items.begin();
  while (live_job != live.items.end() || ended_job != ended.items.end()) {
    if (static_cast<int>(listing.items.size()) == page.size) {
      listing.next = absl::StrCat(listing.items.back().sequence());
      break;
    }
    const int64_t live_sequence =
        live_job == live.items.end() ? 0 : live_job->record->facts->sequence;
    const int64_t ended_sequence =
        ended_job == ended.items.end() ? 0 : (*ended_job)->facts->sequence;
    // It has its place among others that were not looked at.
    if (std::max(live_sequence, ended_sequence) < next.value_or(0)) break;
    if (live_sequence > ended_sequence) {
      ORDO_RETURN_IF_ERROR(take(Present(*live_job++)));
      continue;
    }
    if (live_sequence == ended_sequence) ++live_job;
    ORDO_RETURN_IF_ERROR(take(core::Present(**ended_job++)));
  }
  on_damage_(damage);
  return listing;
}

absl::StatusOr<jobs::v1::ExplainResponse> Reads::Explain(
    const std::string& job, absl::Time now,
    const std::optional<core::Placing>& placing) const {
  ORDO_ASSIGN_OR_RETURN(auto live, view_.Explain(job, now, placing));
  if (live.has_value()) return *std::move(live);
  ORDO_ASSIGN_OR_RETURN(const Job ended, GetJob(job));
  return core::Explain({ended, {}, now});
}

absl::StatusOr<checkpoints::v1::Checkpoint> Reads::NewestCheckpoint(
    const std::string& job) const {
  ORDO_ASSIGN_OR_RETURN(
      const store::Found<core::CheckpointPtr> all,
      store_.ListCheckpoints({job, "", std::numeric_limits<int>::max()}));
  // One that cannot be read may be the newest.
  if (!all.damage.empty()) return all.damage.front();
  core::CheckpointPtr newest;
  for (const core::CheckpointPtr& each : all.items) {
    if (each->state() != checkpoints::v1::Checkpoint::AVAILABLE) continue;
    if (newest == nullptr ||
        std::make_pair(each->attempt(), each->step()) >
            std::make_pair(newest->attempt(), newest->step())) {
      newest = each;
    }
  }
  if (newest != nullptr) return *newest;
  ORDO_RETURN_IF_ERROR(FindJob(job));
  return absl::NotFoundError(
      absl::StrCat("job ", job, " has no checkpoint yet"));
}

absl::StatusOr<checkpoints::v1::Checkpoint> Reads::GetCheckpoint(
    const std::string& job, const std::string& checkpoint) const {
  ORDO_ASSIGN_OR_RETURN(auto found, FindCheckpoint(job, checkpoint));
  std::vector<checkpoints::v1::Checkpoint> shown = {std::move(found)};
  view_.ShowNames(&shown);
  return std::move(shown.front());
}

absl::StatusOr<checkpoints::v1::Checkpoint> Reads::FindCheckpoint(
    const std::string& job, const std::string& checkpoint) const {
  if (checkpoint == "latest") return NewestCheckpoint(job);
  ORDO_ASSIGN_OR_RETURN(
      const core::CheckpointPtr found,
      store_.FindCheckpoint(core::CheckpointName(job, checkpoint)));
  if (found != nullptr) return *found;
  ORDO_RETURN_IF_ERROR(FindJob(job));
  return absl::NotFoundError(absl::StrCat("job ", job, " has no checkpoint ",
                                          checkpoint,
                                          "; see: ordo list checkpoints"));
}

absl::StatusOr<Listing<checkpoints::v1::Checkpoint>> Reads::ListCheckpoints(
    const std::string& job, const Page& page) const {
  if (!job.empty()) ORDO_RETURN_IF_ERROR(FindJob(job));
  ORDO_ASSIGN_OR_RETURN(const store::Found<core::CheckpointPtr> found,
                        store_.ListCheckpoints(QueryOf(job, page)));
  on_damage_(found.damage);
  auto listing = Paged(found, page.size);
  view_.ShowNames(&listing.items);
  return listing;
}

absl::StatusOr<reports::v1::Report> Reads::GetReport(
    const std::string& job, const std::string& report) const {
  ORDO_ASSIGN_OR_RETURN(const core::ReportPtr found,
                        store_.FindReport(core::ReportName(job, report)));
  if (found != nullptr) return *found;
  ORDO_RETURN_IF_ERROR(FindJob(job));
  return absl::NotFoundError(absl::StrCat("job ", job, " has no report ",
                                          report, "; see: ordo list reports"));
}

absl::StatusOr<Listing<reports::v1::Report>> Reads::ListReports(
    const std::string& job, const Page& page) const {
  if (!job.empty()) ORDO_RETURN_IF_ERROR(FindJob(job));
  ORDO_ASSIGN_OR_RETURN(const store::Found<core::ReportPtr> found,
                        store_.ListReports(QueryOf(job, page)));
  on_damage_(found.damage);
  return Paged(found, page.size);
}

}  // namespace ordo::scheduler::server
