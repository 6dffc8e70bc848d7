#ifndef ORDO_SCHEDULER_SERVER_READS_H_
#define ORDO_SCHEDULER_SERVER_READS_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/explain.h"
#include "scheduler/scheduler.h"
#include "scheduler/server/view.h"
#include "scheduler/store/reader.h"

namespace ordo::scheduler::server {

// Reads of the API, each as in scheduler::Scheduler: jobs that have not ended
// from the view, those that have and all checkpoints and reports from the
// store. Never waits for a commit. What cannot be read any more is an error for
// whoever asks for it by name, and is left out of listings; of the store's
// other errors a listing is one too. Thread-safe.
class Reads {
 public:
  // Told what was left out, as in store::Found; often the same.
  using OnDamage = std::function<void(const std::vector<absl::Status>&)>;

  // Both outlive this.
  Reads(const View& view, store::Reader& store, OnDamage on_damage)
      : view_(view), store_(store), on_damage_(std::move(on_damage)) {}

  absl::StatusOr<jobs::v1::Job> GetJob(const std::string& job) const;
  absl::StatusOr<jobs::v1::Owner> GetOwner(const std::string& job) const;
  absl::StatusOr<std::string> GetQueueOf(const std::string& job) const;
  absl::StatusOr<Listing<jobs::v1::Job>> ListJobs(const JobFilter& filter,
                                                  const Page& page) const;
  // `placing`: what the core says of it now, if it is queued.
  absl::StatusOr<jobs::v1::ExplainResponse> Explain(
      const std::string& job, absl::Time now,
      const std::optional<core::Placing>& placing) const;
  absl::StatusOr<checkpoints::v1::Checkpoint> GetCheckpoint(
      const std::string& job, const std::string& checkpoint) const;
  absl::StatusOr<Listing<checkpoints::v1::Checkpoint>> ListCheckpoints(
      const std::string& job, const Page& page) const;
  absl::StatusOr<reports::v1::Report> GetReport(
      const std::string& job, const std::string& report) const;
  absl::StatusOr<Listing<reports::v1::Report>> ListReports(
      const std::string& job, const Page& page) const;

 private:
  absl::StatusOr<checkpoints::v1::Checkpoint> NewestCheckpoint(
      const std::string& job) const;
  // As it is stored.
  absl::StatusOr<checkpoints::v1::Checkpoint> FindCheckpoint(
      const std::string& job, const std::string& checkpoint) const;
  // NOT_FOUND; for one that was archived as core::Archived says.
  absl::Status NoJob(const std::string& job) const;
  // Never null: as NoJob unless there is such a job.
  absl::StatusOr<core::JobPtr> FindJob(const std::string& job) const;

  const View& view_;
  store::Reader& store_;
  const OnDamage on_damage_;
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_READS_H_
