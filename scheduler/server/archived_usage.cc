#include "scheduler/server/archived_usage.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "scheduler/core/job.h"
#include "scheduler/past_usage.h"

namespace ordo::scheduler::server {

void ArchivedUsage::Put(const core::Row& row) {
  if (!row.bytes.has_value()) {
    rows_.erase(row.key);
    return;
  }
  // Written here, or read by the core at the start.
  ORDO_CHECK(rows_[row.key].ParseFromString(*row.bytes)) << row.key;
}

std::vector<core::RowPtr> ArchivedUsage::With(
    const std::vector<core::PastJob>& jobs) const {
  std::map<std::string, usage::v1::ArchivedUsage> changed;
  for (const core::PastJob& past : jobs) {
    const core::JobRecord& job = *past.job;
    if (job.attempts.empty()) continue;
    const std::string& queue = core::QueueOf(*job.facts->spec);
    const std::string& owner = job.facts->user;
    // No queue has a slash in its name.
    const std::string key = absl::StrCat(queue, "/", owner);
    const auto [row, is_first] = changed.try_emplace(key);
    usage::v1::ArchivedUsage& sum = row->second;
    if (is_first) {
      const auto before = rows_.find(key);
      if (before != rows_.end()) sum = before->second;
      sum.set_queue(queue);
      sum.set_owner(owner);
    }
    if (job.earlier_usage != nullptr) {
      AddDays(*job.earlier_usage, sum.mutable_usage());
    }
    for (const core::AttemptPtr& attempt : job.attempts) {
      AddAttempt(*attempt, sum.mutable_usage());
    }
  }
  std::vector<core::RowPtr> rows;
  for (auto& [key, sum] : changed) {
    FoldDays(kMaxUsageDaysOfArchived, sum.mutable_usage());
    rows.push_back(std::make_shared<const core::Row>(
        core::Row{core::Row::Kind::kUsage, key, sum.SerializeAsString()}));
  }
  return rows;
}

std::vector<usage::v1::ArchivedUsage> ArchivedUsage::List() const {
  std::vector<usage::v1::ArchivedUsage> all;
  for (const auto& [key, row] : rows_) all.push_back(row);
  return all;
}

}  // namespace ordo::scheduler::server
