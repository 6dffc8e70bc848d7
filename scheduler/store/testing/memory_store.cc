#include "scheduler/store/testing/memory_store.h"

#include <variant>

namespace ordo::scheduler::store::testing {

void Memory::Fail(const absl::Status& status) {
  base::MutexLock lock(mutex_);
  failure_ = status;
}

void Memory::Hold() {
  base::MutexLock lock(mutex_);
  held_ = true;
}

void Memory::Continue() {
  base::MutexLock lock(mutex_);
  held_ = false;
  changed_.NotifyAll();
}

int Memory::num_begun() const {
  base::MutexLock lock(mutex_);
  return num_begun_;
}

void Memory::WaitUntilBegun(int count) {
  base::MutexLock lock(mutex_);
  while (num_begun_ < count) changed_.Wait(mutex_);
}

int Memory::num_committed() const {
  base::MutexLock lock(mutex_);
  return num_committed_;
}

absl::StatusOr<Contents> MemoryStore::Load() {
  base::MutexLock lock(memory_->mutex_);
  Contents contents;
  contents.epoch = ++memory_->epoch_;
  for (const auto& [sequence, job] : memory_->jobs_) {
    contents.records.jobs.push_back(job);
  }
  for (const auto& [name, checkpoint] : memory_->checkpoints_) {
    contents.records.checkpoints.push_back(checkpoint);
  }
  for (const auto& [name, report] : memory_->reports_) {
    contents.records.reports.push_back(report);
  }
  return contents;
}

absl::Status MemoryStore::Commit(const std::vector<core::Record>& records) {
  base::MutexLock lock(memory_->mutex_);
  ++memory_->num_begun_;
  memory_->changed_.NotifyAll();
  while (memory_->held_) memory_->changed_.Wait(memory_->mutex_);
  if (!memory_->failure_.ok()) return memory_->failure_;
  for (const core::Record& record : records) {
    if (const auto* job = std::get_if<core::JobPtr>(&record.value)) {
      memory_->jobs_[(*job)->facts->sequence] = *job;
    } else if (const auto* checkpoint =
                   std::get_if<core::CheckpointPtr>(&record.value)) {
      memory_->checkpoints_[(*checkpoint)->name()] = *checkpoint;
    } else {
      const auto& report = std::get<core::ReportPtr>(record.value);
      memory_->reports_[report->name()] = report;
    }
  }
  ++memory_->num_committed_;
  return absl::OkStatus();
}

}  // namespace ordo::scheduler::store::testing
