// Tiled attention on tensor cores with positions that gates count, for any GPU
// of compute capability 8.0 or newer: CoPE (Golovneva et al. 2024,
// arXiv:2405.18719, equations 3 to 5 and listing 1) in one pass, as cpu_counted
// does it. To cuda_tiled it adds c and z of problem.h: tiles of keys are walked
// from the last one a query sees to the first, and each row carries its count.
// Where no row of a tile of queries has a z that still changes, gates are
// neither loaded nor computed: what is left is plain attention with a constant.
//
// The backward pass has a kernel for what queries get and one for what keys
// get, and nothing is added by atomics: reruns agree bit for bit. Queries come
// in turns, so that what the first keeps for the second is linear in the keys:
// each row's count and the sum of gradients by counts, at each tile of keys.
//
// Beside gates it does masks, a bias, and several value tensors, which lie side
// by side. Not supported: what MissingTerm names, and what cuda_tiled does not
// of types and widths. Not measured: written without a device.
//
// Compiled once for each type (cuda_element.h) and width, ORDO_WIDTH.

#include <algorithm>

#include "kernels/attention/cuda_counted_forward.h"
#include "kernels/attention/cuda_counted_keys.h"
#include "kernels/attention/cuda_counted_queries.h"

namespace ordo::kernels::attention::ORDO_OF_TYPE {
namespace {

template <int kD>
const char* Forward(const CountedArguments& arguments, void* stream) {
  const Problem& p = arguments.tiled.call.problem;
  return device::Launch(CountedForward<kD>,
                        {NumTiles(p.queries), p.heads, p.batch, kThreads,
                         CountedShared<kD>::Bytes(p.gates == Gates::kOwn)},
                        stream, arguments);
}

template <int kD>
const char* LaunchQueries(const CountedArguments& arguments, void* stream) {
  const Problem& p = arguments.tiled.call.problem;
  const int64_t parts = arguments.tiled.parts;
  const int64_t tiles =
      std::min(NumTiles(p.queries - arguments.first_query), kTurnTiles);
  return device::Launch(
      CountedQueries<kD>,
      {parts > 0 ? parts : tiles, p.heads, p.batch, kThreads,
       CountedQueriesShared<kD>::Bytes(p.gates == Gates::kOwn)},
      stream, arguments);
}

template <int kD>
const char* LaunchKeys(CountedArguments arguments, CountedPart part,
                       void* stream) {
  const Problem& p = arguments.tiled.call.problem;
  arguments.part = part;
  return device::Launch(CountedKeys<kD>,
                        {NumTiles(p.keys), p.key_heads, p.batch, kThreads,
                         CountedKeysShared<kD>::Bytes(p.gates == Gates::kOwn)},
                        stream, arguments);
}

// What queries get through gates of their own, if it goes alone.
template <int kD>
const char* LaunchGateQueries(CountedArguments arguments, void* stream) {
  arguments.part = kOfGates;
  arguments.d_slopes = nullptr;
  arguments.tiled.parts = 0;
  arguments.tiled.d_parts[kBiasSums] = nullptr;
  return LaunchQueries<kD>(arguments, stream);
}

template <int kD>
const char* Turn(const CountedArguments& arguments, void* stream) {
  const bool own = arguments.tiled.call.problem.gates == Gates::kOwn;
  const char* error = LaunchQueries<kD>(arguments, stream);
  if (error == nullptr && own && !kTogether<kD>) {
    error = LaunchGateQueries<kD>(arguments, stream);
  }
  if (error == nullptr && !kTogether<kD>) {
    error = LaunchKeys<kD>(arguments, kOfValues, stream);
  }
  if (error == nullptr) error = LaunchKeys<kD>(arguments, kOfProducts, stream);
  if (error != nullptr || !own) return error;
  return LaunchKeys<kD>(arguments, kOfGates, stream);
}

template <int kD>
const char* Backward(const CountedArguments& arguments, void* stream) {
  CountedArguments turn = arguments;
  const char* error = nullptr;
  const int64_t queries = arguments.tiled.call.problem.queries;
  while (error == nullptr && turn.first_query < queries) {
    error = Turn<kD>(turn, stream);
    turn.first_query += kTurn;
  }
  return error;
}

constexpr int kD = ORDO_WIDTH;
constexpr CountedWidth kWidth = {
    Element::kType,
    kD,
    std::max({CountedShared<kD>::Bytes(true),
              CountedQueriesShared<kD>::Bytes(true),
              CountedKeysShared<kD>::Bytes(true)}),
    Forward<kD>,
    Backward<kD>,
};

}  // namespace
}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

namespace ordo::kernels::attention {

template <>
const CountedWidth& CountedFor<ORDO_TYPE, ORDO_WIDTH>() {
  return ORDO_OF_TYPE::kWidth;
}

}  // namespace ordo::kernels::attention
