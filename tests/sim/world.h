#ifndef ORDO_TESTS_SIM_WORLD_H_
#define ORDO_TESTS_SIM_WORLD_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "base/random/random.h"
#include "scheduler/core/moment.h"

// Virtual time: one queue of events for all simulated processes, and the record
// of what happened. Nothing here reads a clock or has a thread, so that a seed
// replays exactly.

namespace ordo::tests::sim {

// Draws for one purpose. A purpose has a stream of its own, so that a draw more
// for one fault does not shift all others.
class Dice {
 public:
  Dice(uint64_t seed, const std::string& purpose);

  bool Chance(double probability) { return draws_.Double() < probability; }
  // In [0, n), n > 0.
  uint64_t Int(uint64_t n) { return draws_.Int(n); }
  // In [low, high].
  absl::Duration Between(absl::Duration low, absl::Duration high);

 private:
  base::RandomSequence draws_;
};

// A process: what it has planned dies with it.
class Life {
 public:
  void Begin() { token_ = std::make_shared<int>(0); }
  void End() { token_.reset(); }
  bool runs() const { return token_ != nullptr; }
  std::weak_ptr<void> watch() const { return token_; }
  // `then` while this life lasts, nothing later.
  template <typename... Arguments>
  std::function<void(Arguments...)> Guard(
      std::function<void(Arguments...)> then) const {
    return [watch = watch(), then = std::move(then)](Arguments... arguments) {
      if (!watch.expired()) then(std::move(arguments)...);
    };
  }

 private:
  std::shared_ptr<void> token_;
};

class World {
 public:
  explicit World(uint64_t seed) : seed_(seed) {}

  uint64_t seed() const { return seed_; }
  Dice MakeDice(const std::string& purpose) const { return {seed_, purpose}; }
  absl::Duration now() const { return now_; }
  int64_t num_events() const { return num_events_; }

  // Runs `then` after `delay`. Events of one time run in the order in which
  // they were planned.
  void After(absl::Duration delay, std::string what,
             std::function<void()> then);
  // The same, unless the life has ended by then.
  void After(absl::Duration delay, std::string what, const Life& life,
             std::function<void()> then);
  // Runs the next event; false when there is none.
  bool RunNext();

  // Adds a line to what happened.
  void Note(const std::string& what);
  // A property does not hold. The first counts.
  void Fail(const std::string& what);
  bool failed() const { return !failure_.empty(); }
  const std::string& failure() const { return failure_; }
  // Of all lines so far, and the newest of them.
  uint64_t digest() const { return digest_; }
  const std::deque<std::string>& last_lines() const { return last_lines_; }

  // Faults and users are at work.
  bool troubled() const { return troubled_; }
  void EndTrouble() { troubled_ = false; }

 private:
  struct Event {
    std::string what;
    std::function<void()> then;
    // Whose plan it is; nothing: everybody's.
    std::optional<std::weak_ptr<void>> life;
  };

  void Plan(absl::Duration delay, Event event);

  const uint64_t seed_;
  absl::Duration now_;
  int64_t num_planned_ = 0;
  int64_t num_events_ = 0;
  // By time and order of planning.
  std::map<std::pair<absl::Duration, int64_t>, Event> events_;
  std::string failure_;
  uint64_t digest_ = 0xcbf29ce484222325;
  std::deque<std::string> last_lines_;
  bool troubled_ = true;
};

// The clocks of one machine. The monotonic one may run fast or slow, the wall
// clock jumps as well.
class MachineClock {
 public:
  // Both begin anywhere; `drift`: by how much of the time it may be wrong.
  MachineClock(const World& world, Dice dice, double drift);

  scheduler::core::Moment Now() const;
  // How long it takes until the monotonic clock shows `monotonic`.
  absl::Duration Until(absl::Duration monotonic) const;
  void Jump(absl::Duration by) { wall_offset_ += by; }
  // The machine boots: its monotonic clock shows `since` now.
  void Boot(absl::Duration since);

 private:
  const World& world_;
  absl::Duration start_;
  absl::Duration wall_offset_;
  // Parts per million.
  int64_t drift_ppm_;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_WORLD_H_
