#include "scheduler/server/archived_usage.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "scheduler/core/job.h"
#include "scheduler/past_usage.h"

namespace ordo::scheduler::server {

void ArchivedUsage::Put(const core::RowPtr& row) {
  base::MutexLock lock(mutex_);
  if (row->bytes.has_value()) {
    rows_[row->key] = row;
  } else {
    rows_.erase(row->key);
  }
}

usage::v1::ArchivedUsage& ArchivedUsage::RowOf(const std::string& queue,
                                               const std::string& owner,
                                               Change* change) const {
  // No queue has a slash in its name.
  const std::string key = absl::StrCat(queue, "/", owner);
  const auto changed = change->rows.find(key);
  if (changed != change->rows.end()) return changed->second;
  core::RowPtr before;
  size_t num_rows = 0;
  {
    base::MutexLock lock(mutex_);
    const auto found = rows_.find(key);
    if (found != rows_.end()) before = found->second;
    num_rows = rows_.size() + change->num_added;
  }
  if (before != nullptr) {
    return change->rows[key] = ParseUsageRow(*before);
  }
  // No queue is called so.
  if (num_rows >= kMaxUsageRows && queue != kOtherUsage) {
    return RowOf(kOtherUsage, kOtherUsage, change);
  }
  ++change->num_added;
  usage::v1::ArchivedUsage& added = change->rows[key];
  added.set_queue(queue);
  added.set_owner(owner);
  return added;
}

std::vector<core::RowPtr> ArchivedUsage::With(
    const std::vector<core::PastJob>& jobs) const {
  Change change;
  for (const core::PastJob& past : jobs) {
    const core::JobRecord& job = *past.job;
    if (job.attempts.empty()) continue;
    usage::v1::PastUsage* sum =
        RowOf(core::QueueOf(*job.facts->spec), job.facts->user, &change)
            .mutable_usage();
    if (job.earlier_usage != nullptr) AddDays(*job.earlier_usage, sum);
    for (const core::AttemptPtr& attempt : job.attempts) {
      AddAttempt(*attempt, sum);
    }
  }
  std::vector<core::RowPtr> rows;
  for (auto& [key, row] : change.rows) {
    FoldDays(kMaxUsageDaysOfArchived, row.mutable_usage());
    rows.push_back(std::make_shared<const core::Row>(
        core::Row{core::Row::Kind::kUsage, key, row.SerializeAsString()}));
  }
  return rows;
}

std::vector<core::RowPtr> ArchivedUsage::rows() const {
  std::vector<core::RowPtr> rows;
  base::MutexLock lock(mutex_);
  rows.reserve(rows_.size());
  for (const auto& [key, row] : rows_) rows.push_back(row);
  return rows;
}

usage::v1::ArchivedUsage ParseUsageRow(const core::Row& row) {
  usage::v1::ArchivedUsage usage;
  ORDO_CHECK(row.bytes.has_value() && usage.ParseFromString(*row.bytes))
      << row.key;
  return usage;
}

}  // namespace ordo::scheduler::server
