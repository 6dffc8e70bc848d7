#ifndef ORDO_MODEL_TASKS_SELECTIVE_COPY_H_
#define ORDO_MODEL_TASKS_SELECTIVE_COPY_H_

#include <memory>

#include "model/tasks/task.h"

// Copying the symbols of a row in their order and leaving out the blanks among
// them (Gu and Dao, "Mamba", 2023; Golovneva et al., "Contextual Position
// Encoding", 2024). Token 0 is the blank, 1 to 15 are symbols; there are no
// marks. The symbols' places are uniform among all sets of places, the symbols
// uniform and independent.

namespace ordo::model::tasks {

struct SelectiveCopyOptions {
  // Symbols to copy, and blanks among them.
  int symbols = 256;
  int blanks = 256;
  // False: the symbols follow the input, each said after those before it.
  // True: as many markers, token 15, follow the input, and at each the model
  // says its symbol; symbols are 1 to 14.
  bool markers = false;
  // Token 15 stands between the input and what follows, symbols are 1 to 14;
  // not with markers.
  bool separator = false;
};

std::unique_ptr<TrainingTask> MakeSelectiveCopy(
    const SelectiveCopyOptions& options);

struct SelectiveCopiesOptions {
  SelectiveCopyOptions rows;
  int samples = 1000;
};

// Metrics, fractions of 1: `error`, rows with any wrong symbol, which is as
// many as greedy decoding gets wrong, since it fails at the first symbol that
// is not the likeliest after the right ones; and `token_error` of all symbols,
// after the right ones before them. The table has errors by the place among
// the symbols: of the first, of 2 and 3, 4 to 7 and so on.
std::unique_ptr<EvaluationTask> MakeSelectiveCopies(
    const SelectiveCopiesOptions& options);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_SELECTIVE_COPY_H_
