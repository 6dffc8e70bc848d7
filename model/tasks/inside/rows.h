#ifndef ORDO_MODEL_TASKS_INSIDE_ROWS_H_
#define ORDO_MODEL_TASKS_INSIDE_ROWS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/tasks/task.h"

namespace ordo::model::tasks::inside {

// Texts that a model reads while it is looked into. Immutable, thread-safe.
class Rows {
 public:
  virtual ~Rows() = default;

  virtual const Tokenizer& tokenizer() const = 0;
  // At least 1.
  virtual int64_t size() const = 0;
  // Tokens of the longest, and more where that is not known.
  virtual int max_length() const = 0;
  // Row `index`, at least one token. Errors as TrainingTask::Generate.
  virtual absl::StatusOr<std::vector<int64_t>> Get(uint64_t seed,
                                                   int64_t index) const = 0;
  // As EvaluationTask::ItemId.
  virtual std::string Id(uint64_t seed, int64_t index) const = 0;
  // What texts begin with; nothing: no token has that meaning.
  virtual std::optional<int64_t> begin_token() const = 0;
  // As EvaluationTask::data_fingerprint.
  virtual std::string data_fingerprint() const = 0;
};

struct RowsOfTaskOptions {
  int64_t samples = 1;
  // A longer row is cut behind.
  int max_length = 1;
};

// The first rows of a training task, as far as a model reads them: without
// their last token.
std::unique_ptr<Rows> MakeRowsOfTask(std::unique_ptr<TrainingTask> task,
                                     const RowsOfTaskOptions& options);

}  // namespace ordo::model::tasks::inside

#endif  // ORDO_MODEL_TASKS_INSIDE_ROWS_H_
