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
#include "grpcpp/security/credentials.h"
#include "proto/ordo/config/v1/scheduler.pb.h"
#include "proto/ordo/config/v1/worker.pb.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"

namespace ordo::tests::harness {

// The path of one of our programs: in $ORDO_BIN, else in the current folder,
// where Bazel lays a test's data.
std::string Program(const std::string& name);

// What a deployment runs. Listening ports are kernel-chosen, on the host of
// `listen` in the configurations, else on loopback.
struct DeploymentOptions {
  // Everything lies below this folder, which exists.
  std::string folder;
  // Overrides of the defaults: folders, ports and names are filled in.
  config::v1::SchedulerConfig scheduler;
  // Of each worker; the first has its name, else they are worker-1 and so on.
  config::v1::WorkerConfig worker;
  // Changes that of one worker, by its number; null: all have the same.
  std::function<void(int number, config::v1::WorkerConfig* config)> each_worker;
  int num_workers = 1;
  // What workers are started through, such as nsenter with its arguments; it
  // becomes the worker.
  std::vector<std::string> worker_prefix;
  // What the harness calls the scheduler with; null: without TLS.
  std::shared_ptr<grpc::ChannelCredentials> tls;
  // Without it only the scheduler runs until StartWorker.
  bool start_workers = true;
};

// A scheduler and workers as separate processes of this machine, each of which
// can be killed and started again. Not thread-safe, but for the stub.
// What still runs is killed when the object goes.
class Deployment {
 public:
  static absl::StatusOr<std::unique_ptr<Deployment>> Start(
      const DeploymentOptions& options);
  ~Deployment();

  // Starts a process and waits until it has written its endpoints. Workers are
  // numbered from 1.
  absl::Status StartScheduler();
  absl::Status StartWorker(int number = 1);

  // Sends a signal and waits until the process has gone and is reaped.
  absl::StatusOr<base::ExitStatus> EndScheduler(int signal);
  absl::StatusOr<base::ExitStatus> EndWorker(int signal, int number = 1);

  // host:port; the scheduler keeps its port when it is started again.
  const std::string& api_address() const { return api_address_; }
  const std::string& scheduler_metrics() const { return scheduler_metrics_; }
  const base::ProcessId& scheduler_process() const { return scheduler_; }
  // Of the first worker.
  const std::string& worker_address() const { return workers_[0].address; }
  const std::string& worker_metrics() const { return workers_[0].metrics; }
  int num_workers() const { return static_cast<int>(workers_.size()); }
  // What a worker keeps on its own disk.
  std::string WorkerFolder(int number) const;
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
  struct Worker {
    base::ProcessId process;
    std::string address;
    std::string metrics;
  };

  explicit Deployment(const DeploymentOptions& options)
      : options_(options), workers_(options.num_workers) {}

  absl::StatusOr<base::ProcessId> Launch(
      const std::vector<std::string>& program, const std::string& part,
      const google::protobuf::Message& config);
  absl::StatusOr<std::map<std::string, std::string>> WaitForEndpoints(
      const std::string& part, const base::ProcessId& process);

  DeploymentOptions options_;
  base::ProcessId scheduler_;
  std::string api_address_;
  std::string scheduler_metrics_;
  std::vector<Worker> workers_;
  std::unique_ptr<jobs::v1::JobsService::Stub> jobs_;
};

// Lets time pass: for what looks at other processes, which tell nobody, and for
// what does something every now and then.
void Pass(absl::Duration duration);

// True for SUCCEEDED, FAILED and CANCELLED.
bool HasEnded(const jobs::v1::Job& job);

}  // namespace ordo::tests::harness

#endif  // ORDO_TESTS_HARNESS_DEPLOYMENT_H_
