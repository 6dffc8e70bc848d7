#include "model/tasks/inside/rows.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"

namespace ordo::model::tasks::inside {
namespace {

class RowsOfTask : public Rows {
 public:
  RowsOfTask(std::unique_ptr<TrainingTask> task,
             const RowsOfTaskOptions& options)
      : task_(std::move(task)), options_(options) {}

  const Tokenizer& tokenizer() const override { return task_->tokenizer(); }
  int64_t size() const override { return options_.samples; }
  int max_length() const override {
    return std::min(options_.max_length, task_->row_length() - 1);
  }

  absl::StatusOr<std::vector<int64_t>> Get(uint64_t seed,
                                           int64_t index) const override {
    ORDO_ASSIGN_OR_RETURN(Sample sample,
                          task_->Generate(seed, static_cast<uint64_t>(index)));
    std::vector<int64_t> row = std::move(sample.tokens);
    row.resize(std::min(row.size() - 1, static_cast<size_t>(max_length())));
    return row;
  }

  std::string Id(uint64_t seed, int64_t index) const override {
    return absl::StrCat(seed, "-", index);
  }
  std::optional<int64_t> begin_token() const override {
    if (!task_->tokenizer().has_marks()) return std::nullopt;
    return kBegin;
  }
  std::string data_fingerprint() const override {
    return task_->data_fingerprint();
  }

 private:
  const std::unique_ptr<TrainingTask> task_;
  const RowsOfTaskOptions options_;
};

}  // namespace

std::unique_ptr<Rows> MakeRowsOfTask(std::unique_ptr<TrainingTask> task,
                                     const RowsOfTaskOptions& options) {
  return std::make_unique<RowsOfTask>(std::move(task), options);
}

}  // namespace ordo::model::tasks::inside
