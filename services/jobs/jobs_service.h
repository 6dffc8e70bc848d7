#ifndef ORDO_SERVICES_JOBS_JOBS_SERVICE_H_
#define ORDO_SERVICES_JOBS_JOBS_SERVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"
#include "scheduler/scheduler.h"
#include "services/auth/guard.h"
#include "services/auth/guarded.h"
#include "services/files/registered_file.h"
#include "services/files/work_queue.h"
#include "services/limits/limits.h"
#include "services/spec/spec_cache.h"

namespace ordo::services::jobs {

// The gRPC skin of jobs; see the proto for what the calls do. It validates,
// calls the scheduler and translates.
class JobsService final : public auth::Guarded<ordo::jobs::v1::JobsService> {
 public:
  // All outlive the server.
  struct Parts {
    scheduler::Scheduler& scheduler;
    files::Storage storage;
    files::WorkQueue& queue;
    auth::Guard& guard;
    limits::Limits& limits;
  };

  explicit JobsService(const Parts& parts);

  grpc::ServerUnaryReactor* CreateJob(
      grpc::CallbackServerContext* context,
      const ordo::jobs::v1::CreateJobRequest* request,
      ordo::jobs::v1::Job* response) override;
  grpc::ServerUnaryReactor* BatchCreateJobs(
      grpc::CallbackServerContext* context,
      const ordo::jobs::v1::BatchCreateJobsRequest* request,
      ordo::jobs::v1::BatchCreateJobsResponse* response) override;
  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const ordo::jobs::v1::GetJobRequest* request,
                                   ordo::jobs::v1::Job* response) override;
  grpc::ServerUnaryReactor* ListJobs(
      grpc::CallbackServerContext* context,
      const ordo::jobs::v1::ListJobsRequest* request,
      ordo::jobs::v1::ListJobsResponse* response) override;
  grpc::ServerUnaryReactor* CancelJob(
      grpc::CallbackServerContext* context,
      const ordo::jobs::v1::CancelJobRequest* request,
      ordo::jobs::v1::Job* response) override;
  grpc::ServerUnaryReactor* HoldJob(
      grpc::CallbackServerContext* context,
      const ordo::jobs::v1::HoldJobRequest* request,
      ordo::jobs::v1::Job* response) override;
  grpc::ServerUnaryReactor* ReleaseJob(
      grpc::CallbackServerContext* context,
      const ordo::jobs::v1::ReleaseJobRequest* request,
      ordo::jobs::v1::Job* response) override;
  grpc::ServerUnaryReactor* SetJobPriority(
      grpc::CallbackServerContext* context,
      const ordo::jobs::v1::SetJobPriorityRequest* request,
      ordo::jobs::v1::Job* response) override;
  grpc::ServerWriteReactor<ordo::jobs::v1::WatchJobResponse>* WatchJob(
      grpc::CallbackServerContext* context,
      const ordo::jobs::v1::WatchJobRequest* request) override;
  grpc::ServerWriteReactor<ordo::jobs::v1::ReadLogsResponse>* ReadLogs(
      grpc::CallbackServerContext* context,
      const ordo::jobs::v1::ReadLogsRequest* request) override;
  grpc::ServerUnaryReactor* Explain(
      grpc::CallbackServerContext* context,
      const ordo::jobs::v1::ExplainRequest* request,
      ordo::jobs::v1::ExplainResponse* response) override;

 private:
  // A change of one job: which, by whom, and what they see, which may not be
  // all.
  struct Change {
    std::string job;
    std::string user;
    std::shared_ptr<scheduler::Scheduler> view;
    bool is_bound;
  };
  // Whether the caller may change the job; `verb` is for the message.
  absl::StatusOr<Change> ParseChange(grpc::CallbackServerContext* context,
                                     const std::string& name,
                                     const std::string& verb) const;
  // Ends the call of a change with the job as its caller sees it.
  scheduler::Scheduler::JobCallback Answering(grpc::ServerUnaryReactor* reactor,
                                              const Change& change,
                                              ordo::jobs::v1::Job* response);
  // Ends a call when `hide` has taken out of its answer what a caller who is
  // bound to queues may not read: that reads the store, which callbacks of the
  // scheduler may not.
  void FinishHidden(grpc::ServerUnaryReactor* reactor, bool is_bound,
                    const absl::Status& status,
                    const std::function<void()>& hide);
  // Runs `work`, which ends the call: here, or, where it waits for a disk, on
  // the queue.
  void RunWhereItMayWait(bool waits, grpc::ServerUnaryReactor* reactor,
                         const std::function<void()>& work);
  // What the caller sees.
  std::shared_ptr<scheduler::Scheduler> ViewFor(
      grpc::CallbackServerContext* context) const;
  // Counts calls of the caller.
  absl::Status Admit(grpc::CallbackServerContext* context,
                     int64_t num_calls = 1) const;
  // Counts the parts that `num_jobs` jobs, which were created, have beside what
  // was asked for.
  void CountParts(grpc::CallbackServerContext* context, size_t num_jobs,
                  int num_asked) const;

  const Parts parts_;
  spec::SpecCache specs_;
};

}  // namespace ordo::services::jobs

#endif  // ORDO_SERVICES_JOBS_JOBS_SERVICE_H_
