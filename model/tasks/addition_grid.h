#ifndef ORDO_MODEL_TASKS_ADDITION_GRID_H_
#define ORDO_MODEL_TASKS_ADDITION_GRID_H_

#include <memory>

#include "model/tasks/task.h"

namespace ordo::model::tasks {

struct AdditionGridOptions {
  // The grid has one cell for each pair of operand lengths 1..max_digits.
  int max_digits = 10;
  // Questions per cell.
  int samples = 20;
  // Lengths the model was trained on, 0 when not known: what the scores of the
  // trained square and the rest are split by.
  int trained_digits = 0;
};

// Exact match of greedy answers over the grid of operand lengths (McLeish et
// al. 2024). Metrics, fractions of 1: `grid_mean` over all cells,
// `trained_mean` over i, j <= trained_digits, `outside_mean` over the rest
// (both only where there are such cells), `diagonal_mean`, and `largest_95`,
// the largest m whose cell (m, m) has at least 95 %, 0 if there is none.
//
// Questions come from streams of their own, independent of the training rows,
// and none is held out: a cell within the trained lengths can ask what a
// training row has shown (with one digit there are only 81 sums), a longer one
// never does.
std::unique_ptr<EvaluationTask> MakeAdditionGrid(
    const AdditionGridOptions& options);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_ADDITION_GRID_H_
