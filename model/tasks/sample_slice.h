#ifndef ORDO_MODEL_TASKS_SAMPLE_SLICE_H_
#define ORDO_MODEL_TASKS_SAMPLE_SLICE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/tasks/task.h"

namespace ordo::model::tasks {

// The samples of an evaluation from one to another: what is asked for when a
// set grows. All slices together, one behind the other, ask what the evaluation
// with all of their samples asks, each question as that does, in an order of
// their own: samples one by one, and the items of a sample (the cells of a
// grid, say) drawn in a random order, so that the first items of any number are
// about as many of each kind. That order, and the names of the items, depend on
// the seed alone. Immutable, thread-safe.
//
// For tasks with a parameter `samples` whose question number i is sample
// i % samples of kind i / samples, and whose items stand alone
// (catalog::EvaluationTraits).
class SampleSlice : public EvaluationTask {
 public:
  struct Range {
    // The slice has samples first .. first + count - 1, at least one.
    int64_t first = 0;
    int64_t count = 1;
    // Items of each (catalog::ItemsPerSample).
    int64_t items_per_sample = 1;
    // Of the questions.
    uint64_t seed = 1;
  };

  // `whole` is the task with at least first + count samples, `part` the same
  // with `count`, by which the slice is scored.
  SampleSlice(std::unique_ptr<EvaluationTask> whole,
              std::unique_ptr<EvaluationTask> part, const Range& range);

  const Tokenizer& tokenizer() const override { return whole_->tokenizer(); }
  int64_t size() const override { return part_->size(); }
  Measure measure() const override { return whole_->measure(); }
  absl::StatusOr<Question> Generate(uint64_t seed,
                                    int64_t index) const override;
  int PromptLength(int64_t index) const override {
    return whole_->PromptLength(InWhole(index));
  }
  int AnswerLength(int64_t index) const override {
    return whole_->AnswerLength(InWhole(index));
  }
  int64_t drawn_from() const override { return whole_->drawn_from(); }
  std::optional<int64_t> end_token() const override {
    return whole_->end_token();
  }
  // "<seed>-<sample>", or "<seed>-<kind>-<sample>" where there are several.
  std::string ItemId(uint64_t seed, int64_t index) const override;
  double ItemScore(const Marks& marks) const override {
    return whole_->ItemScore(marks);
  }
  // Of the slice alone; its details say where it begins.
  Scores Score(const Marked& marked) const override;

 private:
  // A question of this task: its kind, and which sample of all.
  struct Place {
    int64_t kind = 0;
    int64_t sample = 0;
  };
  Place PlaceOf(int64_t index) const;
  int64_t InWhole(int64_t index) const;

  const std::unique_ptr<EvaluationTask> whole_;
  const std::unique_ptr<EvaluationTask> part_;
  const Range range_;
  // Samples that `whole_` has.
  const int64_t num_samples_;
  // Of each sample its kinds, in the order in which they are asked for.
  std::vector<std::vector<uint64_t>> kinds_;
};

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_SAMPLE_SLICE_H_
