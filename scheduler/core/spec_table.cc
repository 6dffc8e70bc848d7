#include "scheduler/core/spec_table.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>

#include "base/text/proto_bytes.h"

namespace ordo::scheduler::core {

SpecPtr SpecTable::Share(const SpecPtr& spec) {
  const auto known = answers_.find(spec.get());
  if (known != answers_.end() && known->second.asked.lock() == spec) {
    if (SpecPtr shared = known->second.shared.lock()) return shared;
  }
  SpecPtr shared = ShareEqual(spec);
  // The caller has one reference; another one means that it may come again.
  if (spec.use_count() > 1) answers_[spec.get()] = {spec, shared};
  if (size() >= sweep_at_) Sweep();
  return shared;
}

SpecPtr SpecTable::ShareEqual(const SpecPtr& spec) {
  const std::string bytes = base::DeterministicBytes(*spec);
  WeakSpecPtr& known = specs_[std::hash<std::string>()(bytes)];
  SpecPtr shared = known.lock();
  if (shared == nullptr) {
    known = spec;
    return spec;
  }
  return base::DeterministicBytes(*shared) == bytes ? shared : spec;
}

void SpecTable::Sweep() {
  for (auto it = specs_.begin(); it != specs_.end();) {
    it = it->second.expired() ? specs_.erase(it) : std::next(it);
  }
  for (auto it = answers_.begin(); it != answers_.end();) {
    const bool gone = it->second.asked.expired() || it->second.shared.expired();
    it = gone ? answers_.erase(it) : std::next(it);
  }
  sweep_at_ = std::max<size_t>(1024, 2 * size());
}

}  // namespace ordo::scheduler::core
