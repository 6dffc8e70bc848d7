#include "tests/bench/jobs_client.h"

#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/mutex.h"
#include "base/random/random.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/status/status.h"

namespace ordo::tests::bench {
namespace {

using jobs::v1::BatchCreateJobsRequest;
using jobs::v1::CreateJobRequest;
using jobs::v1::Job;
using jobs::v1::JobSpec;
using jobs::v1::JobsService;

constexpr absl::Duration kCallTimeout = absl::Minutes(1);

void Prepare(grpc::ClientContext* context) {
  base::CallOptions call;
  call.timeout = kCallTimeout;
  // A connection may fail at its first try on a busy machine.
  call.wait_for_ready = true;
  base::PrepareCall(call, context);
}

double SecondsSince(absl::Time start) {
  return absl::ToDoubleSeconds(absl::Now() - start);
}

// One that stays queued in a deployment without GPUs.
JobSpec QueuedJob(const std::string& name, Specs specs) {
  JobSpec spec = TrainingJob(name, "cuda");
  if (specs == Specs::kOwn) {
    spec.mutable_training()->set_seed(base::RandomStream(0, name).Bits(0));
  }
  return spec;
}

CreateJobRequest RequestFor(JobSpec spec, std::string id) {
  CreateJobRequest request;
  *request.mutable_job()->mutable_spec() = std::move(spec);
  request.set_request_id(std::move(id));
  return request;
}

CreateJobRequest RequestForQueued(const std::string& name, Specs specs) {
  return RequestFor(QueuedJob(name, specs), RequestIdOf(name));
}

// One run of Clients::CreateOutstanding. Calls are made in the answers of those
// before them, on gRPC's threads.
class Outstanding {
 public:
  Outstanding(const std::string& prefix, int count, Specs specs)
      : prefix_(prefix), count_(count), specs_(specs) {}

  // Another call over this connection, if there is one to make.
  void Next(JobsService::Stub& stub) {
    int number = 0;
    {
      base::MutexLock lock(mutex_);
      if (next_ == count_ || !error_.ok()) return;
      number = next_++;
      ++under_way_;
    }
    auto call = std::make_shared<Call>();
    Prepare(&call->context);
    call->request =
        RequestForQueued(absl::StrCat(prefix_, "-", number), specs_);
    stub.async()->CreateJob(&call->context, &call->request, &call->response,
                            [this, call, &stub](const grpc::Status& status) {
                              {
                                base::MutexLock lock(mutex_);
                                error_.Update(base::FromGrpcStatus(status));
                              }
                              Next(stub);
                              base::MutexLock lock(mutex_);
                              if (--under_way_ == 0) changed_.NotifyAll();
                            });
  }

  absl::Status Wait() {
    base::MutexLock lock(mutex_);
    while (under_way_ > 0) changed_.Wait(mutex_);
    return error_;
  }

 private:
  struct Call {
    grpc::ClientContext context;
    CreateJobRequest request;
    Job response;
  };

  const std::string prefix_;
  const int count_;
  const Specs specs_;
  base::Mutex mutex_;
  base::CondVar changed_;
  int next_ ORDO_GUARDED_BY(mutex_) = 0;
  int under_way_ ORDO_GUARDED_BY(mutex_) = 0;
  absl::Status error_ ORDO_GUARDED_BY(mutex_);
};

// As the command line: one id for all, with the number of each.
BatchCreateJobsRequest BatchOf(const std::vector<JobSpec>& jobs) {
  const std::string id = RequestIdOf(jobs.front().name());
  BatchCreateJobsRequest request;
  for (size_t i = 0; i < jobs.size(); ++i) {
    *request.add_requests() = RequestFor(jobs[i], absl::StrCat(id, "/", i + 1));
  }
  return request;
}

// "<prefix>-0" and so on.
std::vector<JobSpec> QueuedJobs(const std::string& prefix, int count,
                                Specs specs) {
  std::vector<JobSpec> jobs;
  for (int i = 0; i < count; ++i) {
    jobs.push_back(QueuedJob(absl::StrCat(prefix, "-", i), specs));
  }
  return jobs;
}

absl::Status Send(JobsService::Stub& stub,
                  const BatchCreateJobsRequest& request) {
  grpc::ClientContext context;
  Prepare(&context);
  jobs::v1::BatchCreateJobsResponse response;
  return base::FromGrpcStatus(
      stub.BatchCreateJobs(&context, request, &response));
}

}  // namespace

JobSpec TrainingJob(const std::string& name, const std::string& device) {
  JobSpec spec;
  spec.set_kind(JobSpec::TRAIN);
  spec.set_name(name);
  spec.mutable_encoding()->set_name("rope");
  spec.mutable_data()->set_task("addition");
  spec.mutable_training()->set_steps(1);
  spec.mutable_resources()->set_device(device);
  return spec;
}

const char* NameOf(Specs specs) {
  return specs == Specs::kOwn ? "own" : "shared";
}

std::string RequestIdOf(const std::string& job) {
  const base::RandomStream stream(1, job);
  return absl::StrCat(absl::Hex(stream.Bits(0), absl::kZeroPad16),
                      absl::Hex(stream.Bits(1), absl::kZeroPad16));
}

absl::StatusOr<std::vector<double>> CreateEach(JobsService::Stub& stub,
                                               const std::string& prefix,
                                               int count, Specs specs) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    grpc::ClientContext context;
    Prepare(&context);
    const CreateJobRequest request =
        RequestForQueued(absl::StrCat(prefix, "-", i), specs);
    Job job;
    const absl::Time start = absl::Now();
    ORDO_RETURN_IF_ERROR(
        base::FromGrpcStatus(stub.CreateJob(&context, request, &job)));
    times.push_back(SecondsSince(start));
  }
  return times;
}

absl::Status CreateBatch(JobsService::Stub& stub,
                         const std::vector<JobSpec>& specs) {
  return Send(stub, BatchOf(specs));
}

absl::Status CreateQueued(JobsService::Stub& stub, const StoredJobs& jobs) {
  for (int batch = 0; batch < jobs.batches; ++batch) {
    const std::string prefix = absl::StrCat(jobs.prefix, "-", batch);
    ORDO_RETURN_IF_ERROR(
        CreateBatch(stub, QueuedJobs(prefix, jobs.size, jobs.specs)));
  }
  return absl::OkStatus();
}

Clients::Clients(const std::string& address, int count,
                 const std::shared_ptr<grpc::ChannelCredentials>& tls) {
  for (int i = 0; i < count; ++i) {
    stubs_.push_back(JobsService::NewStub(base::ConnectAlone(address, tls)));
  }
}

absl::StatusOr<std::vector<double>> Clients::CreateAtOnce(
    const std::string& prefix, int calls_of_each) {
  std::vector<absl::StatusOr<std::vector<double>>> results(stubs_.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < stubs_.size(); ++i) {
    threads.emplace_back([&, i] {
      results[i] =
          CreateEach(*stubs_[i], absl::StrCat(prefix, "-", i), calls_of_each);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<double> all;
  for (const auto& result : results) {
    ORDO_RETURN_IF_ERROR(result.status());
    all.insert(all.end(), result->begin(), result->end());
  }
  return all;
}

absl::StatusOr<double> Clients::CreateOutstanding(const std::string& prefix,
                                                  int count, int outstanding,
                                                  Specs specs) {
  Outstanding run(prefix, count, specs);
  const absl::Time start = absl::Now();
  for (int i = 0; i < outstanding; ++i) run.Next(*stubs_[i % stubs_.size()]);
  ORDO_RETURN_IF_ERROR(run.Wait());
  return SecondsSince(start);
}

absl::StatusOr<double> Clients::CreateBatches(const std::string& prefix,
                                              int calls_of_each, int size,
                                              Specs specs) {
  std::vector<std::vector<BatchCreateJobsRequest>> requests(stubs_.size());
  for (size_t i = 0; i < stubs_.size(); ++i) {
    for (int call = 0; call < calls_of_each; ++call) {
      requests[i].push_back(BatchOf(
          QueuedJobs(absl::StrCat(prefix, "-", i, "-", call), size, specs)));
    }
  }
  std::vector<absl::Status> results(stubs_.size());
  std::vector<std::thread> threads;
  const absl::Time start = absl::Now();
  for (size_t i = 0; i < stubs_.size(); ++i) {
    threads.emplace_back([&, i] {
      for (const BatchCreateJobsRequest& request : requests[i]) {
        results[i].Update(Send(*stubs_[i], request));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = SecondsSince(start);
  for (const absl::Status& result : results) ORDO_RETURN_IF_ERROR(result);
  return seconds;
}

absl::StatusOr<std::vector<double>> ListAll(
    JobsService::Stub& stub, int page_size,
    const std::function<void(const jobs::v1::ListJobsResponse&)>& done) {
  std::vector<double> times;
  jobs::v1::ListJobsRequest request;
  request.set_page_size(page_size);
  do {
    grpc::ClientContext context;
    Prepare(&context);
    jobs::v1::ListJobsResponse response;
    const absl::Time start = absl::Now();
    ORDO_RETURN_IF_ERROR(
        base::FromGrpcStatus(stub.ListJobs(&context, request, &response)));
    times.push_back(SecondsSince(start));
    done(response);
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return times;
}

}  // namespace ordo::tests::bench
