#include "scheduler/core/spec_table.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace ordo::scheduler::core {

SpecHandlePtr SpecTable::Keep(SpecPtr spec) {
  const DemandPtr demand =
      *demands_.insert(std::make_shared<const Demand>(DemandOf(*spec))).first;
  if (demands_.size() >= sweep_at_) {
    for (auto it = demands_.begin(); it != demands_.end();) {
      it = it->use_count() == 1 ? demands_.erase(it) : std::next(it);
    }
    sweep_at_ = std::max<size_t>(1024, 2 * demands_.size());
  }
  return std::make_shared<const SpecHandle>(std::move(spec), demand);
}

}  // namespace ordo::scheduler::core
