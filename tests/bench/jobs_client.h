#ifndef ORDO_TESTS_BENCH_JOBS_CLIENT_H_
#define ORDO_TESTS_BENCH_JOBS_CLIENT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/security/credentials.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"

// How the benchmarks of the control plane call it. Times are seconds. Each
// submission has a request id, as the command line sends it.

namespace ordo::tests::bench {

// A small training job. One that asks for a GPU stays queued in a deployment
// without workers that have one.
jobs::v1::JobSpec TrainingJob(const std::string& name,
                              const std::string& device);

// What jobs of a benchmark ask for.
enum class Specs {
  // All the same, but for their names.
  kShared,
  // Each has another seed than all others.
  kOwn,
};
inline constexpr Specs kAllSpecs[] = {Specs::kShared, Specs::kOwn};

// "shared" or "own", as figures say it.
const char* NameOf(Specs specs);

// 32 hexadecimal digits that follow no order, as those of the command line; the
// same for the same name of a job.
std::string RequestIdOf(const std::string& job);

// Creates `count` queued jobs, "<prefix>-0" and so on, one after the other; the
// seconds that each took.
absl::StatusOr<std::vector<double>> CreateEach(
    jobs::v1::JobsService::Stub& stub, const std::string& prefix, int count,
    Specs specs = Specs::kShared);

// Creates the jobs, one or more, in one call.
absl::Status CreateBatch(jobs::v1::JobsService::Stub& stub,
                         const std::vector<jobs::v1::JobSpec>& specs);

// Queued jobs that fill a store: "<prefix>-<batch>-<i>".
struct StoredJobs {
  std::string prefix;
  int batches = 1;
  // Of a batch.
  int size = 1;
  Specs specs = Specs::kShared;
};
absl::Status CreateQueued(jobs::v1::JobsService::Stub& stub,
                          const StoredJobs& jobs);

// Clients with a connection each.
class Clients {
 public:
  // `tls` as base::ConnectAlone takes it.
  Clients(const std::string& address, int count,
          const std::shared_ptr<grpc::ChannelCredentials>& tls = nullptr);

  int count() const { return static_cast<int>(stubs_.size()); }

  // Each client, on a thread of its own, creates so many queued jobs; the
  // seconds of all calls.
  absl::StatusOr<std::vector<double>> CreateAtOnce(const std::string& prefix,
                                                   int calls_of_each);

  // Keeps `outstanding` calls under way, spread over the connections, until
  // `count` jobs are created; the seconds from the first call to the last
  // answer.
  absl::StatusOr<double> CreateOutstanding(const std::string& prefix, int count,
                                           int outstanding, Specs specs);

  // Each client, on a thread of its own, makes so many calls that create `size`
  // jobs each; the seconds from the first call to the last answer.
  absl::StatusOr<double> CreateBatches(const std::string& prefix,
                                       int calls_of_each, int size,
                                       Specs specs);

 private:
  std::vector<std::unique_ptr<jobs::v1::JobsService::Stub>> stubs_;
};

// Calls `done` for each page of all jobs; the seconds that each page took.
absl::StatusOr<std::vector<double>> ListAll(
    jobs::v1::JobsService::Stub& stub, int page_size,
    const std::function<void(const jobs::v1::ListJobsResponse&)>& done);

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_JOBS_CLIENT_H_
