#include "tests/sim/operator.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ordo::tests::sim {
namespace {

using Change = scheduler::core::ChangeWorker;
using QueueVerb = scheduler::core::ChangeQueue::Verb;
using WorkerPtr = std::shared_ptr<const workers::v1::Worker>;

constexpr absl::Duration kTimeout = absl::Seconds(5);
// No message comes later.
constexpr absl::Duration kLate = absl::Minutes(1);
// All workers are there by then, if nothing goes wrong.
constexpr absl::Duration kEarly = absl::Seconds(2);

}  // namespace

void Operator::Begin(OperatorOptions options) {
  options_ = std::move(options);
  Repeat(options_.closes_per_minute, dice_, [this] { ChangeWorker(); });
  Repeat(options_.releases_per_minute, device_dice_, [this] { ReleaseAny(); });
  if (options_.drained_after > absl::ZeroDuration()) {
    After(kEarly, [this] { DrainAll(); });
  }
  if (options_.queues.empty()) return;
  Repeat(options_.queue_changes_per_minute, queue_dice_,
         [this] { ChangeQueue(); });
  Repeat(options_.queue_makes_per_minute, make_dice_, [this] { MakeQueue(); });
}

void Operator::Repeat(double per_minute, Dice& dice,
                      std::function<void()> act) {
  if (per_minute <= 0) return;
  const absl::Duration most = absl::Minutes(2) / per_minute;
  world_.After(dice.Between(absl::ZeroDuration(), most), "",
               [this, per_minute, &dice, act = std::move(act)] {
                 if (settled_) return;
                 act();
                 Repeat(per_minute, dice, act);
               });
}

void Operator::ChangeWorker() {
  Change change;
  change.worker = absl::StrCat("worker-", dice_.Int(options_.num_workers));
  // Half of them open what others closed.
  const uint64_t kind = dice_.Int(4);
  change.verb = kind == 0   ? Change::Verb::kCordon
                : kind == 1 ? Change::Verb::kDrain
                            : Change::Verb::kUncordon;
  // Also one that is over.
  change.drain_at = scheduler_.clock().Now().wall - absl::Seconds(5) +
                    dice_.Between(absl::ZeroDuration(), absl::Seconds(90));
  Ask(change);
}

void Operator::DrainAll() {
  for (int i = 0; i < options_.num_workers; ++i) {
    Change change;
    change.worker = absl::StrCat("worker-", i);
    change.verb = Change::Verb::kDrain;
    change.drain_at = scheduler_.clock().Now().wall + options_.drained_after;
    Ask(change);
  }
}

void Operator::ChangeQueue() {
  Dice& dice = queue_dice_;
  const int devices = options_.num_devices;
  scheduler::policy::Queue queue =
      options_.queues[dice.Int(options_.queues.size())];
  queue.weight = 1 + static_cast<int>(dice.Int(3));
  scheduler::policy::Quota& quota = queue.quotas["cpu"];
  quota.guaranteed = static_cast<int>(dice.Int(devices / 2 + 1));
  quota.limit.reset();
  // Also none at all.
  if (dice.Chance(0.7)) {
    quota.limit = quota.guaranteed +
                  static_cast<int>(dice.Int(devices - quota.guaranteed + 1));
  }
  queue.max_per_owner.reset();
  if (dice.Chance(0.3)) {
    queue.max_per_owner = 1 + static_cast<int>(dice.Int(devices));
  }
  Ask(QueueVerb::kUpdate, queue);
}

void Operator::MakeQueue() {
  const scheduler::policy::Queue& queue =
      options_.queues[make_dice_.Int(options_.queues.size())];
  Ask(make_dice_.Chance(0.5) ? QueueVerb::kDelete : QueueVerb::kCreate, queue);
}

void Operator::ReleaseAny() {
  const int worker = static_cast<int>(device_dice_.Int(options_.num_workers));
  Release(worker, static_cast<int>(device_dice_.Int(options_.num_devices /
                                                    options_.num_workers)));
}

void Operator::Release(int worker, int device) {
  Change change;
  change.worker = absl::StrCat("worker-", worker);
  change.verb = Change::Verb::kRelease;
  change.device = absl::StrCat("cpu:", device);
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
  Change change;
  change.worker = worker;
  change.verb = Change::Verb::kUncordon;
  Ask(change);
}

void Operator::OpenAll() {
  for (int i = 0; i < options_.num_workers; ++i) {
    Open(absl::StrCat("worker-", i));
    for (int j = 0; j < options_.num_devices / options_.num_workers; ++j) {
      Release(i, j);
    }
  }
  for (const scheduler::policy::Queue& queue : options_.queues) Restore(queue);
}

// Either comes first, and one of them is refused or changes nothing.
void Operator::Restore(const scheduler::policy::Queue& queue) {
  Ask(QueueVerb::kCreate, queue);
  Ask(QueueVerb::kUpdate, queue);
}

template <typename T>
void Operator::Call(const std::string& what,
                    std::function<void(Reply<T>)> serve,
                    std::function<void()> again,
                    const std::set<absl::StatusCode>& refusals) {
  ++num_under_way_;
  network_.Call<T>(
      {"operator", "scheduler", what, kTimeout}, std::move(serve),
      [this, what, again = std::move(again),
       refusals](const absl::StatusOr<T>& answer) {
        --num_under_way_;
        const bool lost = absl::IsUnavailable(answer.status()) ||
                          absl::IsDeadlineExceeded(answer.status());
        if (!answer.ok() && !lost && !absl::IsNotFound(answer.status()) &&
            refusals.count(answer.status().code()) == 0) {
          world_.Fail(
              absl::StrCat(what, " is refused: ", answer.status().ToString()));
        }
        if (lost && settled_) After(absl::Seconds(1), again);
      });
}

void Operator::Ask(const Change& change) {
  Call<WorkerPtr>(
      absl::StrCat("change ", static_cast<int>(change.verb), " ",
                   change.worker),
      [this, change](Reply<WorkerPtr> reply) {
        scheduler_.ChangeWorker(change, std::move(reply));
      },
      [this, change] {
        if (change.verb == Change::Verb::kRelease) return Ask(change);
        Open(change.worker);
      },
      {});
}

void Operator::Ask(QueueVerb verb, const scheduler::policy::Queue& queue) {
  scheduler::core::ChangeQueue change;
  change.verb = verb;
  change.queue = QueueOf(queue);
  std::set<absl::StatusCode> refusals;
  // One that is there is not made, one with jobs is not deleted.
  if (verb == QueueVerb::kCreate) {
    refusals = {absl::StatusCode::kAlreadyExists};
  } else if (verb == QueueVerb::kDelete) {
    refusals = {absl::StatusCode::kFailedPrecondition};
  }
  Call<scheduler::core::QueuePtr>(
      absl::StrCat("change ", static_cast<int>(verb), " ", queue.name),
      [this, change](SimScheduler::QueueReply reply) {
        scheduler_.ChangeQueue(change, std::move(reply));
      },
      [this, verb, name = queue.name] {
        // As it was at first: what was asked for may not have been.
        const auto again = verb == QueueVerb::kUpdate ? QueueVerb::kUpdate
                                                      : QueueVerb::kCreate;
        for (const auto& first : options_.queues) {
          if (first.name == name) Ask(again, first);
        }
      },
      refusals);
}

void Operator::Settle() {
  if (options_.num_workers == 0) return;
  settled_ = true;
  OpenAll();
  // What closes one may still be under way.
  After(kLate, [this] { OpenAll(); });
}

}  // namespace ordo::tests::sim
