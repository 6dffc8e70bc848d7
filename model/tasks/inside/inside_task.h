#ifndef ORDO_MODEL_TASKS_INSIDE_INSIDE_TASK_H_
#define ORDO_MODEL_TASKS_INSIDE_INSIDE_TASK_H_

#include <memory>

#include "model/tasks/inside/rows.h"
#include "model/tasks/task.h"

namespace ordo::model::tasks::inside {

// Files of its report, for who draws it; a file is there where it has a line.
//
//   maps.csv    source,layer,head,query,key,value: the maps of the first row,
//               queries and keys from 1; what is 0 is left out
//   curves.csv  layer,distance,value,texts,standard_error: means over the rows
//               that are long enough
inline constexpr char kMapsFile[] = "maps.csv";
inline constexpr char kCurvesFile[] = "curves.csv";

// What goes on inside of a model while it reads rows. Metrics are means over
// the rows, by the names of Inside::numbers (model/evaluation/inspect.h), with
// their standard errors over the rows, of which a single row tells none;
// numbers that are not finite do not count. `details` has
//
//   texts, longest     rows, and tokens of the longest
//   shift, adds_tokens of kShifts: as of the query
//   layers             [{layer, <name>: {mean, texts, standard_error}}]
//   newlines, titles   of the first row where it has maps: which tokens, from
//                      1, have an end of a line, or stand in a line that begins
//                      and ends with "="
//
// `query.begin` is the rows' own.
std::unique_ptr<EvaluationTask> MakeInside(InsideQuery query,
                                           std::unique_ptr<Rows> rows);

}  // namespace ordo::model::tasks::inside

#endif  // ORDO_MODEL_TASKS_INSIDE_INSIDE_TASK_H_
