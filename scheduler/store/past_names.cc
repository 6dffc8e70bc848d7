#include "scheduler/store/past_names.h"

#include <iterator>
#include <utility>

#include "absl/hash/hash.h"
#include "base/status/status.h"

namespace ordo::scheduler::store {
namespace {

struct Part {
  PastNames::Kind kind;
  const char* sql;
};

// By indexes that have all of it. Jobs that have not ended are among them: they
// may end.
constexpr Part kParts[] = {
    {PastNames::Kind::kJob,
     "SELECT name FROM jobs WHERE name > ? ORDER BY name LIMIT ?"},
    {PastNames::Kind::kRequest,
     "SELECT request_id FROM jobs INDEXED BY job_requests "
     "WHERE request_id > ? AND request_id <> '' ORDER BY request_id LIMIT ?"},
    {PastNames::Kind::kJob,
     "SELECT name FROM retired WHERE name > ? ORDER BY name LIMIT ?"},
    {PastNames::Kind::kRequest,
     "SELECT request_id FROM retired INDEXED BY retired_requests "
     "WHERE request_id > ? AND request_id <> '' ORDER BY request_id LIMIT ?"},
};

uint32_t HashOf(PastNames::Kind kind, std::string_view name) {
  using Key = std::pair<int, std::string_view>;
  return static_cast<uint32_t>(
      absl::Hash<Key>()(Key(static_cast<int>(kind), name)));
}

}  // namespace

void PastNames::Add(Kind kind, std::string_view name) {
  if (name.empty()) return;
  base::MutexLock lock(mutex_);
  if (given_up_) return;
  hashes_.insert(HashOf(kind, name));
  if (hashes_.size() > kMaxNames) ForgetAll();
}

void PastNames::SetComplete() {
  base::MutexLock lock(mutex_);
  complete_ = true;
}

void PastNames::GiveUp() {
  base::MutexLock lock(mutex_);
  ForgetAll();
}

void PastNames::ForgetAll() {
  given_up_ = true;
  hashes_ = {};
}

bool PastNames::MayHave(Kind kind, std::string_view name) const {
  base::MutexLock lock(mutex_);
  return !complete_ || given_up_ || hashes_.contains(HashOf(kind, name));
}

absl::StatusOr<std::unique_ptr<PastNamesScan>> PastNamesScan::Make(
    Database& database, PastNames& names) {
  std::unique_ptr<PastNamesScan> scan(new PastNamesScan(database, names));
  ORDO_RETURN_IF_ERROR(scan->Prepare());
  return scan;
}

absl::Status PastNamesScan::Prepare() {
  static_assert(std::size(kParts) == kNumParts);
  for (size_t part = 0; part < kNumParts; ++part) {
    ORDO_ASSIGN_OR_RETURN(queries_[part], database_.Prepare(kParts[part].sql));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> PastNamesScan::Read(size_t part, int limit) {
  Statement& query = *queries_[part];
  query.BindText(1, last_);
  query.BindInt(2, limit);
  int num_names = 0;
  absl::StatusOr<bool> row = query.Step();
  for (; row.ok() && *row; row = query.Step()) {
    names_.Add(kParts[part].kind, query.View(0));
    if (++num_names == limit) last_ = query.Bytes(0);
  }
  query.Reset();
  ORDO_RETURN_IF_ERROR(row);
  return num_names;
}

void PastNamesScan::Step() {
  int left = kStepNames;
  while (part_ < kNumParts && left > 0) {
    const absl::StatusOr<int> num_names = Read(part_, left);
    if (!num_names.ok()) {
      part_ = kNumParts;
      names_.GiveUp();
      return;
    }
    // With as many as asked for, there may be more.
    if (*num_names == left) return;
    left -= *num_names;
    last_.clear();
    if (++part_ == kNumParts) names_.SetComplete();
  }
}

}  // namespace ordo::scheduler::store
