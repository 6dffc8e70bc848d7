#ifndef ORDO_MODEL_CATALOG_BENCHMARK_H_
#define ORDO_MODEL_CATALOG_BENCHMARK_H_

#include <cstdint>
#include <string_view>

#include "model/catalog/fields.h"
#include "proto/ordo/training/v1/spec.pb.h"

// Checks and defaults of a benchmark, as in resolve.h.

namespace ordo::model::catalog {

inline constexpr int kMaxBenchmarkShapes = 64;
// Numbers in each of q, k and v, of which passes keep about a dozen: 1 GiB of
// fp32.
inline constexpr int64_t kMaxBenchmarkNumbers = int64_t{1} << 28;

// `resources` are resolved.
void ResolveBenchmark(std::string_view field,
                      const ordo::training::v1::Resources& resources,
                      ordo::training::v1::Benchmark* benchmark,
                      Violations* violations);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_BENCHMARK_H_
