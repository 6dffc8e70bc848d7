#ifndef ORDO_MODEL_TASKS_FLIP_FLOP_H_
#define ORDO_MODEL_TASKS_FLIP_FLOP_H_

#include <memory>

#include "model/tasks/task.h"

// Flip-flop strings (Liu et al., "Exposing attention glitches with flip-flop
// language modeling", 2023): pairs of an instruction and a bit. After `w`,
// write, and `i`, ignore, the bit is a fair coin; after `r`, read, it is the
// bit of the latest write. The first instruction is a write and the last a
// read. Symbols w r i 0 1 are tokens 0 to 4; there are no marks.

namespace ordo::model::tasks {

struct FlipFlopOptions {
  // Symbols of a string: even, at least 4.
  int length = 512;
  // Share of ignores among the instructions but for the first and the last, to
  // the millionth; writes and reads share the rest.
  double ignore = 0.8;
  // Every symbol counts in the loss, not only the bits after a read.
  bool full_loss = false;
};

std::unique_ptr<TrainingTask> MakeFlipFlop(const FlipFlopOptions& options);

struct FlipFlopReadsOptions {
  // Its loss has no meaning here.
  FlipFlopOptions strings;
  int samples = 1000;
};

// What a model says after each read of a string that it is fed. Metrics,
// fractions of 1: `error`, wrong bits of all that are read, and `wrong_rows`,
// strings with any wrong one. The table has errors by the distance to the
// latest write, in pairs: of 1, 2 and 3, 4 to 7 and so on, by the least.
std::unique_ptr<EvaluationTask> MakeFlipFlopReads(
    const FlipFlopReadsOptions& options);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_FLIP_FLOP_H_
