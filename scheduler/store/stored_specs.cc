#include "scheduler/store/stored_specs.h"

#include "absl/status/status.h"

namespace ordo::scheduler::store {

absl::StatusOr<core::SpecPtr> StoredSpecs::ReadSpec(int64_t id) {
  Reader* reader = nullptr;
  {
    base::MutexLock lock(mutex_);
    const auto known = by_id_.find(id);
    if (known != by_id_.end()) {
      kept_.splice(kept_.begin(), kept_, known->second);
      return known->second->second;
    }
    if (reader_ == nullptr) {
      return absl::UnavailableError(
          "the spec of the job cannot be read: the store is closed");
    }
    reader = reader_;
    ++num_reading_;
  }
  absl::StatusOr<core::SpecPtr> spec = reader->FindSpec(id);
  base::MutexLock lock(mutex_);
  if (--num_reading_ == 0) changed_.NotifyAll();
  if (spec.ok()) RememberLocked(id, *spec);
  return spec;
}

void StoredSpecs::Open(Reader* reader) {
  base::MutexLock lock(mutex_);
  reader_ = reader;
}

void StoredSpecs::Close() {
  base::MutexLock lock(mutex_);
  reader_ = nullptr;
  while (num_reading_ > 0) changed_.Wait(mutex_);
}

void StoredSpecs::Remember(int64_t id, core::SpecPtr spec) {
  base::MutexLock lock(mutex_);
  RememberLocked(id, std::move(spec));
}

void StoredSpecs::RememberLocked(int64_t id, core::SpecPtr spec) {
  const auto known = by_id_.find(id);
  if (known != by_id_.end()) kept_.erase(known->second);
  kept_.emplace_front(id, std::move(spec));
  by_id_[id] = kept_.begin();
  if (kept_.size() <= kMaxKept) return;
  by_id_.erase(kept_.back().first);
  kept_.pop_back();
}

size_t StoredSpecs::num_kept() const {
  base::MutexLock lock(mutex_);
  return kept_.size();
}

}  // namespace ordo::scheduler::store
