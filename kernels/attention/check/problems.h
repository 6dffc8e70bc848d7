#ifndef ORDO_KERNELS_ATTENTION_CHECK_PROBLEMS_H_
#define ORDO_KERNELS_ATTENTION_CHECK_PROBLEMS_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/attention/check/changes.h"
#include "kernels/attention/problem.h"
#include "kernels/attention/reference.h"

// The problems that the judge and every kernel are tested on.

namespace ordo::kernels::attention::check {

struct Case {
  std::string label;
  Problem problem;
  // Puts other numbers in the place of drawn ones; null: it does not.
  std::function<void(const Problem& problem, Tensors* tensors)> draw = nullptr;
};

// What GoogleTest calls it.
void PrintTo(const Case& c, std::ostream* out);

// Three heads of one value tensor as wide as they are, causal, scaled by the
// root of the width.
Problem Plain(int64_t length, int64_t width);

// The numbers of a bias that falls by 1 from key to key in the first head, by a
// quarter of the last head's in each other; after the query as before it.
void DrawFallingBias(const Problem& problem, Tensors* tensors);

// The same in bf16; its label says so.
Case InBfloat16(const Case& c);

// Lengths, widths and changes, in fp32 and bf16, some in fp16.
std::vector<Case> Problems();

// Every change at other lengths and widths, in fp32 or bf16: one token and two,
// around a tile of 64, widths of whole vectors and others, and wide ones.
std::vector<Case> SizedProblems();

// The few that take a moment and have each term, for a device that is to be
// used: on a GPU in bf16 and some in fp16, as no kernel there takes fp32, on a
// CPU in fp32 and some in bf16, as its kernels widen what they load.
std::vector<Case> SmallProblems(Device device);

// Products of two numbers in a forward pass over all pairs that are seen by
// their places: what the judge's time is about proportional to.
int64_t ProductsOf(const Problem& problem);

}  // namespace ordo::kernels::attention::check

#endif  // ORDO_KERNELS_ATTENTION_CHECK_PROBLEMS_H_
