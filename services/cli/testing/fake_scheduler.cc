#include "services/cli/testing/fake_scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "base/digest/digest.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/status/details.h"
#include "grpcpp/server_builder.h"

namespace ordo::services::cli::testing {
namespace {

using jobs::v1::Job;
using SteadyClock = std::chrono::steady_clock;

constexpr size_t kPieceBytes = 5;  // Small, so that streams have several.

bool Ended(const Job& job) {
  return job.state() == Job::SUCCEEDED || job.state() == Job::FAILED ||
         job.state() == Job::CANCELLED;
}

grpc::Status NotFound(const std::string& name) {
  return base::ToGrpcStatus(absl::NotFoundError("there is no " + name));
}

}  // namespace

struct FakeScheduler::State {
  struct File {
    std::string content;
    size_t break_after = 0;
  };

  base::Mutex mutex;
  base::CondVar changed;
  // By resource name.
  std::map<std::string, Job> jobs;
  std::map<std::string, Job::State> archived;
  std::vector<std::string> order;  // Oldest first.
  std::map<std::string, std::string> request_ids;
  std::map<std::string, std::string> logs;
  std::map<std::string, std::string> metrics;
  std::map<std::string, int> watchers;
  std::string watch_to_break;  // Of which job; empty: none.
  int watches_to_refuse = 0;
  std::string watch_refusal;
  std::map<std::string, workers::v1::Worker> workers;
  std::map<std::string, checkpoints::v1::Checkpoint> checkpoints;
  std::map<std::string, reports::v1::Report> reports;
  std::map<std::string, File> files;  // "<name>:<path>"
  jobs::v1::ExplainResponse explanation;
  std::vector<jobs::v1::CreateJobRequest> create_requests;
  std::vector<jobs::v1::ListJobsRequest> list_requests;
  std::vector<std::string> cancelled;
  std::vector<int64_t> offsets;
  absl::Status refusal;
  Job::State created_state = Job::QUEUED;
  std::vector<std::string> notices;
  int answers_to_lose = 0;
  int answers_to_stall = 0;
  bool leaving = false;

  // Waits for a change for a short time, so that cancelled calls are noticed.
  void WaitABit() {
    changed.WaitUntil(mutex,
                      SteadyClock::now() + std::chrono::milliseconds(20));
  }

  grpc::Status Answer(const grpc::ServerContext& context) {
    if (answers_to_stall > 0) {
      --answers_to_stall;
      while (!context.IsCancelled() && !leaving) WaitABit();
    }
    if (answers_to_lose == 0) return grpc::Status::OK;
    --answers_to_lose;
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "lost");
  }

  void Put(Job job) {
    job.set_version(jobs[job.name()].version() + 1);
    if (job.version() == 1) order.push_back(job.name());
    job.set_sequence(static_cast<int64_t>(order.size()));
    jobs[job.name()] = std::move(job);
    changed.NotifyAll();
  }
};

class FakeScheduler::Jobs : public jobs::v1::JobsService::Service {
 public:
  explicit Jobs(State& state) : state_(state) {}

  grpc::Status CreateJob(grpc::ServerContext* context,
                         const jobs::v1::CreateJobRequest* request,
                         Job* response) override {
    base::MutexLock lock(state_.mutex);
    const grpc::Status status =
        Create(*request, base::GetCaller(*context), response);
    return status.ok() ? state_.Answer(*context) : status;
  }

  grpc::Status BatchCreateJobs(
      grpc::ServerContext* context,
      const jobs::v1::BatchCreateJobsRequest* request,
      jobs::v1::BatchCreateJobsResponse* response) override {
    base::MutexLock lock(state_.mutex);
    for (const auto& one : request->requests()) {
      const grpc::Status status =
          Create(one, base::GetCaller(*context), response->add_jobs());
      if (!status.ok()) return status;
    }
    return state_.Answer(*context);
  }

  grpc::Status GetJob(grpc::ServerContext* context,
                      const jobs::v1::GetJobRequest* request,
                      Job* response) override {
    base::MutexLock lock(state_.mutex);
    const auto found = state_.jobs.find(request->name());
    if (found == state_.jobs.end()) return NotFound(request->name());
    *response = found->second;
    return state_.Answer(*context);
  }

  grpc::Status ListJobs(grpc::ServerContext* context,
                        const jobs::v1::ListJobsRequest* request,
                        jobs::v1::ListJobsResponse* response) override {
    base::MutexLock lock(state_.mutex);
    state_.list_requests.push_back(*request);
    int index = static_cast<int>(state_.order.size());
    if (!request->page_token().empty())
      index = std::stoi(request->page_token());
    for (int i = 0; i < request->page_size() && index > 0; ++i) {
      const Job& job = state_.jobs[state_.order[--index]];
      // Of the terms of a filter only this one is understood.
      const bool is_asked_for =
          !absl::StartsWith(request->filter(), "parent = ") ||
          request->filter() ==
              absl::StrCat("parent = ",
                           absl::StripPrefix(job.parent(), "jobs/"));
      if (is_asked_for) *response->add_jobs() = job;
    }
    if (index > 0) response->set_next_page_token(absl::StrCat(index));
    return state_.Answer(*context);
  }

  grpc::Status CancelJob(grpc::ServerContext* context,
                         const jobs::v1::CancelJobRequest* request,
                         Job* response) override {
    base::MutexLock lock(state_.mutex);
    const auto found = state_.jobs.find(request->name());
    if (found == state_.jobs.end()) return NotFound(request->name());
    if (Ended(found->second)) {
      return base::ToGrpcStatus(
          absl::FailedPreconditionError(request->name() + " has ended"));
    }
    Job job = found->second;
    job.set_state(Job::CANCELLED);
    state_.cancelled.push_back(job.name());
    state_.Put(job);
    *response = job;
    return state_.Answer(*context);
  }

  grpc::Status WatchJob(
      grpc::ServerContext* context, const jobs::v1::WatchJobRequest* request,
      grpc::ServerWriter<jobs::v1::WatchJobResponse>* writer) override {
    base::MutexLock lock(state_.mutex);
    if (state_.watches_to_refuse > 0) {
      --state_.watches_to_refuse;
      return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                          state_.watch_refusal);
    }
    const auto archived = state_.archived.find(request->name());
    if (archived != state_.archived.end()) {
      return base::ToGrpcStatus(base::WithErrorInfo(
          absl::NotFoundError("it was archived"),
          {"JOB_ARCHIVED",
           "ordo",
           {{"state", Job::State_Name(archived->second)}}}));
    }
    if (state_.jobs.count(request->name()) == 0) {
      return NotFound(request->name());
    }
    ++state_.watchers[request->name()];
    state_.changed.NotifyAll();
    int64_t version = request->from_version();
    while (!context->IsCancelled() && !state_.leaving) {
      const Job& job = state_.jobs[request->name()];
      if (job.version() != version) {
        version = job.version();
        jobs::v1::WatchJobResponse response;
        *response.mutable_job() = job;
        writer->Write(response);
        if (Ended(job)) return grpc::Status::OK;
        if (state_.watch_to_break == job.name()) {
          state_.watch_to_break.clear();
          break;
        }
      }
      state_.WaitABit();
    }
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "leaving");
  }

  grpc::Status ReadLogs(
      grpc::ServerContext* context, const jobs::v1::ReadLogsRequest* request,
      grpc::ServerWriter<jobs::v1::ReadLogsResponse>* writer) override {
    base::MutexLock lock(state_.mutex);
    if (state_.jobs.count(request->name()) == 0) {
      return NotFound(request->name());
    }
    ++state_.watchers[request->name()];
    state_.offsets.push_back(request->offset());
    state_.changed.NotifyAll();
    size_t offset = static_cast<size_t>(request->offset());
    while (!context->IsCancelled() && !state_.leaving) {
      const std::string& log = request->metrics()
                                   ? state_.metrics[request->name()]
                                   : state_.logs[request->name()];
      while (offset < log.size()) {
        jobs::v1::ReadLogsResponse response;
        response.set_data(log.substr(offset, kPieceBytes));
        response.set_offset(static_cast<int64_t>(offset));
        response.set_attempt(1);
        writer->Write(response);
        offset += response.data().size();
      }
      if (!request->follow() || Ended(state_.jobs[request->name()])) {
        return grpc::Status::OK;
      }
      state_.WaitABit();
    }
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "leaving");
  }

  grpc::Status Explain(grpc::ServerContext* context,
                       const jobs::v1::ExplainRequest* request,
                       jobs::v1::ExplainResponse* response) override {
    base::MutexLock lock(state_.mutex);
    if (state_.jobs.count(request->name()) == 0) {
      return NotFound(request->name());
    }
    *response = state_.explanation;
    return state_.Answer(*context);
  }

 private:
  grpc::Status Create(const jobs::v1::CreateJobRequest& request,
                      const base::Caller& caller, Job* response) {
    state_.create_requests.push_back(request);
    state_.changed.NotifyAll();
    if (!state_.refusal.ok()) return base::ToGrpcStatus(state_.refusal);
    const std::string name = "jobs/" + request.job().spec().name();
    if (state_.jobs.count(name) > 0) {
      if (state_.request_ids[request.request_id()] != name) {
        return base::ToGrpcStatus(
            absl::AlreadyExistsError(name + " exists already"));
      }
      *response = state_.jobs[name];
      return grpc::Status::OK;
    }
    Job job;
    job.set_name(name);
    *job.mutable_spec() = request.job().spec();
    job.set_state(state_.created_state);
    job.mutable_owner()->set_user(caller.user);
    job.set_traceparent(caller.trace_parent);
    if (job.spec().hold()) job.set_held_by(caller.user);
    job.mutable_notices()->Assign(state_.notices.begin(), state_.notices.end());
    state_.request_ids[request.request_id()] = name;
    state_.Put(job);
    *response = state_.jobs[name];
    return grpc::Status::OK;
  }

  State& state_;
};

namespace {

// Streams a file in pieces.
template <typename State, typename Request, typename Response>
grpc::Status StreamFile(State& state, const Request& request,
                        grpc::ServerWriter<Response>* writer) {
  base::MutexLock lock(state.mutex);
  state.offsets.push_back(request.offset());
  const std::string key = absl::StrCat(request.name(), ":", request.path());
  const auto found = state.files.find(key);
  if (found == state.files.end()) return NotFound(key);
  auto& file = found->second;
  for (size_t at = static_cast<size_t>(request.offset());
       at < file.content.size();) {
    if (file.break_after > 0 && at >= file.break_after) {
      file.break_after = 0;
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "broken");
    }
    Response response;
    response.set_data(file.content.substr(at, kPieceBytes));
    response.set_offset(static_cast<int64_t>(at));
    writer->Write(response);
    at += response.data().size();
  }
  return grpc::Status::OK;
}

// A listing in one page.
template <typename Map, typename Add>
void ListOf(const Map& map, const std::string& parent, const Add& add) {
  for (const auto& [name, value] : map) {
    if (parent == "jobs/-" || name.rfind(parent + "/", 0) == 0) *add() = value;
  }
}

}  // namespace

class FakeScheduler::Checkpoints
    : public checkpoints::v1::CheckpointsService::Service {
 public:
  explicit Checkpoints(State& state) : state_(state) {}

  grpc::Status GetCheckpoint(
      grpc::ServerContext*,
      const checkpoints::v1::GetCheckpointRequest* request,
      checkpoints::v1::Checkpoint* response) override {
    base::MutexLock lock(state_.mutex);
    const std::string& name = request->name();
    if (name.size() > 7 && name.substr(name.size() - 7) == "/latest") {
      const std::string folder = name.substr(0, name.size() - 6);
      for (const auto& [each, checkpoint] : state_.checkpoints) {
        if (each.rfind(folder, 0) == 0 &&
            checkpoint.step() >= response->step()) {
          *response = checkpoint;
        }
      }
      return response->name().empty() ? NotFound(name) : grpc::Status::OK;
    }
    const auto found = state_.checkpoints.find(name);
    if (found == state_.checkpoints.end()) return NotFound(name);
    *response = found->second;
    return grpc::Status::OK;
  }

  grpc::Status ListCheckpoints(
      grpc::ServerContext*,
      const checkpoints::v1::ListCheckpointsRequest* request,
      checkpoints::v1::ListCheckpointsResponse* response) override {
    base::MutexLock lock(state_.mutex);
    ListOf(state_.checkpoints, request->parent(),
           [&] { return response->add_checkpoints(); });
    return grpc::Status::OK;
  }

  grpc::Status ReadFile(
      grpc::ServerContext*, const checkpoints::v1::ReadFileRequest* request,
      grpc::ServerWriter<checkpoints::v1::ReadFileResponse>* writer) override {
    return StreamFile(state_, *request, writer);
  }

 private:
  State& state_;
};

class FakeScheduler::Reports : public reports::v1::ReportsService::Service {
 public:
  explicit Reports(State& state) : state_(state) {}

  grpc::Status GetReport(grpc::ServerContext*,
                         const reports::v1::GetReportRequest* request,
                         reports::v1::Report* response) override {
    base::MutexLock lock(state_.mutex);
    const auto found = state_.reports.find(request->name());
    if (found == state_.reports.end()) return NotFound(request->name());
    *response = found->second;
    return grpc::Status::OK;
  }

  grpc::Status ListReports(
      grpc::ServerContext*, const reports::v1::ListReportsRequest* request,
      reports::v1::ListReportsResponse* response) override {
    base::MutexLock lock(state_.mutex);
    ListOf(state_.reports, request->parent(),
           [&] { return response->add_reports(); });
    return grpc::Status::OK;
  }

  grpc::Status ReadFile(
      grpc::ServerContext*, const reports::v1::ReadFileRequest* request,
      grpc::ServerWriter<reports::v1::ReadFileResponse>* writer) override {
    return StreamFile(state_, *request, writer);
  }

 private:
  State& state_;
};

class FakeScheduler::Workers : public workers::v1::WorkersService::Service {
 public:
  explicit Workers(State& state) : state_(state) {}

  grpc::Status GetWorker(grpc::ServerContext*,
                         const workers::v1::GetWorkerRequest* request,
                         workers::v1::Worker* response) override {
    base::MutexLock lock(state_.mutex);
    const auto found = state_.workers.find(request->name());
    if (found == state_.workers.end()) return NotFound(request->name());
    *response = found->second;
    return grpc::Status::OK;
  }

  grpc::Status ListWorkers(
      grpc::ServerContext*, const workers::v1::ListWorkersRequest*,
      workers::v1::ListWorkersResponse* response) override {
    base::MutexLock lock(state_.mutex);
    for (const auto& [name, worker] : state_.workers) {
      *response->add_workers() = worker;
    }
    return grpc::Status::OK;
  }

 private:
  State& state_;
};

FakeScheduler::FakeScheduler()
    : state_(std::make_unique<State>()),
      jobs_(std::make_unique<Jobs>(*state_)),
      checkpoints_(std::make_unique<Checkpoints>(*state_)),
      reports_(std::make_unique<Reports>(*state_)),
      workers_(std::make_unique<Workers>(*state_)) {
  Serve("127.0.0.1:0");
}

FakeScheduler::~FakeScheduler() { Leave(); }

void FakeScheduler::Serve(const std::string& address) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(jobs_.get());
  builder.RegisterService(checkpoints_.get());
  builder.RegisterService(reports_.get());
  builder.RegisterService(workers_.get());
  server_ = builder.BuildAndStart();
  ORDO_CHECK(server_ != nullptr && port != 0) << "cannot listen on " << address;
  address_ = absl::StrCat("127.0.0.1:", port);
}

void FakeScheduler::Leave() {
  if (server_ == nullptr) return;
  {
    base::MutexLock lock(state_->mutex);
    state_->leaving = true;
    state_->changed.NotifyAll();
  }
  server_->Shutdown(std::chrono::system_clock::time_point());
  server_->Wait();
  server_.reset();
}

void FakeScheduler::ComeBack() {
  {
    base::MutexLock lock(state_->mutex);
    state_->leaving = false;
    state_->watchers.clear();
  }
  Serve(address_);
}

void FakeScheduler::ArchiveJob(const std::string& id, Job::State state) {
  base::MutexLock lock(state_->mutex);
  state_->archived["jobs/" + id] = state;
}

void FakeScheduler::SetJob(const std::string& id, Job::State state,
                           const std::function<void(Job*)>& change) {
  base::MutexLock lock(state_->mutex);
  const std::string name = "jobs/" + id;
  Job job;
  const auto found = state_->jobs.find(name);
  if (found != state_->jobs.end()) job = found->second;
  job.set_name(name);
  job.mutable_spec()->set_name(id);
  job.set_state(state);
  if (change != nullptr) change(&job);
  state_->Put(job);
}

Job FakeScheduler::GetJob(const std::string& id) {
  base::MutexLock lock(state_->mutex);
  return state_->jobs["jobs/" + id];
}

void FakeScheduler::EndSubmittedIn(Job::State state) {
  base::MutexLock lock(state_->mutex);
  state_->created_state = state;
}

void FakeScheduler::NoticeSubmitted(const std::string& notice) {
  base::MutexLock lock(state_->mutex);
  state_->notices = {notice};
}

void FakeScheduler::RefuseCreate(absl::Status status) {
  base::MutexLock lock(state_->mutex);
  state_->refusal = std::move(status);
}

void FakeScheduler::LoseAnswers(int count) {
  base::MutexLock lock(state_->mutex);
  state_->answers_to_lose = count;
}

void FakeScheduler::StallAnswers(int count) {
  base::MutexLock lock(state_->mutex);
  state_->answers_to_stall = count;
}

void FakeScheduler::AddWorker(const workers::v1::Worker& worker) {
  base::MutexLock lock(state_->mutex);
  state_->workers[worker.name()] = worker;
}

void FakeScheduler::AddCheckpoint(
    const checkpoints::v1::Checkpoint& checkpoint) {
  base::MutexLock lock(state_->mutex);
  state_->checkpoints[checkpoint.name()] = checkpoint;
}

void FakeScheduler::AddReport(reports::v1::Report report,
                              const std::map<std::string, std::string>& files) {
  for (const auto& [path, content] : files) {
    auto* info = report.add_files();
    info->set_path(path);
    info->set_size_bytes(static_cast<int64_t>(content.size()));
    info->set_sha256(base::Sha256Hex(content));
    SetFile(report.name(), path, content);
  }
  base::MutexLock lock(state_->mutex);
  state_->reports[report.name()] = report;
}

void FakeScheduler::SetFile(const std::string& name, const std::string& path,
                            const std::string& content, size_t break_after) {
  base::MutexLock lock(state_->mutex);
  state_->files[absl::StrCat(name, ":", path)] = {content, break_after};
}

void FakeScheduler::AppendLog(const std::string& id, const std::string& text) {
  base::MutexLock lock(state_->mutex);
  state_->logs["jobs/" + id] += text;
  state_->changed.NotifyAll();
}

void FakeScheduler::AppendMetrics(const std::string& id,
                                  const std::string& text) {
  base::MutexLock lock(state_->mutex);
  state_->metrics["jobs/" + id] += text;
  state_->changed.NotifyAll();
}

void FakeScheduler::SetExplanation(
    const jobs::v1::ExplainResponse& explanation) {
  base::MutexLock lock(state_->mutex);
  state_->explanation = explanation;
}

std::vector<jobs::v1::CreateJobRequest> FakeScheduler::create_requests() {
  base::MutexLock lock(state_->mutex);
  return state_->create_requests;
}

std::vector<jobs::v1::ListJobsRequest> FakeScheduler::list_requests() {
  base::MutexLock lock(state_->mutex);
  return state_->list_requests;
}

std::vector<std::string> FakeScheduler::cancelled() {
  base::MutexLock lock(state_->mutex);
  return state_->cancelled;
}

std::vector<int64_t> FakeScheduler::offsets() {
  base::MutexLock lock(state_->mutex);
  return state_->offsets;
}

bool FakeScheduler::WaitForCreateRequests(size_t count) {
  base::MutexLock lock(state_->mutex);
  const auto deadline = SteadyClock::now() + std::chrono::seconds(10);
  while (state_->create_requests.size() < count) {
    if (!state_->changed.WaitUntil(state_->mutex, deadline)) return false;
  }
  return true;
}

void FakeScheduler::BreakNextWatch(const std::string& id) {
  base::MutexLock lock(state_->mutex);
  state_->watch_to_break = "jobs/" + id;
}

void FakeScheduler::RefuseWatches(int count, const std::string& message) {
  base::MutexLock lock(state_->mutex);
  state_->watches_to_refuse = count;
  state_->watch_refusal = message;
}

bool FakeScheduler::WaitForWatcher(const std::string& id, int count) {
  base::MutexLock lock(state_->mutex);
  const auto deadline = SteadyClock::now() + std::chrono::seconds(10);
  while (state_->watchers["jobs/" + id] < count) {
    if (!state_->changed.WaitUntil(state_->mutex, deadline)) return false;
  }
  return true;
}

}  // namespace ordo::services::cli::testing
