#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_MAPS_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_MAPS_H_

#include <cstdint>

#include "kernels/attention/cuda_hopper_code.h"

// On the host, for cuda_hopper_rows.cu: which tensors boxes can be copied of,
// and the maps that say where they lie.

namespace ordo::kernels::attention {

inline Shape QShape(const Problem& p) {
  return {p.batch, p.heads, p.queries, p.width};
}

inline Shape KShape(const Problem& p) {
  return {p.batch, p.key_heads, p.keys, p.width};
}

inline Shape ValueShapeOf(const Problem& p, int v) {
  return {p.batch, p.values[v].heads, p.keys, p.values[v].width};
}

// Whether boxes of it can be copied.
inline bool IsBoxed(const View& view, const Shape& shape) {
  const bool strides = (shape.tokens == 1 || view.token_stride % 8 == 0) &&
                       (shape.heads == 1 || view.head_stride % 8 == 0) &&
                       (shape.batch == 1 || view.batch_stride % 8 == 0);
  return strides && reinterpret_cast<uintptr_t>(view.data) % 16 == 0;
}

inline bool AreBoxed(const Call& call) {
  const Problem& p = call.problem;
  bool all = IsBoxed(call.inputs[kQ], QShape(p)) &&
             IsBoxed(call.inputs[kK], KShape(p));
  if (p.far_from > 0) {
    all &= IsBoxed(call.inputs[kFarQ], QShape(p)) &&
           IsBoxed(call.inputs[kFarK], KShape(p));
  }
  for (int v = 0; v < p.num_values; ++v) {
    all &= IsBoxed(call.inputs[kValue + v], ValueShapeOf(p, v));
  }
  return all;
}

inline Shape MixedShape(const Problem& p, int v) {
  return {p.batch, p.heads, p.queries, p.values[v].width};
}

inline bool AreMixedBoxed(const Call& call) {
  bool all = true;
  for (int v = 0; v < call.problem.num_values; ++v) {
    all &= IsBoxed(call.d_outputs[kMixed + v], MixedShape(call.problem, v));
  }
  return all;
}

// Makes the maps of a pass.
class Maps {
 public:
  explicit Maps(HopperArguments* arguments) : arguments_(arguments) {}

  void Add(Boxed boxed, const View& view, const Shape& shape, int rows) {
    if (error_ != nullptr) return;
    error_ = device::MakeTensorMap(
        {view.data,
         {shape.width, shape.tokens, shape.heads, shape.batch},
         {view.token_stride, view.head_stride, view.batch_stride},
         rows},
        &arguments_->maps[boxed]);
    arguments_->has[boxed] = true;
  }

  // Null, or what went wrong.
  const char* error() const { return error_; }

 private:
  HopperArguments* const arguments_;
  const char* error_ = nullptr;
};

// Of q, k and the values, with as many rows as the pass reads.
inline void AddInputs(const Call& call, int queries, int keys, Maps* maps) {
  const Problem& p = call.problem;
  maps->Add(kBoxedQ, call.inputs[kQ], QShape(p), queries);
  maps->Add(kBoxedK, call.inputs[kK], KShape(p), keys);
  if (p.far_from > 0) {
    maps->Add(kBoxedFarQ, call.inputs[kFarQ], QShape(p), queries);
    maps->Add(kBoxedFarK, call.inputs[kFarK], KShape(p), keys);
  }
  for (int v = 0; v < p.num_values; ++v) {
    maps->Add(static_cast<Boxed>(kBoxedValue + v), call.inputs[kValue + v],
              ValueShapeOf(p, v), keys);
  }
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_MAPS_H_
