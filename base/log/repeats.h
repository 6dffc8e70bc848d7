#ifndef ORDO_BASE_LOG_REPEATS_H_
#define ORDO_BASE_LOG_REPEATS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/time/time.h"

namespace ordo::base {

// Which lines of a log are held back because the same came a moment before.
// Lines are the same when all of them but the time is. Pure; not thread-safe;
// `now` never goes back. Internal to base/log.
class Repeats {
 public:
  // So often the same line is written in such a time, from its first on.
  static constexpr int kMaxShown = 10;
  static constexpr absl::Duration kPeriod = absl::Seconds(10);
  // Lines that are remembered; of more the oldest are forgotten early.
  static constexpr size_t kMaxLines = 256;

  // A line of which some were held back, and how many.
  struct HeldBack {
    std::string line;
    int64_t count = 0;
  };

  // Whether to write a line now.
  bool IsShown(const std::string& line, absl::Duration now);
  // What was held back of lines whose time is over, or that were forgotten.
  std::vector<HeldBack> TakeOver(absl::Duration now);

  int64_t num_held_back() const { return num_held_back_; }

 private:
  struct Seen {
    std::string line;
    absl::Duration until;
  };

  void ForgetOldest();

  // By the moment of their first line.
  std::deque<Seen> seen_;
  // Of each how often it came.
  std::unordered_map<std::string, int64_t> counts_;
  std::vector<HeldBack> over_;
  int64_t num_held_back_ = 0;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_LOG_REPEATS_H_
