#ifndef ORDO_MODEL_TASKS_PAIRS_H_
#define ORDO_MODEL_TASKS_PAIRS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/random/random.h"
#include "model/tasks/task.h"

// Tasks that have two lengths, such as those of two operands: training on all
// pairs of lengths up to some, and a grid of them to ask for (McLeish et al.,
// "Transformers Can Do Arithmetic with the Right Embeddings", 2024).

namespace ordo::model::tasks {

// What is done with things of two lengths i and j, both at least 1. Immutable.
struct Operation {
  // What i and j are lengths of, as a heading and as a column.
  std::string_view first;
  std::string_view second;
  std::string_view first_column;
  std::string_view second_column;
  // Both in one word, which is the same if they are lengths of the same.
  std::string_view first_kind;
  std::string_view second_kind;
  // Of the streams that questions of a grid are drawn from.
  std::string_view stream;
  // A question of these lengths; answers end in kEnd.
  Question (*draw)(int i, int j, base::RandomSequence* random);
  // Tokens of its prompt; the most, if ragged.
  int (*prompt_length)(int i, int j);
  // Most tokens of its answer, with the end mark.
  int (*answer_length)(int i, int j);
  std::unique_ptr<Tokenizer> (*make_tokenizer)();
  // Prompts of the same lengths i and j differ in theirs. Their answers are
  // then read in one pass, with padding behind them, which says the same as
  // decoding them: that goes wrong at the first token that is not the likeliest
  // after the right ones.
  bool ragged = false;
};

struct PairsOptions {
  int max_first = 5;
  int max_second = 5;
  // Rows that the stream goes through, over and over, each time in another
  // order, with all pairs of lengths equally often; 0: every row is another and
  // its lengths are drawn.
  uint64_t rows = 0;
};

// Rows of prompt and answer; loss on the answer and the end mark. Lengths are
// uniform over the grid of pairs.
std::unique_ptr<TrainingTask> MakePairs(const Operation& operation,
                                        const PairsOptions& options);

struct PairGridOptions {
  // The grid has one cell for each pair of lengths up to these.
  int max_first = 10;
  int max_second = 10;
  // Questions per cell.
  int samples = 20;
  // Lengths the model was trained on, 0 when not known: what the scores of the
  // trained square and the rest are split by.
  int trained_first = 0;
  int trained_second = 0;
};

// Exact match of greedy answers over the grid. Metrics, fractions of 1:
// `grid_mean` over all cells, `trained_mean` over those of trained lengths,
// `outside_mean` over the rest (both only where there are such cells),
// `diagonal_mean`, and `largest_95`, the largest m whose cell (m, m) has at
// least 95 %, 0 if there is none. Means have standard errors where cells have
// two questions or more.
//
// Questions come from streams of their own, independent of the training rows,
// and none is held out: a cell within the trained lengths can ask what a
// training row has shown (with one digit there are only 81 sums), a longer one
// never does.
std::unique_ptr<EvaluationTask> MakePairGrid(const Operation& operation,
                                             const PairGridOptions& options);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_PAIRS_H_
