#include "model/data/batch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ATen/ops/empty.h"
#include "ATen/ops/zeros.h"
#include "base/check.h"
#include "base/status/status.h"

namespace ordo::model::data {
namespace {

at::Tensor ToTensor(const std::vector<int64_t>& values) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(values.size())},
                                at::TensorOptions().dtype(at::kLong));
  std::copy(values.begin(), values.end(), tensor.data_ptr<int64_t>());
  return tensor;
}

// Tokens of the row that the model reads.
int64_t NumRead(const tasks::TrainingTask& task, const tasks::Sample& sample) {
  const auto count = static_cast<int64_t>(sample.tokens.size());
  ORDO_CHECK(count >= 2 && count <= task.row_length())
      << "a row of " << count << " tokens";
  return count - 1;
}

// Undefined where all rows have `length` real tokens.
at::Tensor RealTokens(const std::vector<int64_t>& num_real, int64_t length) {
  if (std::all_of(num_real.begin(), num_real.end(),
                  [&](int64_t count) { return count == length; })) {
    return {};
  }
  at::Tensor real_BT =
      at::zeros({static_cast<int64_t>(num_real.size()), length},
                at::TensorOptions().dtype(at::kBool));
  bool* row = real_BT.data_ptr<bool>();
  for (const int64_t count : num_real) {
    std::fill_n(row, count, true);
    row += length;
  }
  return real_BT;
}

// Undefined where each row is one text.
at::Tensor FirstSeen(const std::vector<tasks::Sample>& samples,
                     int64_t length) {
  if (std::all_of(samples.begin(), samples.end(),
                  [](const auto& sample) { return sample.starts.empty(); })) {
    return {};
  }
  at::Tensor first_BT =
      at::zeros({static_cast<int64_t>(samples.size()), length},
                at::TensorOptions().dtype(at::kLong));
  int64_t* row = first_BT.data_ptr<int64_t>();
  for (const tasks::Sample& sample : samples) {
    for (const int start : sample.starts) {
      // The last token is not read.
      if (start < length) std::fill(row + start, row + length, start);
    }
    row += length;
  }
  return first_BT;
}

}  // namespace

absl::StatusOr<Batch> MakeBatch(const tasks::TrainingTask& task,
                                const BatchRows& rows, OrderDigest* order) {
  std::vector<tasks::Sample> samples;
  std::vector<int64_t> num_real;
  for (int64_t row = 0; row < rows.count; ++row) {
    ORDO_ASSIGN_OR_RETURN(tasks::Sample sample,
                          task.Generate(rows.seed, rows.first + row));
    samples.push_back(std::move(sample));
    num_real.push_back(NumRead(task, samples.back()));
    if (order != nullptr) order->Add(samples.back());
  }
  const int64_t length = *std::max_element(num_real.begin(), num_real.end());
  std::vector<int64_t> tokens(rows.count * length, tasks::kPad);
  std::vector<int64_t> targets;
  std::vector<int64_t> places;
  for (int64_t row = 0; row < rows.count; ++row) {
    const tasks::Sample& sample = samples[row];
    const auto& said = sample.targets.empty() ? sample.tokens : sample.targets;
    std::copy(sample.tokens.begin(), sample.tokens.end() - 1,
              tokens.begin() + row * length);
    for (int64_t t = 0; t < num_real[row]; ++t) {
      if (sample.scored[t + 1] == 0) continue;
      targets.push_back(said[t + 1]);
      places.push_back(row * length + t);
    }
  }
  return Batch{ToTensor(tokens).view({rows.count, length}), ToTensor(targets),
               ToTensor(places), RealTokens(num_real, length),
               FirstSeen(samples, length)};
}

absl::StatusOr<BatchSize> SizeOfBatch(const tasks::TrainingTask& task,
                                      const BatchRows& rows,
                                      OrderDigest* order) {
  BatchSize size;
  int64_t length = 0;
  for (int64_t row = 0; row < rows.count; ++row) {
    ORDO_ASSIGN_OR_RETURN(const tasks::Sample sample,
                          task.Generate(rows.seed, rows.first + row));
    length = std::max(length, NumRead(task, sample));
    if (order != nullptr) order->Add(sample);
    // Nothing predicts the first token.
    size.num_scored +=
        std::count_if(sample.scored.begin() + 1, sample.scored.end(),
                      [](uint8_t scored) { return scored != 0; });
  }
  size.num_tokens = rows.count * length;
  return size;
}

}  // namespace ordo::model::data
