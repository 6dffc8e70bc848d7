#ifndef ORDO_MODEL_BENCHMARK_UPDATE_BENCHMARK_H_
#define ORDO_MODEL_BENCHMARK_UPDATE_BENCHMARK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/common/type.h"
#include "model/benchmark/measurement.h"

// Time and memory of the change of TAPE's state (kernels/update), by the kernel
// that Select takes and by LibTorch's plain operations in turn, with autograd.
//
// Legend: B batch, H heads, T tokens, W width of a head's state, E inner width.

namespace ordo::model::benchmark {

struct UpdateShape {
  int64_t batch = 2;
  int64_t heads = 12;
  int64_t tokens = 0;
  int64_t width = 64;
  // E: the map by token, after the MLP; 0: one map for all tokens, after
  // attention.
  int64_t inner = 0;
};

struct UpdateOptions {
  // Where it runs; a GPU has been opened.
  kernels::Device device = kernels::Device::kCpu;
  // Its number outside this process, for what is written.
  int gpu = 0;
  std::vector<kernels::Type> types = {kernels::Type::kFloat32,
                                      kernels::Type::kBfloat16};
  std::vector<UpdateShape> shapes;
  int rounds = 15;
  // Of the copy that byte rates are shares of.
  int64_t copied_bytes = int64_t{256} << 20;

  // Both maps: on a CPU as attention's standard shapes, on a GPU 32768 tokens
  // of 12 heads 64 wide and 16384 of 32 heads 128 wide.
  static UpdateOptions For(kernels::Device device);
  // One short shape of each map, twice.
  UpdateOptions Quick() const;
};

// By one of both ways at a shape. Samples are in the order of rounds.
struct UpdateRow {
  UpdateShape shape;
  kernels::Type type = kernels::Type::kFloat32;
  // Of the table, or kPlainUpdate.
  std::string kernel;
  std::vector<double> forward_s;
  // Both passes.
  std::vector<double> total_s;
  // To the plain operations in the same round.
  std::vector<double> forward_ratio;
  std::vector<double> total_ratio;
  // That the passes must read and write, once each.
  double forward_bytes = 0;
  double total_bytes = 0;
  // The most beyond inputs and the gradient of what comes out.
  int64_t peak_bytes = 0;
};

inline constexpr char kPlainUpdate[] = "libtorch_plain";

struct UpdateResults {
  std::vector<UpdateRow> rows;
  double copy_bytes_per_s = 0;
  int threads = 0;
  kernels::Device device = kernels::Device::kCpu;
  // As UpdateOptions.
  int gpu = 0;
};

// UNIMPLEMENTED where no kernel takes a shape.
absl::StatusOr<UpdateResults> RunUpdate(const UpdateOptions& options);

// Lines of the form of all benchmarks; docs/kernels.md defines the metrics.
std::vector<Measurement> MeasurementsOf(const UpdateResults& results);

// A table for people.
std::string TableOf(const UpdateResults& results);

}  // namespace ordo::model::benchmark

#endif  // ORDO_MODEL_BENCHMARK_UPDATE_BENCHMARK_H_
