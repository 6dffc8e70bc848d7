#ifndef ORDO_SERVICES_CLI_TESTING_FAKE_SCHEDULER_H_
#define ORDO_SERVICES_CLI_TESTING_FAKE_SCHEDULER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "grpcpp/server.h"
#include "proto/ordo/checkpoints/v1/checkpoints.grpc.pb.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"
#include "proto/ordo/reports/v1/reports.grpc.pb.h"
#include "proto/ordo/workers/v1/workers.grpc.pb.h"

namespace ordo::services::cli::testing {

// The API of a scheduler that knows what a test told it and runs nothing.
// Listens on loopback; can leave and come back at the same port. Thread-safe.
class FakeScheduler {
 public:
  FakeScheduler();
  ~FakeScheduler();

  const std::string& address() const { return address_; }
  // Ends all calls, so that clients find nobody.
  void Leave();
  void ComeBack();

  // Puts a job there, or changes it: its version grows and watchers hear of it.
  void SetJob(const std::string& id, jobs::v1::Job::State state,
              const std::function<void(jobs::v1::Job*)>& change = nullptr);
  jobs::v1::Job GetJob(const std::string& id);
  // Watches of the job are told that it ended so and was archived.
  void ArchiveJob(const std::string& id, jobs::v1::Job::State state);
  // Whatever is submitted ends at once in this state.
  void EndSubmittedIn(jobs::v1::Job::State state);
  // Whatever is submitted has this notice.
  void NoticeSubmitted(const std::string& notice);
  // CreateJob and BatchCreateJobs answer with this; OK ends it.
  void RefuseCreate(absl::Status status);
  // The next `count` unary calls on jobs find the server UNAVAILABLE, after the
  // call has had its effect.
  void LoseAnswers(int count);

  // The next `count` unary calls on jobs have their effect and get no answer
  // before their caller leaves.
  void StallAnswers(int count);

  void AddWorker(const workers::v1::Worker& worker);
  void AddCheckpoint(const checkpoints::v1::Checkpoint& checkpoint);
  // A report with its files: path to content.
  void AddReport(reports::v1::Report report,
                 const std::map<std::string, std::string>& files);
  // A file of a checkpoint or report, by resource name; streams of it break
  // after `break_after` bytes, once, unless that is 0.
  void SetFile(const std::string& name, const std::string& path,
               const std::string& content, size_t break_after = 0);
  // The log of a job; a follower gets what is added until the job has ended.
  void AppendLog(const std::string& id, const std::string& text);
  // The same of what ReadLogsRequest.metrics asks for.
  void AppendMetrics(const std::string& id, const std::string& text);

  void SetExplanation(const jobs::v1::ExplainResponse& explanation);

  // Requests of CreateJob, in order, also those refused.
  std::vector<jobs::v1::CreateJobRequest> create_requests();
  std::vector<jobs::v1::ListJobsRequest> list_requests();
  // Resource names of the jobs that were cancelled, in order.
  std::vector<std::string> cancelled();
  // Offsets at which files and logs were asked for, in order.
  std::vector<int64_t> offsets();
  // Waits until so many jobs have been asked for; false after ten seconds.
  bool WaitForCreateRequests(size_t count);
  // The next watch of the job breaks off after its first answer.
  void BreakNextWatch(const std::string& id);
  // The next `count` watches are RESOURCE_EXHAUSTED, in these words.
  void RefuseWatches(int count, const std::string& message);
  // Waits until the job has been watched so many times; false after ten
  // seconds.
  bool WaitForWatcher(const std::string& id, int count = 1);

 private:
  class Jobs;
  class Checkpoints;
  class Reports;
  class Workers;
  struct State;

  void Serve(const std::string& address);

  std::unique_ptr<State> state_;
  std::unique_ptr<Jobs> jobs_;
  std::unique_ptr<Checkpoints> checkpoints_;
  std::unique_ptr<Reports> reports_;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace ordo::services::cli::testing

#endif  // ORDO_SERVICES_CLI_TESTING_FAKE_SCHEDULER_H_
