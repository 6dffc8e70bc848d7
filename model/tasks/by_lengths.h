#ifndef ORDO_MODEL_TASKS_BY_LENGTHS_H_
#define ORDO_MODEL_TASKS_BY_LENGTHS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/tasks/task.h"

// One evaluation of a task at several lengths.

namespace ordo::model::tasks {

// The task with questions of one length.
struct TaskAtLength {
  int64_t length = 0;
  std::unique_ptr<EvaluationTask> task;
};

// What the lengths are of.
struct ByLengthsAbout {
  // What they count: "pairs", "length".
  std::string by;
  // The longest in training; 0: not known.
  int64_t trained = 0;
};

// The questions of all parts, those of the first length first. Items are called
// as those of the part, behind the length: "64/1-0". So are units that are one
// item; others are of all lengths: items of two parts with one unit depend on
// each other. Metrics: `error_<length>`, the `error` of the part, or where it
// has none one less the mean score of its items; `error`, their mean, and
// `error_longer`, that of the lengths beyond training, where there are; and the
// part's further ones with _<length> behind, all with the standard errors that
// parts know. Where errors are of items, units that lengths have in common move
// the mean together. `by_length` of the details has them by row, with as many
// `items` as each is a mean of, which are not always its questions; none where
// the part does not say it. `cells` and `prompt_tokens`, which say their
// lengths, are those of all parts.
//
// REQUIRES: one part or more, of rising lengths and of one task that says
// whether answers are right, in marks or as items of texts, one of each
// question.
std::unique_ptr<EvaluationTask> MakeByLengths(std::vector<TaskAtLength> parts,
                                              ByLengthsAbout about);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_BY_LENGTHS_H_
