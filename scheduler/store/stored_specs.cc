#include "scheduler/store/stored_specs.h"

#include <iterator>
#include <utility>

#include "absl/status/status.h"

namespace ordo::scheduler::store {

absl::StatusOr<core::SpecPtr> StoredSpecs::ReadSpec(int64_t id) {
  Reader* reader = nullptr;
  {
    base::MutexLock lock(mutex_);
    const auto known = by_id_.find(id);
    if (known != by_id_.end()) {
      kept_.splice(kept_.begin(), kept_, known->second);
      return known->second->spec;
    }
    if (reader_ == nullptr) {
      return absl::UnavailableError(
          "the spec of the job cannot be read: the store is closed");
    }
    reader = reader_;
    ++num_reading_;
  }
  absl::StatusOr<core::SpecPtr> spec = reader->FindSpec(id);
  if (spec.ok()) Remember(id, *spec);
  base::MutexLock lock(mutex_);
  if (--num_reading_ == 0) changed_.NotifyAll();
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
  const size_t bytes = spec->ByteSizeLong();
  base::MutexLock lock(mutex_);
  const auto known = by_id_.find(id);
  if (known != by_id_.end()) Forget(known->second);
  kept_.push_front({id, std::move(spec), bytes});
  by_id_[id] = kept_.begin();
  bytes_ += bytes;
  while (kept_.size() > kMaxKept || bytes_ > kMaxBytes) {
    Forget(std::prev(kept_.end()));
  }
}

void StoredSpecs::Forget(std::list<Kept>::iterator kept) {
  bytes_ -= kept->bytes;
  by_id_.erase(kept->id);
  kept_.erase(kept);
}

size_t StoredSpecs::num_kept() const {
  base::MutexLock lock(mutex_);
  return kept_.size();
}

}  // namespace ordo::scheduler::store
