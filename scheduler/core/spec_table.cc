#include "scheduler/core/spec_table.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace ordo::scheduler::core {
namespace {

// Forgets those that nobody else has.
template <typename Set>
void Sweep(Set* set) {
  for (auto it = set->begin(); it != set->end();) {
    it = it->use_count() == 1 ? set->erase(it) : std::next(it);
  }
}

// The one of the set that equals it, which it becomes if there is none.
template <typename T, typename Set>
std::shared_ptr<const T> Shared(T value, Set* set) {
  const auto known = set->find(value);
  if (known != set->end()) return *known;
  return *set->insert(std::make_shared<const T>(std::move(value))).first;
}

}  // namespace

SpecHandlePtr SpecTable::Keep(SpecPtr spec) {
  OutlinePtr outline = OutlineOf(*spec);
  return std::make_shared<const SpecHandle>(std::move(spec),
                                            std::move(outline));
}

SpecHandlePtr SpecTable::KeepStored(const jobs::v1::JobSpec& spec, int64_t id,
                                    std::shared_ptr<SpecSource> source) {
  return std::make_shared<const SpecHandle>(id, std::move(source),
                                            OutlineOf(spec));
}

OutlinePtr SpecTable::OutlineOf(const jobs::v1::JobSpec& spec) {
  if (size() >= sweep_at_) {
    Sweep(&outlines_);
    Sweep(&demands_);
    sweep_at_ = std::max<size_t>(1024, 2 * size());
  }
  Outline outline;
  outline.demand = Shared(DemandOf(spec), &demands_);
  outline.labels.insert(spec.labels().begin(), spec.labels().end());
  return Shared(std::move(outline), &outlines_);
}

}  // namespace ordo::scheduler::core
