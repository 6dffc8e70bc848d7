#ifndef ORDO_MODEL_TEXT_TASK_PERPLEXITY_H_
#define ORDO_MODEL_TEXT_TASK_PERPLEXITY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "model/tasks/data_access.h"
#include "model/tasks/task.h"
#include "model/text/rows/windows.h"
#include "model/text/store/facts.h"
#include "model/text/task/token_data.h"
#include "model/text/task/token_stream.h"

namespace ordo::model::text::task {

struct PerplexityOptions {
  TextOptions text;
  Split split = Split::kHeldOut;
  store::HeldOut held_out;
  // Of which `length` is each of `lengths`, in its turn.
  rows::WindowOptions windows;
  std::vector<int> lengths;
  // Documents that windows are cut from together, what is left of them left
  // out; 0: all.
  uint64_t documents_per_group = 0;
  // Only the first so many tokens are read; 0: all.
  uint64_t max_tokens = 0;
  // Tokens of a row of the training; 0: not known.
  int trained_length = 0;
};

// Perplexity in windows over the documents of a split, one behind the other.
// For each length L, over all that is scored in its windows:
//
//   perplexity_L             exp of the mean of -ln p of a token
//   batch_mean_perplexity_L  exp of the mean over batches of 8 windows of their
//                            means, as BiPE's evaluation has it
//   bits_per_byte_L          the sum of -ln p by ln 2 and the bytes, and
//   word_perplexity_L        exp of that sum by the words (store::Facts), both
//                            of the text of what is scored, as often as it is:
//                            of each document the share that its scored tokens,
//                            marks too, are of all that it has
//
// and without _L those of the trained length, or the first. Questions are
// windows, the unit is the document in which the first scored token lies.
// Standard errors are over another draw of units, each with the share that it
// has of what its sums are divided by: tokens, batches, bytes or words. Windows
// of a single unit tell none.
//
// Reads and tokenizes as OpenTextTask does. INVALID_ARGUMENT, with the field:
// the split has no document, too few tokens for a window, or more than
// a million windows.
absl::StatusOr<std::unique_ptr<tasks::EvaluationTask>> OpenPerplexity(
    const tasks::DataAccess& access, const PerplexityOptions& options);

}  // namespace ordo::model::text::task

#endif  // ORDO_MODEL_TEXT_TASK_PERPLEXITY_H_
