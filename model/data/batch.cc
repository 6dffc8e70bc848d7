#include "model/data/batch.h"

#include <algorithm>
#include <vector>

#include "ATen/ops/empty.h"

namespace ordo::model::data {
namespace {

at::Tensor ToTensor(const std::vector<int64_t>& values) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(values.size())},
                                at::TensorOptions().dtype(at::kLong));
  std::copy(values.begin(), values.end(), tensor.data_ptr<int64_t>());
  return tensor;
}

}  // namespace

Batch MakeBatch(const tasks::TrainingTask& task, const BatchRows& rows) {
  const int64_t length = task.row_length() - 1;
  std::vector<int64_t> tokens;
  std::vector<int64_t> targets;
  std::vector<int64_t> places;
  tokens.reserve(rows.count * length);
  for (int64_t row = 0; row < rows.count; ++row) {
    const tasks::Sample sample = task.Generate(rows.seed, rows.first + row);
    tokens.insert(tokens.end(), sample.tokens.begin(), sample.tokens.end() - 1);
    for (int64_t t = 0; t < length; ++t) {
      if (sample.scored[t + 1] == 0) continue;
      targets.push_back(sample.tokens[t + 1]);
      places.push_back(row * length + t);
    }
  }
  return {ToTensor(tokens).view({rows.count, length}), ToTensor(targets),
          ToTensor(places)};
}

int64_t CountScored(const tasks::TrainingTask& task, const BatchRows& rows) {
  int64_t count = 0;
  for (int64_t row = 0; row < rows.count; ++row) {
    const tasks::Sample sample = task.Generate(rows.seed, rows.first + row);
    // Nothing predicts the first token.
    count += std::count_if(sample.scored.begin() + 1, sample.scored.end(),
                           [](uint8_t scored) { return scored != 0; });
  }
  return count;
}

}  // namespace ordo::model::data
