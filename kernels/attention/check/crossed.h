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

// What is crossed with the kinds.
struct CrossedSizes {
  // Of q and k.
  std::vector<int64_t> widths;
  // Of the keys.
  std::vector<int64_t> lengths;
  // A single query too, as of cached decoding.
  bool one_query = false;
};

// All widths with more keys than a tile of 64 has, or two, as with few of them
// a kernel has not much to do; and few widths with one token, part of a tile, a
// whole one, and one query.
std::vector<CrossedSizes> UsualSizes();

// Kinds first: what encodings ask for, each by the name of one of them or of
// its score mod.
std::vector<Axis> CrossedAxes(const CrossedSizes& sizes);

struct Crossed {
  // In fp32; its label has those of all choices.
  Case of;
  // The variant of each axis of its sizes.
  std::vector<int> choices;
};

// What GoogleTest calls it.
void PrintTo(const Crossed& crossed, std::ostream* out);

// Those of each of these sizes: all but keys that are far behind the query
// (ReRoPE) where others are before it, which is no problem; and what `is_done`,
// if there is one, says no to.
std::vector<Crossed> CrossedProblems(
    const std::vector<CrossedSizes>& sizes,
    const std::function<bool(const Problem& problem)>& is_done = nullptr);

}  // namespace ordo::kernels::attention::check

#endif  // ORDO_KERNELS_ATTENTION_CHECK_CROSSED_H_
