#ifndef ORDO_KERNELS_ATTENTION_CHECK_CROSSED_H_
#define ORDO_KERNELS_ATTENTION_CHECK_CROSSED_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/attention/check/problems.h"
#include "kernels/attention/problem.h"
#include "kernels/attention/reference.h"

// Each kind of attention crossed with all else that a problem may be: any two
// choices of two axes are in one problem together (covering.h), so that a
// kernel that does a kind at usual widths only, or for one value tensor only,
// is found.

namespace ordo::kernels::attention::check {

struct Variant {
  std::string label;
  std::function<void(Problem*)> apply;
  // As Case::draw.
  void (*draw)(const Problem& problem, Tensors* tensors) = nullptr;
};

struct Axis {
  std::string name;
  std::vector<Variant> variants;
};

// Of the widths of q and k, and of the keys.
struct CrossedSizes {
  std::vector<int64_t> widths;
  std::vector<int64_t> lengths;
};

// Widths of the issue of kernels; one token, part of a tile, a whole one, and
// ends beyond a tile and beyond two of 64.
CrossedSizes UsualSizes();

// Kinds first: what encodings ask for, each by the name of one of them or of
// its score mod.
std::vector<Axis> CrossedAxes(const CrossedSizes& sizes);

struct Crossed {
  // In fp32; its label has those of all choices.
  Case of;
  // The variant of each axis.
  std::vector<int> choices;
};

// What GoogleTest calls it.
void PrintTo(const Crossed& crossed, std::ostream* out);

// All but keys that are far behind the query (ReRoPE) where others are before
// it, which is no problem; and what `is_done`, if there is one, says no to.
std::vector<Crossed> CrossedProblems(
    const CrossedSizes& sizes,
    const std::function<bool(const Problem& problem)>& is_done = nullptr);

}  // namespace ordo::kernels::attention::check

#endif  // ORDO_KERNELS_ATTENTION_CHECK_CROSSED_H_
