#ifndef ORDO_MODEL_TASKS_RUOSS_ITEMS_H_
#define ORDO_MODEL_TASKS_RUOSS_ITEMS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random/random.h"

// The fifteen tasks of Ruoss et al., "Randomized Positional Encodings Boost
// Length Generalization of Transformers", 2023: an input of n symbols and the
// outputs that it has. Every function is pure but for what it draws.

namespace ordo::model::tasks::ruoss {

// Symbols of inputs and outputs of all tasks. 0 to 4 are digits, and whatever a
// task has its numbers mean; the others stand for themselves.
enum Symbol : int64_t {
  kPlus = 5,
  kMinus = 6,
  kTimes = 7,
  kOpen = 8,
  kClose = 9,
  kUnknownDigit = 10,
  kEquals = 11,
  // Stands where an output is asked for.
  kEmpty = 12,
  kNumSymbols = 13,
};

struct Item {
  std::vector<int64_t> input;
  // What is to be said at the empty symbols that follow the input.
  std::vector<int64_t> output;
  // Outputs that accuracy is measured over: those up to here. The rest are
  // zeros that fill up.
  size_t num_measured = 0;
};

struct Kind {
  std::string_view name;
  // An item of length n >= 1.
  Item (*draw)(int n, base::RandomSequence* random);
  // Symbols and outputs of an item of length n.
  int (*num_inputs)(int n);
  int (*num_outputs)(int n);
};

// Counts that tasks share: 1, n, n + 1.
int One(int n);
int Same(int n);
int OneMore(int n);

// By the level of the language that a task is of.
const std::vector<Kind>& RegularKinds();
const std::vector<Kind>& ContextFreeKinds();
const std::vector<Kind>& ContextSensitiveKinds();

// All fifteen, by level. The kind of a name, which is one of theirs.
std::vector<Kind> Kinds();
Kind KindOf(std::string_view name);

// For the tasks' own use: `count` digits, uniform in [0, kinds).
std::vector<int64_t> DrawDigits(int count, int kinds,
                                base::RandomSequence* random);
// An item all of whose outputs are measured.
Item AllMeasured(std::vector<int64_t> input, std::vector<int64_t> output);
// One with an end mark after `output`, filled up to num_outputs with zeros.
Item Marked(std::vector<int64_t> input, std::vector<int64_t> output,
            int num_outputs);

}  // namespace ordo::model::tasks::ruoss

#endif  // ORDO_MODEL_TASKS_RUOSS_ITEMS_H_
