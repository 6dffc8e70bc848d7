// The row of cuda_tiled.cu: which problems it takes, by which pair of widths,
// and what of the backward pass does not depend on them.
//
// ORDO_CUDA_TILED_INSTANCES(X), of a generated header, calls X(type, width,
// values_width) for each instance of the build, of a type least first.

#include <algorithm>

#include "kernels/attention/cuda_code.h"
#include "kernels/attention/cuda_near.h"
#include "kernels/attention/cuda_tiled_body.h"
#include "kernels/attention/cuda_tiled_instances.h"
#include "kernels/attention/cuda_tiled_sums.h"
#include "kernels/attention/cuda_workspace.h"

namespace ordo::kernels::attention {
namespace {

const auto& Instances() {
  static const TiledWidths* const kAll[] = {
#define ORDO_ONE(type, width, values_width) \
  &Widths<type, width, values_width>(),
      ORDO_CUDA_TILED_INSTANCES(ORDO_ONE)
#undef ORDO_ONE
  };
  return kAll;
}

// The least pair that has room, or null.
const TiledWidths* FindWidths(const Problem& p) {
  const int64_t width = std::max({p.width, p.query_band, p.key_band});
  for (const TiledWidths* const widths : Instances()) {
    if (widths->type == p.type && widths->width >= width &&
        widths->values_width >= ValuesWidth(p)) {
      return widths;
    }
  }
  return nullptr;
}

// What problem.h has and this kernel does not.
const char* MissingTerm(const Problem& p) {
  if (p.positioned && (p.far_from > 0 || HasBands(p) || p.summed)) {
    return "it does not do position ids with vectors of distances, sums of "
           "weights or a far product";
  }
  if (p.pieces > kMaxPieces) return "it does not do more than 64 pieces";
  if (p.by_channel) return "it does not do products by channel";
  // Such a value's gradient would have to wait for the far keys' of all heads.
  bool own = false;
  for (int v = 0; v < p.num_values; ++v) {
    own |= p.values[v].heads != p.key_heads;
  }
  if (p.far_from > 0 && own) {
    return "it does not do a far product with values of heads that share keys";
  }
  if (p.summed && p.far_from > 0) {
    return "it does not do sums of weights by distance with a far product";
  }
  if (p.gates != Gates::kNone) return "it does not do counted positions";
  return nullptr;
}

const char* Refusal(const Problem& p) {
  const int64_t shared = device::SharedBytesOfBlock();
  if (shared == 0) return "no device";
  static const char* const not_built = device::WhyNotBuilt(TiledDelta);
  if (not_built != nullptr) return not_built;
  if (p.device != Device::kCuda) return "its tensors must lie on a GPU";
  const char* const of_type = TypeRefusal(Instances(), p.type);
  if (of_type != nullptr) return of_type;
  bool whole = p.width % 8 == 0 && p.query_band % 8 == 0 && p.key_band % 8 == 0;
  for (int v = 0; v < p.num_values; ++v) whole &= p.values[v].width % 8 == 0;
  if (!whole) return "its widths must be multiples of 8";
  const TiledWidths* const widths = FindWidths(p);
  if (widths == nullptr) {
    return "its widths are larger than the library was built for: bazel build "
           "--config=cuda_all";
  }
  const int64_t bands = HasBands(p) ? widths->band_bytes : 0;
  if (widths->shared_bytes + ThetaBytes(p) + bands > shared) {
    return "its widths need more shared memory than the GPU has";
  }
  if (p.batch > 65535 || p.heads > 65535) {
    return "batch and heads must be below 65536";
  }
  return MissingTerm(p);
}

int64_t SpreadStride(const Problem& p) { return Lines(SpreadLength(p)); }

Input TableInput(TableSums table) {
  if (table == kBiasSums) return kBias;
  return table == kMultiplierSums ? kMultiplier : kModDistance;
}

bool HasTable(const Problem& p, TableSums table) {
  if (table == kBiasSums) return p.biased;
  return table == kMultiplierSums ? p.multiplied : HasMod(p);
}

// Of X and of Y.
Input VectorsInput(int i) { return i == 0 ? kQueryVector : kKeyVector; }

// Where near_BH and what it is found from lie, if there is one.
void PlaceNear(const Problem& p, Workspace* workspace,
               TiledArguments* arguments) {
  if (!MayHaveFarKeys(p)) return;
  const int64_t heads = p.batch * p.heads;
  arguments->near_BH = workspace->Take<int>(heads);
  arguments->near_terms =
      workspace->Take<float>(heads * NumNearBlocks(p) * kNumSpreadTerms);
}

// Its pointers into the workspace of the backward pass as if all gradients were
// wanted.
TiledArguments Place(const Problem& p, Workspace* workspace) {
  TiledArguments arguments;
  const int64_t heads = p.batch * p.heads;
  arguments.spread_length = SpreadLength(p);
  arguments.spread_stride = SpreadStride(p);
  workspace->Take<char>(NearBytes(p));
  arguments.delta_BHT = workspace->Take<float>(heads * p.queries);
  for (int table = 0; table < kNumTableSums; ++table) {
    if (!HasTable(p, static_cast<TableSums>(table))) continue;
    arguments.d_parts[table] =
        workspace->Take<float>(heads * MaxParts(p) * arguments.spread_stride);
  }
  if (HasMod(p)) {
    arguments.d_theta =
        workspace->Take<float>(heads * MaxParts(p) * ParametersOf(p));
    arguments.d_rows = workspace->Take<float>(heads * p.queries);
  }
  for (int i = 0; i < 2; ++i) {
    if ((i == 0 ? p.query_band : p.key_band) == 0) continue;
    arguments.vectors_width = FindWidths(p)->width;
    arguments.d_vectors[i] =
        workspace->Take<float>(heads * MaxParts(p) * arguments.spread_stride *
                               arguments.vectors_width);
  }
  return arguments;
}

// Beyond what it gives.
int64_t ForwardBytes(const Problem& p) { return NearBytes(p); }

int64_t BackwardBytes(const Problem& p) {
  Workspace workspace(nullptr);
  Place(p, &workspace);
  return workspace.bytes();
}

TiledArguments Arguments(const Call& call, void* memory) {
  const Problem& p = call.problem;
  Workspace workspace(memory);
  TiledArguments arguments = Place(p, &workspace);
  arguments.call = call;
  bool in_parts = false;
  for (int table = 0; table < kNumTableSums; ++table) {
    float*& parts = arguments.d_parts[table];
    const Input input = TableInput(static_cast<TableSums>(table));
    if (call.d_inputs[input].data == nullptr) parts = nullptr;
    in_parts |= parts != nullptr;
  }
  if (call.d_inputs[kModParameter].data == nullptr &&
      call.d_inputs[kModQuery].data == nullptr) {
    arguments.d_theta = arguments.d_rows = nullptr;
  }
  in_parts |= arguments.d_theta != nullptr;
  for (int i = 0; i < 2; ++i) {
    float*& vectors = arguments.d_vectors[i];
    if (call.d_inputs[VectorsInput(i)].data == nullptr) vectors = nullptr;
    in_parts |= vectors != nullptr;
  }
  const int64_t tiles = (p.queries + kCudaTile - 1) / kCudaTile;
  arguments.parts = in_parts ? std::min(MaxParts(p), tiles) : 0;
  return arguments;
}

const char* Forward(const Call& call, void* workspace, void* stream) {
  TiledArguments arguments = Arguments(call, nullptr);
  const char* const error = FindNear(workspace, stream, &arguments);
  if (error != nullptr) return error;
  return FindWidths(call.problem)->forward(arguments, stream);
}

// Sums up the parts of a table's gradient.
const char* SumTable(const TableArguments& arguments, void* stream) {
  const TiledArguments& tiled = arguments.tiled;
  if (tiled.d_parts[arguments.table] == nullptr) return nullptr;
  const Problem& p = tiled.call.problem;
  const int64_t inner = (p.distances() + kThreads - 1) / kThreads;
  const device::Grid grid = {2 + inner, arguments.shared ? 1 : p.heads, 1,
                             kThreads, kThreads * sizeof(float)};
  return device::Launch(TiledTable, grid, stream, arguments);
}

// Sums up the parts of the gradient of a band's vectors.
const char* SumVectors(const TiledArguments& arguments, int i, void* stream) {
  if (arguments.d_vectors[i] == nullptr) return nullptr;
  const Problem& p = arguments.call.problem;
  const VectorsArguments vectors = {arguments, i, VectorsInput(i),
                                    i == 0 ? p.query_band : p.key_band};
  const int64_t elements = p.distances() * vectors.width;
  return device::Launch(
      TiledVectors,
      {(elements + kThreads - 1) / kThreads, p.table_heads, 1, kThreads, 0},
      stream, vectors);
}

const char* Backward(const Call& call, void* workspace, void* stream) {
  const Problem& p = call.problem;
  TiledArguments arguments = Arguments(call, workspace);
  const char* error = FindNear(workspace, stream, &arguments);
  if (error == nullptr) error = FindDelta(arguments, stream);
  if (error == nullptr) error = FindWidths(p)->backward(arguments, stream);
  if (error == nullptr) error = SumTables(arguments, stream);
  for (int i = 0; error == nullptr && i < 2; ++i) {
    error = SumVectors(arguments, i, stream);
  }
  return error != nullptr ? error : SumMod(arguments, stream);
}

}  // namespace

int64_t NearBytes(const Problem& p) {
  Workspace workspace(nullptr);
  TiledArguments unused;
  PlaceNear(p, &workspace, &unused);
  return workspace.bytes();
}

const char* FindNear(void* memory, void* stream, TiledArguments* arguments) {
  const Problem& p = arguments->call.problem;
  Workspace workspace(memory);
  PlaceNear(p, &workspace, arguments);
  if (arguments->near_BH == nullptr) return nullptr;
  device::Grid grid = {NumNearBlocks(p), p.heads, p.batch, kThreads,
                       kNumSpreadTerms * kThreads * sizeof(float)};
  const char* const error =
      device::Launch(TiledSpread, grid, stream, *arguments);
  if (error != nullptr) return error;
  grid.x = 1;
  return device::Launch(TiledNear, grid, stream, *arguments);
}

const char* FindDelta(const TiledArguments& arguments, void* stream) {
  const Problem& p = arguments.call.problem;
  constexpr int64_t kQueries = kThreads / 32;
  const device::Grid of_queries = {(p.queries + kQueries - 1) / kQueries,
                                   p.heads, p.batch, kThreads, 0};
  return device::Launch(TiledDelta, of_queries, stream, arguments);
}

const char* SumTables(const TiledArguments& arguments, void* stream) {
  const char* error = nullptr;
  for (int table = 0; error == nullptr && table < kNumTableSums; ++table) {
    const auto sums = static_cast<TableSums>(table);
    error =
        SumTable({arguments, sums, TableInput(sums), sums == kModSums}, stream);
  }
  return error;
}

const char* SumMod(const TiledArguments& arguments, void* stream) {
  if (arguments.d_theta == nullptr) return nullptr;
  const Problem& p = arguments.call.problem;
  if (arguments.call.d_inputs[kModQuery].data != nullptr) {
    const device::Grid of_queries = {(p.queries + kThreads - 1) / kThreads,
                                     p.batch, 1, kThreads, 0};
    const char* const error =
        device::Launch(TiledModQueries, of_queries, stream, arguments);
    if (error != nullptr) return error;
  }
  if (arguments.call.d_inputs[kModParameter].data == nullptr) return nullptr;
  return device::Launch(TiledTheta, {p.heads, 1, 1, kThreads, 0}, stream,
                        arguments);
}

const CudaCode& TiledCuda() {
  static constexpr CudaCode kCode = {"cuda_tiled",  Refusal, ForwardBytes,
                                     BackwardBytes, Forward, Backward};
  return kCode;
}

}  // namespace ordo::kernels::attention
