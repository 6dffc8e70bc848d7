// The row of cuda_hopper.cu: which problems it takes, by which pair of widths,
// and the maps of the tensors whose boxes it loads.
//
// ORDO_CUDA_HOPPER_INSTANCES(X), of a generated header, calls X(type, width,
// values_width) for each instance of the build, of a type least first.

#include <algorithm>

#include "kernels/attention/cuda_code.h"
#include "kernels/attention/cuda_hopper_band_sums.h"
#include "kernels/attention/cuda_hopper_code.h"
#include "kernels/attention/cuda_hopper_instances.h"
#include "kernels/attention/cuda_hopper_maps.h"
#include "kernels/attention/cuda_hopper_queries.h"
#include "kernels/attention/cuda_workspace.h"

namespace ordo::kernels::attention {
namespace {

int64_t Slots(int64_t width) {
  return (width + kTileColumns - 1) / kTileColumns;
}

const auto& Instances() {
  static const HopperWidths* const kAll[] = {
#define ORDO_ONE(type, width, values_width) \
  &HopperCode<type, width, values_width>(),
      ORDO_CUDA_HOPPER_INSTANCES(ORDO_ONE)
#undef ORDO_ONE
  };
  return kAll;
}

// The least pair that has room, or null.
const HopperWidths* FindWidths(const Problem& p) {
  int64_t slots = 0;
  for (int v = 0; v < p.num_values; ++v) slots += Slots(p.values[v].width);
  const int64_t width = std::max(p.width, p.query_band);
  for (const HopperWidths* const widths : Instances()) {
    if (p.query_band > 0 && !widths->has_numbers) continue;
    if (widths->type == p.type && widths->width >= width &&
        widths->values_width >= slots * kTileColumns) {
      return widths;
    }
  }
  return nullptr;
}

// The problem without vectors of distances, as wide.
Problem WithoutVectors(Problem p) {
  p.width = std::max(p.width, p.query_band);
  p.query_band = 0;
  return p;
}

// What problem.h has and this kernel does not.
const char* MissingTerm(const Problem& p) {
  if (p.positioned && DistanceNumberOf(p) != kNoNumber) {
    return "it does not do position ids with tables of distances or a far "
           "product";
  }
  if (p.multiplied && p.biased) {
    return "it does not do multipliers beside a bias";
  }
  if (p.rectified && !p.multiplied) {
    return "it does not do rectified products without multipliers";
  }
  if (p.query_band > 0 && HasTable(p)) {
    return "it does not do vectors of distances beside other tables of them";
  }
  if (HasMod(p) && (p.biased || p.multiplied)) {
    return "it does not do score mods beside a bias or multipliers";
  }
  if (p.pieces > kMaxPieces) return "it does not do more than 64 pieces";
  if (p.key_band > 0) return "it does not do vectors of distances at keys";
  if (p.query_band > 0 && (!p.causal || p.distances() > kBandColumns)) {
    return "it does vectors of distances without keys after the query only, of "
           "64 distances at most";
  }
  if (p.by_channel) return "it does not do products by channel";
  if (p.far_from > 0 && (HasTable(p) || p.query_band > 0)) {
    return "it does not do a far product beside tables of distances";
  }
  if (p.summed) return "it does not do sums of weights by distance";
  if (p.gates != Gates::kNone) return "it does not do counted positions";
  // Where boxes of the rows cannot be copied, the problem is cuda_tiled's; and
  // values of heads that share keys would have to wait for the far keys' of all
  // heads here, too.
  return TiledCuda().refusal(p);
}

const char* Refusal(const Problem& p) {
  const int capability = device::ComputeCapability();
  if (capability == 0) return "no device";
  if (capability != 90) return "the GPU must be of compute capability 9.0";
  if (p.device != Device::kCuda) return "its tensors must lie on a GPU";
  const char* const of_type = TypeRefusal(Instances(), p.type);
  if (of_type != nullptr) return of_type;
  bool whole = p.width % 8 == 0 && p.query_band % 8 == 0;
  for (int v = 0; v < p.num_values; ++v) whole &= p.values[v].width % 8 == 0;
  if (!whole) return "its widths must be multiples of 8";
  // The largest product must be the largest logit.
  if (!(p.scale > 0)) return "its scale must be above 0";
  if (FindWidths(p) == nullptr) {
    if (FindWidths(WithoutVectors(p)) != nullptr) {
      return "it does not do vectors of distances where k and the values "
             "together are wider than 256, each in whole tiles of 64 columns";
    }
    return "its widths are larger than the library was built for: bazel build "
           "--config=cuda_all";
  }
  if (p.batch > 65535 || p.heads > 65535) {
    return "batch and heads must be below 65536";
  }
  // Places of boxes are ints.
  if (p.keys >= 1 << 30) return "there must be fewer than 2^30 keys";
  return MissingTerm(p);
}

void PlaceSlots(const Problem& p, Slot* slots) {
  int next = 0;
  for (int v = 0; v < p.num_values; ++v) {
    for (int64_t i = 0; i < Slots(p.values[v].width); ++i) {
      slots[next++] = {v, static_cast<int>(i) * kTileColumns};
    }
  }
}

int64_t NumTerms(const Problem& p) {
  return p.batch * p.heads * p.queries * p.distances();
}

// What both passes have: what FindNear needs, and terms of vectors of
// distances.
void PlaceTerms(Workspace* workspace, HopperArguments* arguments) {
  const Problem& p = arguments->tiled.call.problem;
  workspace->Take<char>(NearBytes(p));
  if (p.query_band == 0) return;
  arguments->band_terms_BHTL = workspace->Take<float>(NumTerms(p));
}

// What the backward pass of blocks in parts has at most: as many of each head,
// with two groups.
constexpr int64_t kMaxBlocks = 8;

// Of the gradients of vectors of distances. Near pairs that are none have 0.
void PlaceBand(Workspace* workspace, HopperArguments* arguments) {
  const Problem& p = arguments->tiled.call.problem;
  const int64_t heads = p.batch * p.heads;
  // About two blocks for each multiprocessor of a device of 132, and two tiles
  // of queries for each.
  const int64_t pairs = (NumTiles(p.queries) + 1) / 2;
  arguments->band_parts = std::max<int64_t>(1, std::min(pairs, 256 / heads));
  arguments->band_changes_BHTL = workspace->Take<float>(NumTerms(p));
  arguments->d_band_parts = workspace->Take<float>(
      heads * arguments->band_parts * p.distances() * p.query_band);
}

// Sums that begin as zeros, one behind the other.
struct Sums {
  char* begin;
  int64_t bytes;
};

// Its pointers into the workspace, and what of it must be cleared.
Sums Place(const HopperWidths& widths, Workspace* workspace,
           HopperArguments* arguments) {
  const Problem& p = arguments->tiled.call.problem;
  TiledArguments& tiled = arguments->tiled;
  const int64_t heads = p.batch * p.heads;
  const int64_t tiles =
      (p.queries + widths.backward_queries - 1) / widths.backward_queries;
  tiled.spread_length = SpreadLength(p);
  tiled.spread_stride = (tiled.spread_length + 15) / 16 * 16;
  PlaceTerms(workspace, arguments);
  tiled.delta_BHT = workspace->Take<float>(heads * p.queries);
  const int64_t before = workspace->bytes();
  const int64_t ways = p.far_from > 0 ? 2 : 1;
  arguments->dq_BHTD = workspace->Take<float>(ways * QShape(p).count());
  arguments->turns = workspace->Take<int>(ways * heads * tiles);
  arguments->begun = workspace->Take<int>(1);
  if (p.query_band > 0) PlaceBand(workspace, arguments);
  if (HasTable(p)) {
    // At least two tiles of keys for a block: few parts where rows are short.
    const int64_t of_keys =
        (p.keys + widths.backward_keys - 1) / widths.backward_keys;
    // A block waits for some behind it too: all must be there at once.
    const int64_t most =
        std::min(kMaxBlocks, int64_t{device::Multiprocessors()});
    tiled.parts = 2 * std::min(most, (of_keys + 1) / 2);
    tiled.d_parts[NumberSums(p)] =
        workspace->Take<float>(heads * tiled.parts * tiled.spread_stride);
  }
  if (HasMod(p)) {
    tiled.d_theta =
        workspace->Take<float>(heads * tiled.parts * ParametersOf(p));
    tiled.d_rows = workspace->Take<float>(heads * p.queries);
  }
  return {reinterpret_cast<char*>(arguments->dq_BHTD),
          workspace->bytes() - before};
}

// Takes away the sums of what nobody wants.
void DropUnwanted(TiledArguments* tiled) {
  const Call& call = tiled->call;
  float*& parts = tiled->d_parts[NumberSums(call.problem)];
  if (call.d_inputs[NumberInput(call.problem)].data == nullptr) parts = nullptr;
  if (call.d_inputs[kModParameter].data == nullptr &&
      call.d_inputs[kModQuery].data == nullptr) {
    tiled->d_theta = tiled->d_rows = nullptr;
  }
  if (parts == nullptr && tiled->d_theta == nullptr) tiled->parts = 0;
}

int64_t ForwardBytes(const Problem& p) {
  HopperArguments arguments = {};
  arguments.tiled.call.problem = p;
  Workspace workspace(nullptr);
  PlaceTerms(&workspace, &arguments);
  // Of rows that boxes cannot be copied of.
  return std::max(workspace.bytes(), TiledCuda().forward_bytes(p));
}

int64_t BackwardBytes(const Problem& p) {
  HopperArguments arguments = {};
  arguments.tiled.call.problem = p;
  Workspace workspace(nullptr);
  Place(*FindWidths(p), &workspace, &arguments);
  // Of rows that boxes cannot be copied of.
  return std::max(workspace.bytes(), TiledCuda().backward_bytes(p));
}

// Sums up the parts of the gradient of vectors of distances.
const char* SumBand(const HopperArguments& arguments, void* stream) {
  if (arguments.d_band_parts == nullptr) return nullptr;
  const Problem& p = arguments.tiled.call.problem;
  return device::Launch(
      HopperBandSums,
      {p.distances(), p.table_heads, 1, kThreads, kThreads * sizeof(float)},
      stream, arguments);
}

// The call, whose far keys begin no farther than there are any.
Call WithinKeys(Call call) {
  Problem& p = call.problem;
  p.far_from = std::min(p.far_from, p.keys);
  return call;
}

// The sums of the queries' gradients become those.
const char* StoreQueries(const HopperArguments& arguments, void* stream) {
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const int64_t pairs = p.queries * p.width / 2;
  const device::Grid grid = {(pairs + kHopperPairs - 1) / kHopperPairs, p.heads,
                             p.batch, kThreads, 0};
  const char* error = nullptr;
  if (call.d_inputs[kQ].data != nullptr) {
    error = device::Launch(HopperQueries, grid, stream, arguments);
  }
  if (error != nullptr || call.d_inputs[kFarQ].data == nullptr) return error;
  HopperArguments of_far = arguments;
  of_far.dq_BHTD += QShape(p).count();
  of_far.tiled.call.d_inputs[kQ] = call.d_inputs[kFarQ];
  return device::Launch(HopperQueries, grid, stream, of_far);
}

const char* Forward(const Call& call, void* workspace, void* stream) {
  // It copies rows from wherever they begin.
  if (!AreBoxed(call)) return TiledCuda().forward(call, workspace, stream);
  const HopperWidths& widths = *FindWidths(call.problem);
  HopperArguments arguments = {};
  arguments.tiled.call = WithinKeys(call);
  PlaceSlots(call.problem, arguments.slots);
  Maps maps(&arguments);
  AddInputs(call, widths.forward_queries, widths.forward_keys, &maps);
  if (maps.error() != nullptr) {
    return TiledCuda().forward(call, workspace, stream);
  }
  Workspace memory(workspace);
  PlaceTerms(&memory, &arguments);
  const char* const error = FindNear(workspace, stream, &arguments.tiled);
  return error != nullptr ? error : widths.forward(arguments, stream);
}

const char* Backward(const Call& call, void* workspace, void* stream) {
  const Problem& p = call.problem;
  const HopperWidths& widths = *FindWidths(p);
  const bool lacks = DistanceNumberOf(p) != kNoNumber && !widths.has_numbers;
  if (!AreBoxed(call) || !AreMixedBoxed(call) || lacks) {
    return TiledCuda().backward(call, workspace, stream);
  }
  HopperArguments arguments = {};
  TiledArguments& tiled = arguments.tiled;
  tiled.call = WithinKeys(call);
  PlaceSlots(p, arguments.slots);
  Maps maps(&arguments);
  AddInputs(call, widths.backward_queries, widths.backward_keys, &maps);
  for (int v = 0; v < p.num_values; ++v) {
    const View& mixed = call.d_outputs[kMixed + v];
    const auto boxed = static_cast<Boxed>(kBoxedMixed + v);
    const bool real = mixed.data != nullptr;
    maps.Add(boxed, real ? mixed : call.inputs[kQ],
             real ? MixedShape(p, v) : QShape(p), widths.backward_queries);
    arguments.has[boxed] = real;
  }
  if (maps.error() != nullptr) {
    return TiledCuda().backward(call, workspace, stream);
  }
  Workspace memory(workspace);
  const Sums sums = Place(widths, &memory, &arguments);
  const bool wants_vectors = call.d_inputs[kQueryVector].data != nullptr;
  if (!wants_vectors) arguments.d_band_parts = nullptr;
  if (!wants_vectors && call.d_inputs[kQueryBand].data == nullptr) {
    arguments.band_changes_BHTL = nullptr;
  }
  DropUnwanted(&tiled);
  const char* error = FindNear(workspace, stream, &tiled);
  if (error == nullptr) error = device::Clear(sums.begin, sums.bytes, stream);
  if (error == nullptr) error = FindDelta(tiled, stream);
  if (error == nullptr) error = widths.backward(arguments, stream);
  if (error == nullptr) error = SumTables(tiled, stream);
  if (error == nullptr) error = SumBand(arguments, stream);
  if (error == nullptr) error = SumMod(tiled, stream);
  return error != nullptr ? error : StoreQueries(arguments, stream);
}

}  // namespace

const CudaCode& HopperCuda() {
  static constexpr CudaCode kCode = {"cuda_hopper", Refusal, ForwardBytes,
                                     BackwardBytes, Forward, Backward};
  return kCode;
}

}  // namespace ordo::kernels::attention
