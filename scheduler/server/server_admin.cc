// What Server does for those who run a cluster: queues, workers and tokens.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/core/queues.h"
#include "scheduler/server/archived_usage.h"
#include "scheduler/server/refusals.h"
#include "scheduler/server/server.h"

namespace ordo::scheduler::server {
namespace {

// That wait for a commit; each is of a person.
constexpr int64_t kMaxAdminCalls = 1000;

}  // namespace

absl::Status Server::RefusesAdmin() const {
  if (draining_) return Leaving();
  if (full_) return NoRoom(/*has_request_id=*/false);
  if (admin_calls_.size() >= kMaxAdminCalls) {
    return TooManyWait(admin_calls_.size(), /*has_request_id=*/false);
  }
  return absl::OkStatus();
}

void Server::CallAdmin(const std::function<core::Event(uint64_t call)>& make,
                       AdminCalls::Callback done) {
  absl::Status refused;
  {
    base::MutexLock lock(mutex_);
    refused = RefusesAdmin();
    if (refused.ok()) {
      const uint64_t call = next_call_++;
      admin_calls_.Add(call, std::move(done));
      ApplyLocked(make(call)).IgnoreError();  // Answered by the writer.
      return;
    }
  }
  AdminCalls::Refuse(done, refused);
}

void Server::PutToken(const std::string& sha256,
                      const std::optional<access::v1::Token>& token,
                      TokenCallback done) {
  absl::Status refused;
  {
    base::MutexLock lock(mutex_);
    refused = RefusesAdmin();
    if (refused.ok()) {
      core::Row row{core::Row::Kind::kToken, sha256, std::nullopt};
      if (token.has_value()) row.bytes = token->SerializeAsString();
      const uint64_t call = next_call_++;
      admin_calls_.Add(call, std::move(done));
      core::Effects effects;
      effects.push_back(
          core::Record{std::make_shared<const core::Row>(std::move(row))});
      effects.push_back(core::AnswerRow{call});
      in_flight_.Add(effects);
      writer_->Append(std::move(effects));
      return;
    }
  }
  AdminCalls::Refuse(done, refused);
}

std::vector<StoredToken> Server::ListTokens() const {
  return view_.ListTokens();
}

void Server::CordonWorker(const std::string& worker, const Author& author,
                          WorkerCallback done) {
  using Change = core::ChangeWorker;
  CallAdmin(
      [&](uint64_t call) {
        return Change{call, Change::Verb::kCordon, worker, {}, author};
      },
      std::move(done));
}

void Server::DrainWorker(const std::string& worker, absl::Time at,
                         const Author& author, WorkerCallback done) {
  using Change = core::ChangeWorker;
  CallAdmin(
      [&](uint64_t call) {
        return Change{call, Change::Verb::kDrain, worker, at, author};
      },
      std::move(done));
}

void Server::UncordonWorker(const std::string& worker, const Author& author,
                            WorkerCallback done) {
  using Change = core::ChangeWorker;
  CallAdmin(
      [&](uint64_t call) {
        return Change{call, Change::Verb::kUncordon, worker, {}, author};
      },
      std::move(done));
}

void Server::ReleaseDevice(const std::string& worker, const std::string& device,
                           const Author& author, WorkerCallback done) {
  using Change = core::ChangeWorker;
  CallAdmin(
      [&](uint64_t call) {
        return Change{call, Change::Verb::kRelease, worker, {}, author, device};
      },
      std::move(done));
}

void Server::CreateQueue(const queues::v1::Queue& queue, const Author& author,
                         QueueCallback done) {
  using Change = core::ChangeQueue;
  CallAdmin(
      [&](uint64_t call) {
        return Change{call, Change::Verb::kCreate, queue, author};
      },
      std::move(done));
}

void Server::UpdateQueue(const queues::v1::Queue& queue, const Author& author,
                         QueueCallback done) {
  using Change = core::ChangeQueue;
  CallAdmin(
      [&](uint64_t call) {
        return Change{call, Change::Verb::kUpdate, queue, author};
      },
      std::move(done));
}

void Server::DeleteQueue(const std::string& queue, const std::string& etag,
                         const Author& author, QueueCallback done) {
  using Change = core::ChangeQueue;
  queues::v1::Queue named;
  named.set_name(core::QueueName(queue));
  named.set_etag(etag);
  CallAdmin(
      [&](uint64_t call) {
        return Change{call, Change::Verb::kDelete, named, author};
      },
      std::move(done));
}

absl::StatusOr<queues::v1::Queue> Server::GetQueue(
    const std::string& queue) const {
  return view_.GetQueue(queue);
}

absl::StatusOr<Listing<queues::v1::Queue>> Server::ListQueues(
    const Page& page) const {
  return view_.ListQueues(page);
}

absl::StatusOr<workers::v1::Worker> Server::GetWorker(
    const std::string& worker) const {
  return view_.GetWorker(worker);
}

absl::StatusOr<Listing<workers::v1::Worker>> Server::ListWorkers(
    const Page& page) const {
  return view_.ListWorkers(page);
}

void Server::ForEachArchivedUsage(const ArchivedUsageCallback& take) const {
  for (const core::RowPtr& row : view_.archived_usage().rows()) {
    take(ParseUsageRow(*row));
  }
}

}  // namespace ordo::scheduler::server
