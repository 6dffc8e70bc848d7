#ifndef ORDO_SCHEDULER_SERVER_BACKLOG_H_
#define ORDO_SCHEDULER_SERVER_BACKLOG_H_

#include <cstddef>
#include <string>
#include <vector>

#include "scheduler/core/effect.h"

namespace ordo::scheduler::server {

// The key of a record among all records.
std::string KeyOf(const core::Record& record);

// The effects of several Applies as those of one, for when they are committed
// and released together anyway and there may be many: of the records of one
// key, of the desired sets and looks of one worker and of the progress of one
// job only the last is left, and counts that add up are added up; of answers to
// announcements, which wait for no commit, none is. What is left keeps its
// order, but for other answers: they come last, so that who has one sees what
// it tells.
core::Effects Merge(std::vector<core::Effects> turns);

// The effects of Applies in order, merged whenever there are too many: so their
// number goes by what there is, not by how often it changes. Not thread-safe.
class Backlog {
 public:
  // That are not worth a merge.
  static constexpr size_t kMaxTurns = 1024;

  void Add(core::Effects turn);
  // Adds all of `later`.
  void Append(Backlog later);
  // All of them; nothing is left.
  std::vector<core::Effects> Take();
  const std::vector<core::Effects>& turns() const { return turns_; }
  bool empty() const { return turns_.empty(); }

 private:
  std::vector<core::Effects> turns_;
  // Number of effects after the last merge: as many turns come before the next,
  // so that each effect is merged a few times only.
  size_t merged_size_ = 0;
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_BACKLOG_H_
