#include "scheduler/server/queue_view.h"

#include <utility>

#include "base/status/status.h"
#include "scheduler/core/state.h"
#include "scheduler/core/transitions.h"

namespace ordo::scheduler::server {

using queues::v1::Queue;

void QueueView::Put(const std::string& id, core::QueuePtr queue) {
  if (queue == nullptr) {
    queues_.erase(id);
  } else {
    queues_[id] = std::move(queue);
  }
}

void QueueView::Count(const core::JobRecord* before,
                      const core::JobRecord& now) {
  if (before != nullptr) Add(*before, -1);
  Add(now, 1);
}

void QueueView::Add(const core::JobRecord& job, int32_t sign) {
  if (core::IsTerminal(job.state)) return;
  const auto found = counts_.try_emplace(core::QueueOf(*job.facts->spec)).first;
  Counts& counts = found->second;
  if (job.state == jobs::v1::Job::QUEUED) {
    counts.queued += sign;
  } else {
    counts.active += sign;
    counts.held[core::ShapeOf(*job.facts->spec).kind] +=
        sign * job.facts->num_ranks * job.facts->num_devices;
  }
  if (counts.queued == 0 && counts.active == 0) counts_.erase(found);
}

Queue QueueView::Shown(const std::string& id,
                       const core::QueuePtr& queue) const {
  Queue shown = *queue;
  const auto found = counts_.find(id);
  if (found == counts_.end()) return shown;
  shown.set_queued_jobs(found->second.queued);
  shown.set_active_jobs(found->second.active);
  for (const auto& [kind, count] : found->second.held) {
    if (count > 0) (*shown.mutable_held_devices())[kind] = count;
  }
  return shown;
}

absl::StatusOr<Queue> QueueView::Get(const std::string& queue) const {
  ORDO_ASSIGN_OR_RETURN(const core::QueuePtr found,
                        core::GetQueue(queues_, queue));
  return Shown(queue, found);
}

Listing<Queue> QueueView::List(const Page& page) const {
  Listing<Queue> listing;
  const std::string before = core::IdOf(page.before);
  for (const auto& [id, queue] : core::AllQueues(queues_)) {
    if (id <= before) continue;
    if (static_cast<int>(listing.items.size()) == page.size) {
      listing.next = listing.items.back().name();
      break;
    }
    listing.items.push_back(Shown(id, queue));
  }
  return listing;
}

}  // namespace ordo::scheduler::server
