#ifndef ORDO_KERNELS_ATTENTION_CUDA_WORKSPACE_H_
#define ORDO_KERNELS_ATTENTION_CUDA_WORKSPACE_H_

#include <cstdint>

#include "kernels/attention/problem.h"

// How the rows for GPUs lay out what their passes need.

namespace ordo::kernels::attention {

// `count` up to a multiple of 64: bytes, parts of the workspace begin there.
inline int64_t Lines(int64_t count) { return (count + 63) / 64 * 64; }

// Of all value tensors side by side.
inline int64_t ValuesWidth(const Problem& p) {
  int64_t width = 0;
  for (int v = 0; v < p.num_values; ++v) width += p.values[v].width;
  return width;
}

// Distances that a row of logits may have, or with position ids a table has.
inline int64_t SpreadLength(const Problem& p) {
  if (p.positioned) return p.distances();
  return p.causal ? p.keys : 2 * p.keys - 1;
}

// Gives out a workspace from its begin on, or counts what is given out.
class Workspace {
 public:
  explicit Workspace(void* begin) : begin_(static_cast<char*>(begin)) {}

  template <typename Number>
  Number* Take(int64_t count) {
    char* const found = begin_ == nullptr ? nullptr : begin_ + bytes_;
    bytes_ += Lines(count * static_cast<int64_t>(sizeof(Number)));
    return reinterpret_cast<Number*>(found);
  }
  int64_t bytes() const { return bytes_; }

 private:
  char* begin_;
  int64_t bytes_ = 0;
};

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_WORKSPACE_H_
