#ifndef ORDO_MODEL_TASKS_INSIDE_INSIDE_TASK_H_
#define ORDO_MODEL_TASKS_INSIDE_INSIDE_TASK_H_

#include <memory>

#include "model/tasks/inside/rows.h"
#include "model/tasks/task.h"

namespace ordo::model::tasks::inside {

// What goes on inside of a model while it reads rows. Metrics are means over
// the rows, by the names of Inside::numbers (model/evaluation/inspect.h).
// `details` has
//
//   texts, longest      rows, and tokens of the longest
//   layers              [{layer, <name>: {mean, standard_error}}]
//   maps                of the first row: [{source, layer, head, rows}], a list
//                       for each query, six decimals
//   tokens, newlines,   of the first row where it has maps: each token as text,
//   titles              and which of them, from 0, have an end of a line or
//                       stand in a line that begins and ends with "="
//   curves              [{layer, values}] by distance, means over the rows that
//                       are long enough
//
// and `csv` the same for spreadsheets: of kAttention the maps, of kPositions
// the curves, of kShifts the numbers. Numbers that are not finite do not count.
//
// `query.begin` is the rows' own.
std::unique_ptr<EvaluationTask> MakeInside(InsideQuery query,
                                           std::unique_ptr<Rows> rows);

}  // namespace ordo::model::tasks::inside

#endif  // ORDO_MODEL_TASKS_INSIDE_INSIDE_TASK_H_
