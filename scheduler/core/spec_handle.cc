#include "scheduler/core/spec_handle.h"

#include <tuple>
#include <utility>

namespace ordo::scheduler::core {

namespace {

auto KeyOf(const Criterion& by) {
  return std::tie(by.evaluation, by.metric, by.maximize);
}

auto KeyOf(const EarlyStop& stop) {
  return std::tuple_cat(
      std::tie(stop.rule, stop.from_step, stop.factor, stop.min_reports),
      KeyOf(stop.by));
}

}  // namespace

bool operator<(const Demand& a, const Demand& b) {
  const auto key = [](const Demand& demand) {
    return std::tuple_cat(
        std::tie(demand.queue, demand.max_parallel, demand.keep,
                 demand.keep_optimizer, demand.evaluations,
                 demand.queue_time_limit, demand.step_timeout, demand.paces,
                 demand.num_steps, demand.tuned_by.jobs),
        KeyOf(demand.early_stop), KeyOf(demand.tuned_by.by),
        policy::KeyOf(demand.shape));
  };
  return key(a) < key(b);
}

SpecHandle::SpecHandle(SpecPtr spec, OutlinePtr outline)
    : outline_(std::move(outline)), held_(std::move(spec)) {}

SpecHandle::SpecHandle(int64_t id, std::shared_ptr<SpecSource> source,
                       OutlinePtr outline)
    : outline_(std::move(outline)), id_(id), source_(std::move(source)) {}

absl::StatusOr<SpecPtr> SpecHandle::Get() const {
  if (SpecPtr held = std::atomic_load(&held_)) return held;
  return source_->ReadSpec(id_);
}

void SpecHandle::NoteStored(int64_t id,
                            std::shared_ptr<SpecSource> source) const {
  if (std::atomic_load(&held_) == nullptr) return;
  id_ = id;
  source_ = std::move(source);
}

std::optional<int64_t> SpecHandle::IdIn(const SpecSource* source) const {
  if (source == nullptr || source_.get() != source) return std::nullopt;
  return id_;
}

void SpecHandle::LetGo() const {
  if (source_ == nullptr) return;
  std::atomic_store(&held_, SpecPtr());
}

}  // namespace ordo::scheduler::core
