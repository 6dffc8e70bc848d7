#ifndef ORDO_MODEL_TEXT_TASK_TEXT_TASK_H_
#define ORDO_MODEL_TEXT_TASK_TEXT_TASK_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "model/tasks/data_access.h"
#include "model/tasks/task.h"
#include "model/text/rows/packing.h"
#include "model/text/store/facts.h"
#include "model/text/task/token_data.h"

namespace ordo::model::text::task {

struct TextTaskOptions {
  TextOptions text;
  // Of each of text.data; empty: their numbers of tokens.
  std::vector<double> weights;
  rows::PackingOptions packing;
  store::HeldOut held_out;
};

// Language modelling on text: rows of options.packing, of what is not held out.
// Reads and tokenizes what no earlier task has left (token_data.h), whose
// errors are passed on. INVALID_ARGUMENT, with the field: there are too few
// tokens for a row, or a weight is too small.
absl::StatusOr<std::unique_ptr<tasks::TrainingTask>> OpenTextTask(
    const tasks::DataAccess& access, const TextTaskOptions& options);

}  // namespace ordo::model::text::task

#endif  // ORDO_MODEL_TEXT_TASK_TEXT_TASK_H_
