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

void Memory::DieAt(int write) {
  base::MutexLock lock(mutex_);
  writes_left_ = write;
}

bool Memory::Revive() {
  base::MutexLock lock(mutex_);
  const bool was_dead = writes_left_ == 0;
  writes_left_ = -1;
  return was_dead;
}

bool Memory::SurvivesWrite() {
  if (writes_left_ > 0) --writes_left_;
  return writes_left_ != 0;
}

void Memory::Put(const core::Record& record, Held* held) {
  if (const auto* job = std::get_if<core::JobPtr>(&record.value)) {
    held->jobs[(*job)->facts->sequence] = *job;
  } else if (const auto* checkpoint =
                 std::get_if<core::CheckpointPtr>(&record.value)) {
    held->checkpoints[(*checkpoint)->name()] = *checkpoint;
  } else if (const auto* report = std::get_if<core::ReportPtr>(&record.value)) {
    held->reports[(*report)->name()] = *report;
  } else {
    const auto& row = std::get<core::RowPtr>(record.value);
    held->rows[{row->kind, row->key}] = row;
    if (!row->bytes.has_value()) held->rows.erase({row->kind, row->key});
  }
}

absl::StatusOr<Contents> MemoryStore::Load() {
  base::MutexLock lock(memory_->mutex_);
  if (memory_->writes_left_ == 0) return absl::UnavailableError("dead");
  Contents contents;
  contents.epoch = ++memory_->epoch_;
  const Memory::Held& held = memory_->held_records_;
  for (const auto& [sequence, job] : held.jobs) {
    contents.records.jobs.push_back(job);
  }
  for (const auto& [name, checkpoint] : held.checkpoints) {
    contents.records.checkpoints.push_back(checkpoint);
  }
  for (const auto& [name, report] : held.reports) {
    contents.records.reports.push_back(report);
  }
  for (const auto& [key, row] : held.rows) {
    if (row->kind != core::Row::Kind::kAudit) {
      contents.records.rows.push_back(row);
    }
  }
  return contents;
}

absl::Status MemoryStore::Commit(const std::vector<core::Record>& records) {
  base::MutexLock lock(memory_->mutex_);
  ++memory_->num_begun_;
  memory_->changed_.NotifyAll();
  while (memory_->held_) memory_->changed_.Wait(memory_->mutex_);
  if (!memory_->failure_.ok()) return memory_->failure_;
  // A copy of all of it only where somebody may die half-way.
  const bool may_die = memory_->writes_left_ >= 0;
  Memory::Held aside;
  if (may_die) aside = memory_->held_records_;
  Memory::Held& held = may_die ? aside : memory_->held_records_;
  for (const core::Record& record : records) {
    Memory::Put(record, &held);
    if (!memory_->SurvivesWrite()) return absl::UnavailableError("dead");
  }
  if (may_die) memory_->held_records_ = std::move(aside);
  if (!memory_->SurvivesWrite()) return absl::UnavailableError("dead");
  ++memory_->num_committed_;
  return absl::OkStatus();
}

}  // namespace ordo::scheduler::store::testing
