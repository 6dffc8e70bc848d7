// Measures a training step of every encoding beside one of rope and prints a
// table. Example:
//   tools/bench --encodings
//
// --quick takes one short step of each, to see that it works. OMP_NUM_THREADS
// sets the threads. Times are ratios within pairs of steps taken in turn, so
// that what else the machine does falls on both; memory is counted, not
// sampled.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ATen/Parallel.h"
#include "ATen/TensorOperators.h"
#include "ATen/core/Tensor.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cross_entropy_loss.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "base/check.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "c10/core/Allocator.h"
#include "c10/core/CPUAllocator.h"
#include "model/catalog/catalog.h"
#include "model/catalog/resolve.h"
#include "model/guard.h"
#include "model/training/adamw.h"
#include "model/transformer/transformer.h"

namespace {

namespace catalog = ordo::model::catalog;
using ordo::model::training::AdamW;
using ordo::model::transformer::ForwardOptions;
using ordo::model::transformer::Transformer;
using ordo::training::v1::Component;
using ordo::training::v1::Model;

constexpr char kReference[] = "rope";
constexpr int kVocabulary = 19;

struct Plan {
  std::vector<int64_t> lengths = {256, 512, 1024};
  // Of a batch: rows are this by their length.
  int64_t tokens = 1024;
  // Pairs of steps, after one that warms up.
  int rounds = 5;
};

// The tiny preset with half its layers.
Model TheModel() {
  Model model;
  model.set_layers(2);
  std::vector<ordo::base::FieldViolation> violations;
  catalog::ResolveModel("model", kVocabulary, &model, &violations);
  ORDO_CHECK(violations.empty());
  return model;
}

// With default parameters, and made of the reference where it needs others.
Component WithDefaults(const catalog::Entry& entry) {
  Component component;
  component.set_name(entry.name);
  for (int i = 0; i < entry.min_with; ++i) {
    component.add_with()->set_name(kReference);
  }
  std::vector<ordo::base::FieldViolation> violations;
  catalog::ResolveEncoding("encoding", TheModel(), &component, &violations);
  ORDO_CHECK(violations.empty()) << entry.name;
  return component;
}

Component Reference() {
  return WithDefaults(*catalog::Find(catalog::Kind::kEncoding, kReference));
}

// Allocates as LibTorch does, and counts bytes of the tensors that there are
// and the most since Restart. Lives as long as the process.
class CountingAllocator : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t size) override {
    auto block = std::make_unique<Block>();
    block->data = allocator_->allocate(size);
    block->size = static_cast<int64_t>(size);
    block->counter = this;
    Count(block->size);
    void* const data = block->data.get();
    return {data, block.release(), Free, c10::Device(c10::DeviceType::CPU)};
  }
  void copy_data(void* to, const void* from, size_t size) const override {
    default_copy_data(to, from, size);
  }

  void Restart() { most_ = now_.load(); }
  int64_t now() const { return now_; }
  int64_t most() const { return most_; }

 private:
  struct Block {
    c10::DataPtr data;
    int64_t size = 0;
    CountingAllocator* counter = nullptr;
  };

  static void Free(void* context) {
    const std::unique_ptr<Block> block(static_cast<Block*>(context));
    block->counter->Count(-block->size);
  }

  void Count(int64_t bytes) {
    const int64_t now = now_ += bytes;
    int64_t most = most_;
    while (now > most && !most_.compare_exchange_weak(most, now)) {
    }
  }

  c10::Allocator* const allocator_ = c10::GetDefaultCPUAllocator();
  std::atomic<int64_t> now_ = 0;
  std::atomic<int64_t> most_ = 0;
};

// A model in training on random tokens.
class Training {
 public:
  static absl::StatusOr<std::unique_ptr<Training>> Create(
      const Model& model, const Component& encoding) {
    ORDO_ASSIGN_OR_RETURN(auto transformer,
                          Transformer::Create(model, encoding, {}));
    return ordo::model::Guard("make the optimizer", [&] {
      for (const auto& named : transformer->Parameters()) {
        at::Tensor(named.tensor).requires_grad_(true);
      }
      return std::make_unique<Training>(std::move(transformer));
    });
  }

  explicit Training(std::unique_ptr<Transformer> transformer)
      : transformer_(std::move(transformer)),
        optimizer_(transformer_->Parameters(), {}) {}

  // Seconds of forward, backward and update over int64 [B,T].
  absl::StatusOr<double> Step(const at::Tensor& tokens_BT) {
    const auto start = std::chrono::steady_clock::now();
    ORDO_RETURN_IF_ERROR(ordo::model::Guard("step", [&] {
      for (const auto& named : transformer_->Parameters()) {
        named.tensor.mutable_grad() = at::Tensor();
      }
      ForwardOptions options;
      options.training = {1, step_++};
      const at::Tensor logits = transformer_->Forward(tokens_BT, options);
      at::cross_entropy_loss(logits.flatten(0, 1), tokens_BT.flatten())
          .backward();
      optimizer_.Step(1e-4, 1.0);
    }));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }

 private:
  const std::unique_ptr<Transformer> transformer_;
  AdamW optimizer_;
  int64_t step_ = 0;
};

double Median(std::vector<double> samples) {
  const auto middle =
      samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

// What an encoding costs at a length. Bytes are the most that tensors take at a
// time, parameters and optimizer included.
struct Costs {
  double seconds = 0;
  double time_ratio = 0;
  int64_t bytes = 0;
};

// Steps at one length, in turn with those of the reference.
class Comparison {
 public:
  static absl::StatusOr<std::unique_ptr<Comparison>> Create(
      const Plan& plan, int64_t length, CountingAllocator* memory) {
    auto made = std::make_unique<Comparison>();
    const int64_t rows = plan.tokens / length;
    made->tokens_BT_ =
        (at::arange(rows * length) * 7 % kVocabulary).view({rows, length});
    made->rounds_ = plan.rounds;
    made->memory_ = memory;
    ORDO_ASSIGN_OR_RETURN(made->reference_,
                          Training::Create(TheModel(), Reference()));
    // From here on it holds as much after each step.
    ORDO_RETURN_IF_ERROR(made->reference_->Step(made->tokens_BT_).status());
    return made;
  }

  absl::StatusOr<Costs> Measure(const Component& encoding) const {
    const int64_t before = memory_->now();
    ORDO_ASSIGN_OR_RETURN(const auto training,
                          Training::Create(TheModel(), encoding));
    std::vector<double> seconds, ratios;
    Costs costs;
    for (int round = -1; round < rounds_; ++round) {
      memory_->Restart();
      ORDO_ASSIGN_OR_RETURN(const double ours, training->Step(tokens_BT_));
      costs.bytes = std::max(costs.bytes, memory_->most() - before);
      if (round < 0) continue;
      ORDO_ASSIGN_OR_RETURN(const double theirs, reference_->Step(tokens_BT_));
      seconds.push_back(ours);
      ratios.push_back(ours / theirs);
    }
    costs.seconds = Median(seconds);
    costs.time_ratio = Median(ratios);
    return costs;
  }

  int64_t length() const { return tokens_BT_.size(1); }

 private:
  at::Tensor tokens_BT_;
  int rounds_ = 0;
  CountingAllocator* memory_ = nullptr;
  std::unique_ptr<Training> reference_;
};

std::string Head(const Plan& plan) {
  const Model model = TheModel();
  std::vector<std::string> batches;
  for (const int64_t length : plan.lengths) {
    batches.push_back(absl::StrCat(plan.tokens / length, " x ", length));
  }
  std::string head = absl::StrCat(
      "A training step (forward, backward, AdamW) as a ratio to one of ",
      kReference,
      "; default\nparameters, where an encoding is made of others: ",
      kReference, ". Model: ", model.layers(), " layers, width ", model.width(),
      ",\n", model.heads(), " heads, MLP ", model.mlp_width(), ", ",
      model.vocabulary_size(), " tokens, fp32, ", at::get_num_threads(),
      " threads. Batches: ", absl::StrJoin(batches, ", "),
      " tokens.\nTime: median of ", plan.rounds, " steps, each beside one of ",
      kReference,
      ". Memory: most bytes of tensors,\n"
      "parameters and optimizer included.\n\n");
  const auto line = [&](const std::string& first, const char* time,
                        const char* memory) {
    absl::StrAppend(&head, "| ", first);
    for (const char* text : {time, memory}) {
      for (const int64_t length : plan.lengths) {
        absl::StrAppend(&head, " | ", absl::Substitute(text, length));
      }
    }
    absl::StrAppend(&head, " |\n");
  };
  line("encoding", "time at $0", "memory at $0");
  line("---", "---:", "---:");
  return head;
}

// The costs of an encoding at each length; none where it has no room for it.
using Row = std::vector<std::optional<Costs>>;

absl::StatusOr<Row> MeasureRow(
    const Component& encoding,
    const std::vector<std::unique_ptr<Comparison>>& comparisons) {
  const int64_t limit = catalog::MaxLength(encoding);
  Row row;
  for (const auto& comparison : comparisons) {
    row.emplace_back();
    if (limit != 0 && limit < comparison->length()) continue;
    ORDO_ASSIGN_OR_RETURN(row.back(), comparison->Measure(encoding));
  }
  return row;
}

std::string RowText(const std::string& name, const Row& row,
                    const Row& reference) {
  std::string times, bytes;
  for (size_t i = 0; i < row.size(); ++i) {
    if (!row[i].has_value()) {
      times += " | -";
      bytes += " | -";
      continue;
    }
    absl::StrAppend(&times, " | ", absl::StrFormat("%.2f", row[i]->time_ratio));
    absl::StrAppend(
        &bytes, " | ",
        absl::StrFormat("%.2f", static_cast<double>(row[i]->bytes) /
                                    static_cast<double>(reference[i]->bytes)));
  }
  return absl::StrCat("| ", name, times, bytes, " |\n");
}

std::string ReferenceText(const Plan& plan, const Row& reference) {
  std::string text = absl::StrCat("\n", kReference, " itself: ");
  for (size_t i = 0; i < reference.size(); ++i) {
    absl::StrAppend(
        &text, i == 0 ? "" : "; ", "at ", plan.lengths[i], " ",
        absl::StrFormat("%.0f ms and %.1f MiB", 1000 * reference[i]->seconds,
                        static_cast<double>(reference[i]->bytes) / (1 << 20)));
  }
  return text + "\n";
}

absl::Status PrintTable(const Plan& plan) {
  auto& memory = *new CountingAllocator;
  constexpr uint8_t kFirst = 255;
  c10::SetCPUAllocator(&memory, kFirst);
  std::vector<std::unique_ptr<Comparison>> comparisons;
  for (const int64_t length : plan.lengths) {
    ORDO_ASSIGN_OR_RETURN(auto made, Comparison::Create(plan, length, &memory));
    comparisons.push_back(std::move(made));
  }
  std::fputs(Head(plan).c_str(), stdout);
  std::fflush(stdout);
  ORDO_ASSIGN_OR_RETURN(const Row reference,
                        MeasureRow(Reference(), comparisons));
  for (const catalog::Entry* entry :
       catalog::EntriesOf(catalog::Kind::kEncoding)) {
    ORDO_ASSIGN_OR_RETURN(const Row row,
                          MeasureRow(WithDefaults(*entry), comparisons));
    std::fputs(RowText(entry->name, row, reference).c_str(), stdout);
    std::fflush(stdout);
  }
  std::fputs(ReferenceText(plan, reference).c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  if (argc == 2 && std::strcmp(argv[1], "--quick") == 0) {
    plan = {{8, 16}, 16, 1};
  } else if (argc != 1) {
    std::fputs("usage: encodings [--quick]\n", stderr);
    return 2;
  }
  const absl::Status printed = PrintTable(plan);
  if (printed.ok()) return 0;
  std::fprintf(stderr, "encodings: %s\n", printed.ToString().c_str());
  return 1;
}
