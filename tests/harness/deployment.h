#ifndef ORDO_TESTS_HARNESS_DEPLOYMENT_H_
#define ORDO_TESTS_HARNESS_DEPLOYMENT_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/process/process.h"
#include "proto/ordo/config/v1/scheduler.pb.h"
#include "proto/ordo/config/v1/worker.pb.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"

namespace ordo::tests::harness {

// The path of one of our programs: in $ORDO_BIN, else in the current folder,
// where Bazel lays a test's data.
std::string Program(const std::string& name);

// What a deployment runs. Listening ports are kernel-chosen, whatever the
// configurations say.
struct DeploymentOptions {
  // Everything lies below this folder, which exists.
  std::string folder;
  // Overrides of the defaults: folders, ports and names are filled in.
  config::v1::SchedulerConfig scheduler;
  config::v1::WorkerConfig worker;
  // Without it only the scheduler runs until StartWorker.
  bool start_worker = true;
};

// A scheduler and a worker as separate processes of this machine, each of
// which can be killed and started again. Not thread-safe, but for the stub.
// What still runs is killed when the object goes.
class Deployment {
 public:
  static absl::StatusOr<std::unique_ptr<Deployment>> Start(
      const DeploymentOptions& options);
  ~Deployment();

  // Starts a process and waits until it has written its endpoints.
  absl::Status StartScheduler();
  absl::Status StartWorker();

  // Sends a signal and waits until the process has gone and is reaped.
  absl::StatusOr<base::ExitStatus> EndScheduler(int signal);
  absl::StatusOr<base::ExitStatus> EndWorker(int signal);

  // host:port; the scheduler keeps its port when it is started again.
  const std::string& api_address() const { return api_address_; }
  const std::string& scheduler_metrics() const { return scheduler_metrics_; }
  const std::string& worker_address() const { return worker_address_; }
  const std::string& worker_metrics() const { return worker_metrics_; }
  std::string storage_root() const { return options_.folder + "/storage"; }
  const std::string& folder() const { return options_.folder; }

  // A stub of the API that reconnects by itself.
  jobs::v1::JobsService::Stub& jobs() { return *jobs_; }

  // Creates a job; the answer is durable.
  absl::StatusOr<jobs::v1::Job> Create(const jobs::v1::JobSpec& spec,
                                       const std::string& request_id = "");
  absl::StatusOr<jobs::v1::Job> Get(const std::string& job);
  // Follows the job until `done` says true of it, riding out a scheduler that
  // is away; DEADLINE_EXCEEDED with the job's last state in the message.
  absl::StatusOr<jobs::v1::Job> WaitFor(
      const std::string& job, absl::Duration timeout,
      const std::function<bool(const jobs::v1::Job&)>& done);
  // Until the job has ended.
  absl::StatusOr<jobs::v1::Job> WaitForEnd(const std::string& job,
                                           absl::Duration timeout);

  // Processes whose command line names this deployment's folder.
  std::vector<base::RunningProcess> Processes() const;

 private:
  explicit Deployment(const DeploymentOptions& options) : options_(options) {}

  absl::StatusOr<base::ProcessId> Launch(
      const std::string& program, const std::string& part,
      const google::protobuf::Message& config);
  absl::StatusOr<std::map<std::string, std::string>> WaitForEndpoints(
      const std::string& part, const base::ProcessId& process);

  DeploymentOptions options_;
  base::ProcessId scheduler_;
  base::ProcessId worker_;
  std::string api_address_;
  std::string scheduler_metrics_;
  std::string worker_address_;
  std::string worker_metrics_;
  std::unique_ptr<jobs::v1::JobsService::Stub> jobs_;
};

// True for SUCCEEDED, FAILED and CANCELLED.
bool HasEnded(const jobs::v1::Job& job);

}  // namespace ordo::tests::harness

#endif  // ORDO_TESTS_HARNESS_DEPLOYMENT_H_
