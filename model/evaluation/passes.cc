#include "model/evaluation/passes.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ordo::model::evaluation {
namespace {

// Tokens of the longest answer that there may be, by length of the prompt.
std::map<int, int> LongestAnswers(const tasks::EvaluationTask& task) {
  std::map<int, int> longest;
  for (int64_t index = 0; index < task.size(); ++index) {
    int& tokens = longest[task.PromptLength(index)];
    tokens = std::max(tokens, task.AnswerLength(index));
  }
  return longest;
}

bool IsFull(const Pass& pass) {
  return static_cast<int64_t>(pass.indices.size()) == pass.num_rows;
}

}  // namespace

std::vector<Pass> MakePasses(const tasks::EvaluationTask& task,
                             const catalog::MicroBatchShape& shape) {
  std::vector<int64_t> order(task.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return task.PromptLength(a) < task.PromptLength(b);
  });
  std::map<int, int> longest = LongestAnswers(task);
  std::vector<Pass> passes;
  int last_length = -1;
  for (const int64_t index : order) {
    const int length = task.PromptLength(index);
    if (length != last_length || IsFull(passes.back())) {
      Pass& pass = passes.emplace_back();
      pass.num_tokens = longest[length];
      pass.num_rows = catalog::MicroBatchRows(shape, length + pass.num_tokens);
    }
    last_length = length;
    passes.back().indices.push_back(index);
  }
  return passes;
}

std::vector<std::vector<int64_t>> PromptsOf(
    const std::vector<tasks::Question>& questions, int64_t num_rows) {
  std::vector<std::vector<int64_t>> prompts;
  for (const tasks::Question& question : questions) {
    prompts.push_back(question.prompt);
  }
  prompts.resize(static_cast<size_t>(num_rows), questions.front().prompt);
  return prompts;
}

}  // namespace ordo::model::evaluation
