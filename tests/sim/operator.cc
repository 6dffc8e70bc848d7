#include "tests/sim/operator.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ordo::tests::sim {
namespace {

using scheduler::core::ChangeWorker;
using WorkerPtr = std::shared_ptr<const workers::v1::Worker>;

constexpr absl::Duration kTimeout = absl::Seconds(5);
// No message comes later.
constexpr absl::Duration kLate = absl::Minutes(1);

}  // namespace

void Operator::Begin(double changes_per_minute, int num_workers) {
  changes_per_minute_ = changes_per_minute;
  num_workers_ = num_workers;
  PlanNext();
}

void Operator::PlanNext() {
  if (changes_per_minute_ <= 0) return;
  const absl::Duration most = absl::Minutes(2) / changes_per_minute_;
  world_.After(dice_.Between(absl::ZeroDuration(), most), "", [this] {
    if (settled_) return;
    ChangeOne();
    PlanNext();
  });
}

void Operator::ChangeOne() {
  ChangeWorker change;
  change.worker = absl::StrCat("worker-", dice_.Int(num_workers_));
  // Half of them open what others closed.
  const uint64_t kind = dice_.Int(4);
  change.verb = kind == 0   ? ChangeWorker::Verb::kCordon
                : kind == 1 ? ChangeWorker::Verb::kDrain
                            : ChangeWorker::Verb::kUncordon;
  // Also one that is over.
  change.drain_at = scheduler_.clock().Now().wall - absl::Seconds(5) +
                    dice_.Between(absl::ZeroDuration(), absl::Seconds(90));
  Ask(change);
}

void Operator::After(absl::Duration delay, std::function<void()> then) {
  ++num_under_way_;
  world_.After(delay, "", [this, then = std::move(then)] {
    --num_under_way_;
    then();
  });
}

void Operator::Open(const std::string& worker) {
  ChangeWorker change;
  change.worker = worker;
  change.verb = ChangeWorker::Verb::kUncordon;
  Ask(change);
}

void Operator::OpenAll() {
  for (int i = 0; i < num_workers_; ++i) Open(absl::StrCat("worker-", i));
}

void Operator::Ask(const ChangeWorker& change) {
  ++num_under_way_;
  network_.Call<WorkerPtr>(
      {"operator", "scheduler",
       absl::StrCat("change ", static_cast<int>(change.verb), " ",
                    change.worker),
       kTimeout},
      [this, change](Reply<WorkerPtr> reply) {
        scheduler_.ChangeWorker(change, std::move(reply));
      },
      [this, change](const absl::StatusOr<WorkerPtr>& answer) {
        --num_under_way_;
        const bool lost = absl::IsUnavailable(answer.status()) ||
                          absl::IsDeadlineExceeded(answer.status());
        if (!answer.ok() && !lost && !absl::IsNotFound(answer.status())) {
          world_.Fail(
              absl::StrCat("a change of ", change.worker,
                           " is refused: ", answer.status().ToString()));
        }
        if (!lost || !settled_) return;
        After(absl::Seconds(1), [this, change] { Open(change.worker); });
      });
}

void Operator::Settle() {
  if (num_workers_ == 0) return;
  settled_ = true;
  OpenAll();
  // What closes one may still be under way.
  After(kLate, [this] { OpenAll(); });
}

}  // namespace ordo::tests::sim
