#include "tests/sim/world.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ordo::tests::sim {
namespace {

constexpr size_t kLinesKept = 50;
constexpr int64_t kMillion = 1'000'000;

// FNV-1a, 64 bits.
uint64_t Digest(uint64_t digest, const std::string& text) {
  for (const unsigned char c : text) digest = (digest ^ c) * 0x100000001b3;
  return digest;
}

}  // namespace

Dice::Dice(uint64_t seed, const std::string& purpose)
    : draws_(seed, absl::StrCat("sim/", purpose)) {}

absl::Duration Dice::Between(absl::Duration low, absl::Duration high) {
  const int64_t span = absl::ToInt64Nanoseconds(high - low);
  if (span <= 0) return low;
  return low + absl::Nanoseconds(draws_.Int(static_cast<uint64_t>(span) + 1));
}

void World::Plan(absl::Duration delay, Event event) {
  const absl::Duration at = now_ + std::max(delay, absl::ZeroDuration());
  events_[{at, num_planned_++}] = std::move(event);
}

void World::After(absl::Duration delay, std::string what,
                  std::function<void()> then) {
  Plan(delay, {std::move(what), std::move(then), std::nullopt});
}

void World::After(absl::Duration delay, std::string what, const Life& life,
                  std::function<void()> then) {
  Plan(delay, {std::move(what), std::move(then), life.watch()});
}

bool World::RunNext() {
  if (events_.empty()) return false;
  const auto next = events_.extract(events_.begin());
  const Event& event = next.mapped();
  now_ = next.key().first;
  if (event.life.has_value() && event.life->expired()) return true;
  ++num_events_;
  if (!event.what.empty()) Note(event.what);
  event.then();
  return true;
}

void World::Note(const std::string& what) {
  std::string line = absl::StrCat(absl::ToInt64Microseconds(now_), " ", what);
  digest_ = Digest(digest_, line);
  if (last_lines_.size() == kLinesKept) last_lines_.pop_front();
  last_lines_.push_back(std::move(line));
}

void World::Fail(const std::string& what) {
  if (failed()) return;
  failure_ = std::string(what);
  Note(absl::StrCat("FAILED ", what));
}

MachineClock::MachineClock(const World& world, Dice dice, double drift)
    : world_(world),
      start_(dice.Between(absl::Seconds(1), absl::Hours(1000))),
      wall_offset_(dice.Between(-absl::Seconds(1), absl::Seconds(1))),
      drift_ppm_(0) {
  const auto most = static_cast<int64_t>(drift * kMillion);
  if (most > 0) {
    drift_ppm_ = static_cast<int64_t>(dice.Int(2 * most + 1)) - most;
  }
}

scheduler::core::Moment MachineClock::Now() const {
  const absl::Duration passed =
      world_.now() + world_.now() * drift_ppm_ / kMillion;
  return {absl::FromUnixSeconds(1'700'000'000) + passed + wall_offset_,
          start_ + passed};
}

void MachineClock::Boot(absl::Duration since) {
  start_ += since - Now().monotonic;
}

absl::Duration MachineClock::Until(absl::Duration monotonic) const {
  const absl::Duration left = monotonic - Now().monotonic;
  return left * kMillion / (kMillion + drift_ppm_) + absl::Microseconds(1);
}

}  // namespace ordo::tests::sim
