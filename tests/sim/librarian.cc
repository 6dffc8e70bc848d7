#include "tests/sim/librarian.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/sim/durable.h"

namespace ordo::tests::sim {
namespace {

namespace core = scheduler::core;
using scheduler::CheckpointVerb;

constexpr absl::Duration kTimeout = absl::Seconds(5);
// No message comes later.
constexpr absl::Duration kLate = absl::Minutes(1);
// Few, so that they meet.
constexpr int kAliases = 3;

scheduler::Author Ada() {
  scheduler::Author author;
  author.owner.set_user("ada");
  return author;
}

}  // namespace

void Librarian::Begin(double names_per_minute) {
  per_minute_ = names_per_minute;
  Repeat();
}

void Librarian::Repeat() {
  if (per_minute_ <= 0) return;
  const absl::Duration most = absl::Minutes(2) / per_minute_;
  world_.After(dice_.Between(absl::ZeroDuration(), most), "", [this] {
    if (settled_) return;
    Act();
    Repeat();
  });
}

void Librarian::Act() {
  const core::Records stored = scheduler_.Stored();
  const std::string alias = absl::StrCat("alias-", dice_.Int(kAliases));
  const uint64_t kind = dice_.Int(8);
  if (kind == 0) return DeleteAlias(alias);
  if (stored.checkpoints.empty()) return;
  // Also one that was removed.
  const core::CheckpointPtr& checkpoint =
      stored.checkpoints[dice_.Int(stored.checkpoints.size())];
  if (kind <= 3) return SetAlias(alias, checkpoint);
  const CheckpointVerb verb = kind == 4   ? CheckpointVerb::kPin
                              : kind == 5 ? CheckpointVerb::kUnpin
                              : kind == 6 ? CheckpointVerb::kThin
                                          : CheckpointVerb::kDelete;
  Change(verb, checkpoint->name());
}

void Librarian::SetAlias(const std::string& alias,
                         const core::CheckpointPtr& checkpoint) {
  core::ChangeAlias change;
  change.setting.alias = alias;
  change.setting.checkpoint = checkpoint->name();
  if (dice_.Chance(0.3)) change.setting.if_digest = scheduler::kNoDigest;
  change.author = Ada();
  Call<core::AliasPtr>(absl::StrCat(alias, " is ", checkpoint->name()),
                       [this, change](SimScheduler::AliasReply reply) {
                         scheduler_.ChangeAlias(change, std::move(reply));
                       });
}

void Librarian::DeleteAlias(const std::string& alias) {
  core::ChangeAlias change;
  change.verb = core::ChangeAlias::Verb::kDelete;
  change.setting.alias = alias;
  change.author = Ada();
  Call<core::AliasPtr>(absl::StrCat(alias, " is nothing"),
                       [this, change](SimScheduler::AliasReply reply) {
                         scheduler_.ChangeAlias(change, std::move(reply));
                       });
}

void Librarian::Change(CheckpointVerb verb, const std::string& checkpoint) {
  core::ChangeCheckpoint change;
  change.verb = verb;
  change.checkpoint = checkpoint;
  change.author = Ada();
  Call<core::CheckpointPtr>(
      absl::StrCat("change ", static_cast<int>(verb), " ", checkpoint),
      [this, change](SimScheduler::CheckpointReply reply) {
        scheduler_.ChangeCheckpoint(change, std::move(reply));
      });
}

template <typename T>
void Librarian::Call(const std::string& what,
                     std::function<void(Reply<T>)> serve) {
  ++num_under_way_;
  network_.Call<T>({"librarian", "scheduler", what, kTimeout}, std::move(serve),
                   [this, what](const absl::StatusOr<T>& answer) {
                     --num_under_way_;
                     const bool is_fine =
                         answer.ok() || absl::IsUnavailable(answer.status()) ||
                         absl::IsDeadlineExceeded(answer.status()) ||
                         absl::IsNotFound(answer.status()) ||
                         absl::IsFailedPrecondition(answer.status()) ||
                         absl::IsAborted(answer.status());
                     if (is_fine) return;
                     world_.Fail(absl::StrCat(
                         what, " is refused: ", answer.status().ToString()));
                   });
}

void Librarian::After(absl::Duration delay, std::function<void()> then) {
  ++num_under_way_;
  world_.After(delay, "", [this, then = std::move(then)] {
    --num_under_way_;
    then();
  });
}

void Librarian::Clear() {
  const core::Records stored = scheduler_.Stored();
  const auto aliases = AliasesIn(stored);
  const auto pins = PinsIn(stored);
  for (const std::string& alias : aliases) DeleteAlias(alias);
  for (const std::string& pin : pins) Change(CheckpointVerb::kUnpin, pin);
  // Until they are all known to be gone.
  if (!aliases.empty() || !pins.empty()) {
    After(absl::Seconds(1), [this] { Clear(); });
  }
}

void Librarian::Settle() {
  settled_ = true;
  if (per_minute_ <= 0) return;
  Clear();
  // What names something may still be under way.
  After(kLate, [this] { Clear(); });
}

}  // namespace ordo::tests::sim
