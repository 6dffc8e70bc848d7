#ifndef ORDO_MODEL_TASKS_NOPE_SCAN_H_
#define ORDO_MODEL_TASKS_NOPE_SCAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/tasks/nope/items.h"

// The commands of SCAN (Lake and Baroni, "Generalization without
// Systematicity", 2018), each with the actions that it stands for, in the words
// of Kazemnejad et al. There are kNumCommands, and all are here. Pure
// functions.

namespace ordo::model::tasks::nope {

inline constexpr int64_t kNumCommands = 20910;
inline constexpr int kMaxActions = 48;
// Most words of a prompt.
inline constexpr int kScanPromptWords = 11;

// Numbers of commands by how many actions they have, the fewest first:
// [first, end).
struct CommandRange {
  int64_t first = 0;
  int64_t end = 0;

  int64_t size() const { return end - first; }
};

// Those of `fewest` to `most` actions, both 1 to kMaxActions. Where there is
// none, those of the next higher number of actions that commands have.
CommandRange CommandsOf(int fewest, int most);

// How many actions commands among these have, each number once, rising.
std::vector<int> ActionCounts(const CommandRange& range);

// "Solve: COMMAND [SEP]" and the actions. 0 <= number < kNumCommands.
Item CommandAt(int64_t number);

// All words of commands and actions.
const std::vector<std::string>& ScanWords();

}  // namespace ordo::model::tasks::nope

#endif  // ORDO_MODEL_TASKS_NOPE_SCAN_H_
