#ifndef ORDO_MODEL_COST_COST_H_
#define ORDO_MODEL_COST_COST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/catalog/catalog.h"
#include "proto/ordo/training/v1/spec.pb.h"

// What a model costs, counted from its sizes: parameters, and the work of one
// forward pass over one row. Pure; free of LibTorch.
//
// CostConvention::kModel counts what the reference path does of use:
//   - a query meets the keys that it sees only, about half of them;
//   - products of matrices as multiply-accumulates (MACs), two floating-point
//     operations (FLOPs) each;
//   - every other operation on a value as one FLOP: additions of residuals and
//     biases, norms, softmax (5 for each logit), activations, and what the
//     encoding does. Comparisons and look-ups are free.
//
// CostConvention::kTapeTable3 counts as table 3 of Zhu et al. 2025
// (arXiv:2501.00712) does, whose profiler watched the authors' code:
//   - MACs of all linear layers, and of both products of attention with every
//     key, seen or not;
//   - FLOPs are twice those, one for each logit of softmax and one for each
//     value of an activation;
//   - an einsum counts in FLOPs and not in MACs;
//   - norms, rotations, additions, masks and look-ups are free.

namespace ordo::model::cost {

// "model" and "tape_table3".
std::string ConventionName(catalog::CostConvention convention);
const std::vector<catalog::CostConvention>& Conventions();

struct CostOptions {
  catalog::CostConvention convention = catalog::CostConvention::kModel;
  // Tokens of the row, at least 1.
  int64_t tokens = 1024;
  // Of the type that attention's state is kept in.
  int64_t bytes_per_value = 4;
};

struct PartCost {
  // "embedding", "layer 0", ..., "head", "encoding".
  std::string name;
  int64_t parameters = 0;
  int64_t macs = 0;
  int64_t flops = 0;
  // What decoding keeps of the row.
  int64_t state_bytes = 0;
};

struct Cost {
  // The encoding's parameters, of all layers, and what it does before the first
  // are a part of their own, the last; what it does in a layer is in the
  // layer's. Adapters are in their layer's.
  std::vector<PartCost> parts;
  PartCost whole;
};

// What is counted. Resolved, and fits together; not owned.
struct CostSubject {
  const ordo::training::v1::Model& model;
  const ordo::training::v1::Component& encoding;
  // Adapters; null: none.
  const ordo::training::v1::Lora* lora = nullptr;
};

Cost CountCost(const CostSubject& subject, const CostOptions& options);

// Floating-point operations of training on `rows` rows of so many tokens: the
// forward passes as CostConvention::kModel counts them, and twice that for the
// backward passes.
double TrainingFlops(const CostSubject& subject, int64_t tokens, int64_t rows);

}  // namespace ordo::model::cost

#endif  // ORDO_MODEL_COST_COST_H_
