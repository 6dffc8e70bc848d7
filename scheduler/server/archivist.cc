#include "scheduler/server/archivist.h"

#include <chrono>
#include <utility>

#include "base/status/status.h"
#include "scheduler/store/archive.h"

namespace ordo::scheduler::server {
namespace {

constexpr int kJobsATime = 1000;

}  // namespace

Archivist::Archivist(ArchivistOptions options) : options_(std::move(options)) {}

Archivist::~Archivist() { Stop(); }

bool Archivist::IsOn() const {
  return options_.retention.max_jobs >= 0 ||
         options_.retention.age != absl::InfiniteDuration();
}

bool Archivist::IsStopping() {
  base::MutexLock lock(mutex_);
  return stopping_;
}

absl::StatusOr<int64_t> Archivist::Move(std::vector<core::PastJob> expired) {
  const std::vector<core::PastJob> jobs = options_.claim(std::move(expired));
  if (jobs.empty()) return 0;
  // Opened each time: whoever looks after the file may have moved it away.
  auto archive =
      store::Archive::Open(*options_.files, options_.retention.archive);
  absl::Status status = archive.status();
  if (status.ok()) status = (*archive)->Append(jobs);
  if (status.ok()) status = options_.retire(jobs);
  options_.let_go();
  ORDO_RETURN_IF_ERROR(status);
  return static_cast<int64_t>(jobs.size());
}

absl::StatusOr<int64_t> Archivist::Look() {
  int64_t num_moved = 0;
  if (!IsOn()) return num_moved;
  store::ExpiredQuery query;
  if (options_.retention.age != absl::InfiniteDuration()) {
    query.ended_before_ns =
        absl::ToUnixNanos(options_.clock->Now() - options_.retention.age);
  }
  query.keep = options_.retention.max_jobs;
  query.limit = kJobsATime;
  absl::Status damage;
  while (!IsStopping()) {
    ORDO_ASSIGN_OR_RETURN(store::ExpiredJobs expired,
                          options_.reader->FindExpired(query));
    if (!expired.damage.empty()) {
      options_.on_damage(expired.damage);
      damage.Update(expired.damage.front());
    }
    if (!expired.last.has_value()) break;
    // Those that stay are passed over.
    query.after_end_ns = expired.last->end_ns;
    query.after_sequence = expired.last->sequence;
    if (expired.jobs.empty()) continue;
    ORDO_ASSIGN_OR_RETURN(const int64_t moved, Move(std::move(expired.jobs)));
    num_moved += moved;
  }
  ORDO_RETURN_IF_ERROR(damage);
  return num_moved;
}

void Archivist::Start() {
  if (IsOn()) thread_ = std::thread([this] { Run(); });
}

void Archivist::Run() {
  while (!IsStopping()) {
    options_.on_look(Look());
    const auto next = std::chrono::steady_clock::now() +
                      absl::ToChronoNanoseconds(options_.retention.period);
    base::MutexLock lock(mutex_);
    while (!stopping_ && changed_.WaitUntil(mutex_, next)) {
    }
  }
}

void Archivist::Stop() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace ordo::scheduler::server
