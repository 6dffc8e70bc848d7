#ifndef ORDO_KERNELS_ATTENTION_CUDA_COUNTED_KEYS_H_
#define ORDO_KERNELS_ATTENTION_CUDA_COUNTED_KEYS_H_

#include "kernels/attention/cuda_counted_backward.h"
#include "kernels/attention/cuda_tiled_keys.h"

// The gradients of keys and values, of cuda_counted.cu: a block has 64 keys of
// a head of keys, and goes through the queries of the turn that see them, of
// all heads that share the keys, with the counts that CountedQueries keeps. A
// fragment has queries as its rows, so that counts are the same; through shared
// memory it becomes the turned left side of a product, each warp's 16 keys.
//
// Legend: D columns of q and k, and of all value tensors side by side.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

template <int kD>
struct CountedKeysShared {
  static constexpr int64_t kTile = TileElements(kCudaTile, kD);
  static constexpr int64_t kTurned = TileElements(kCudaTile, kCudaTile);

  static constexpr int64_t Bytes(bool own) {
    return 2 * (own ? 6 : 4) * kTile + 4 * kTurned + sizeof(Extras);
  }

  uint16_t* k;
  uint16_t* values;
  uint16_t* q;
  uint16_t* d_mixed;
  uint16_t* gate_k;
  uint16_t* gate_q;
  // What is to be turned.
  uint16_t* changes;
  uint16_t* weights;
  Extras* extras;

  ORDO_DEVICE CountedTiles All() const {
    return {q, gate_q, d_mixed, k, gate_k, values};
  }
};

// Gates' tiles come last: they may not be there.
template <int kD>
ORDO_DEVICE CountedKeysShared<kD> MakeCountedKeysShared() {
  using Shared = CountedKeysShared<kD>;
  Shared shared;
  shared.k = reinterpret_cast<uint16_t*>(device::SharedMemory());
  shared.values = shared.k + Shared::kTile;
  shared.q = shared.values + Shared::kTile;
  shared.d_mixed = shared.q + Shared::kTile;
  shared.changes = shared.d_mixed + Shared::kTile;
  shared.weights = shared.changes + Shared::kTurned;
  shared.extras = reinterpret_cast<Extras*>(shared.weights + Shared::kTurned);
  shared.gate_k = reinterpret_cast<uint16_t*>(shared.extras + 1);
  shared.gate_q = shared.gate_k + Shared::kTile;
  return shared;
}

// What a block sums up: of its part, and of values where both go together.
template <int kD>
struct CountedKeysSums {
  float own[kD / 8][4];
  float values[kTogether<kD> ? kD / 8 : 1][4];
};

// Writes a fragment, rounded, where all warps can read it.
ORDO_DEVICE void ShareFragment(const float (&x)[kCudaTile / 8][4],
                               uint16_t* to) {
  const LanePlace lane = PlaceOfLane();
  ORDO_UNROLL
  for (int n = 0; n < kCudaTile / 8; ++n) {
    ORDO_UNROLL
    for (int half = 0; half < 2; ++half) {
      uint16_t* const at =
          to + (lane.row + 8 * half) * (kCudaTile + kGap) + 8 * n + lane.column;
      *reinterpret_cast<uint32_t*>(at) =
          Element::Pack(x[n][2 * half], x[n][2 * half + 1]);
    }
  }
}

// The warp's 16 columns of such a fragment as the left side of a product.
ORDO_DEVICE void LoadTurned(const uint16_t* from,
                            uint32_t (&packed)[kCudaTile / 16][4]) {
  constexpr int kPitch = kCudaTile + kGap;
  const int lane = device::ThreadId() % 32;
  const uint16_t* const at = from + (lane / 16 * 8 + lane % 8) * kPitch +
                             device::ThreadId() / 32 * 16 + lane / 8 % 2 * 8;
  ORDO_UNROLL
  for (int i = 0; i < kCudaTile / 16; ++i) {
    device::LoadTransposed(at + i * 16 * kPitch, packed[i]);
  }
}

// A head, and where in it; whether no row's z changes there.
struct CountedPlace {
  HeadOf of;
  Place place;
  bool ended;
};

// Adds a step, whose tiles are there.
template <int kD>
ORDO_DEVICE void CountedKeysStep(const CountedArguments& arguments,
                                 const CountedPlace& at,
                                 CountedKeysSums<kD>* sums) {
  const HeadOf& of = at.of;
  const Place& place = at.place;
  const Call& call = arguments.tiled.call;
  const CountedKind kind = {call.problem.gates == Gates::kOwn, at.ended};
  const CountedPart part = arguments.part;
  const auto shared = MakeCountedKeysShared<kD>();
  CountedChange change = {};
  MakeTerms(call, of, place.query, change.rows.terms);
  change.sums = LoadRowSums(arguments.tiled, of, place.query);
  if (!at.ended) {
    LoadCounters(arguments, of, place, change.rows.counters);
    const float* const kept = arguments.d_counts + KeptAt(arguments, of, place);
    change.d_counts[0] = kept[0];
    change.d_counts[1] = kept[8];
  }
  CountedFragments x = {};
  DifferentiateStep<kD>({MakeHook<false>(call, of.head, place, shared.extras),
                         kind,
                         shared.All(),
                         {nullptr, nullptr},
                         part != kOfValues},
                        &change, &x);
  JoinGates(kind, &x);
  if (part == kOfProducts) {
    ShareFragment(x.changes, shared.changes);
  } else {
    ShareFragment(part == kOfGates ? x.gates : x.weights, shared.changes);
  }
  if constexpr (kTogether<kD>) ShareFragment(x.weights, shared.weights);
  // All warps' rows are there.
  device::SyncThreads();
  uint32_t packed[kCudaTile / 16][4];
  LoadTurned(shared.changes, packed);
  const uint16_t* const rows = part == kOfProducts ? shared.q
                               : part == kOfGates  ? shared.gate_q
                                                   : shared.d_mixed;
  MultiplyColumns<kCudaTile, kD>(packed, rows, sums->own);
  if constexpr (kTogether<kD>) {
    if (part != kOfProducts) return;
    LoadTurned(shared.weights, packed);
    MultiplyColumns<kCudaTile, kD>(packed, shared.d_mixed, sums->values);
  }
}

// The queries of the turn that see a tile of keys.
ORDO_DEVICE Tiles RowsOfTurn(const CountedArguments& arguments,
                             const HeadOf& of, int64_t key) {
  Tiles rows = RowsOfQueries<kCudaTile>(arguments.tiled, of, key, false);
  const int64_t end = arguments.first_query + kTurn;
  if (rows.begin < arguments.first_query) rows.begin = arguments.first_query;
  if (rows.end > end) rows.end = end;
  return rows;
}

// Adds what flows back through the queries of one head.
template <int kD>
ORDO_DEVICE void DifferentiateKeys(const CountedArguments& arguments,
                                   const HeadOf& of, int64_t key,
                                   CountedKeysSums<kD>* sums) {
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const bool own = p.gates == Gates::kOwn;
  const auto shared = MakeCountedKeysShared<kD>();
  const Head head = MakeHead(call, of, false);
  const Tiles rows = RowsOfTurn(arguments, of, key);
  const Tokens keys = {key, p.keys};
  LoadTile<kCudaTile, kD>(head.k, keys, shared.k);
  LoadTile<kCudaTile, kD>(head.values, keys, shared.values);
  const Columns gate_q = ColumnsOf(call, kGateQ, of);
  if (own) {
    LoadTile<kCudaTile, kD>(ColumnsOf(call, kGateK, head.of_key), keys,
                            shared.gate_k);
  }
  for (int64_t query = rows.begin; query < rows.end; query += kCudaTile) {
    const Place place = {query, key};
    const bool ended = key / kCudaTile < *BeginOf(arguments, of, query);
    if (ended && arguments.part == kOfGates) continue;
    const Tokens queries = {query, p.queries};
    LoadTile<kCudaTile, kD>(head.q, queries, shared.q);
    LoadTile<kCudaTile, kD>(Together(p, call.d_outputs + kMixed, of, false),
                            queries, shared.d_mixed);
    if (own && !ended) LoadTile<kCudaTile, kD>(gate_q, queries, shared.gate_q);
    LoadExtras(arguments.tiled, of, place, shared.extras);
    device::CommitCopies();
    device::WaitForCopies<0>();
    // All threads' copies are there.
    device::SyncThreads();
    CountedKeysStep<kD>(arguments, {of, place, ended}, sums);
    // All have read this step before another takes its place.
    device::SyncThreads();
  }
  // Nothing may be on its way when the next head's tiles are loaded.
  device::WaitForCopies<0>();
}

// What the block has summed up in turns before, or for the next.
template <int kColumns>
ORDO_DEVICE void Keep(const CountedArguments& arguments, CountedPart part,
                      bool load, float (&x)[kColumns][4]) {
  const Problem& p = arguments.tiled.call.problem;
  const int64_t block =
      (device::BlockZ() * p.key_heads + device::BlockY()) * NumTiles(p.keys) +
      device::BlockX();
  float* const at = arguments.sums[part] + block * kColumns * 4 * kThreads +
                    device::ThreadId();
  ORDO_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      float& kept = at[(4 * n + e) * kThreads];
      if (load) {
        x[n][e] = kept;
      } else {
        kept = x[n][e];
      }
    }
  }
}

// Keeps sums for the next turn, or writes the gradients that they are of.
template <int kD>
ORDO_DEVICE void EndKeys(const CountedArguments& arguments, CountedPart part,
                         bool last, float (&x)[kD / 8][4]) {
  if (!last) return Keep(arguments, part, false, x);
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const HeadOf of_key = {device::BlockZ(), device::BlockY()};
  const HeadOf of = {of_key.batch, of_key.head * (p.heads / p.key_heads)};
  const float factor = part == kOfValues ? 1 : p.scale;
  const float factors[2] = {factor, factor};
  const Columns to =
      part == kOfValues
          ? Together(p, call.d_inputs + kValue, of, true)
          : OneTensor(call.d_inputs[part == kOfGates ? kGateK : kK], of_key,
                      p.width);
  StoreRows<kD>(
      x, factors, to,
      {device::BlockX() * kCudaTile + device::ThreadId() / 32 * 16, p.keys});
}

template <int kD>
ORDO_KERNEL(kThreads)
CountedKeys(const CountedArguments arguments) {
  const Problem& p = arguments.tiled.call.problem;
  const int64_t group = p.heads / p.key_heads;
  const int64_t first_head = device::BlockY() * group;
  const int64_t key = device::BlockX() * kCudaTile;
  const bool first = arguments.first_query == 0;
  const bool last = arguments.first_query + kTurn >= p.queries;
  bool any = first || last;
  for (int64_t head = first_head; head < first_head + group; ++head) {
    const Tiles rows = RowsOfTurn(arguments, {device::BlockZ(), head}, key);
    any = any || rows.begin < rows.end;
  }
  if (!any) return;
  CountedKeysSums<kD> sums = {};
  const bool values = kTogether<kD> && arguments.part == kOfProducts;
  if (!first) {
    Keep(arguments, arguments.part, true, sums.own);
    if (values) Keep(arguments, kOfValues, true, sums.values);
  }
  for (int64_t head = first_head; head < first_head + group; ++head) {
    DifferentiateKeys<kD>(arguments, {device::BlockZ(), head}, key, &sums);
  }
  EndKeys<kD>(arguments, arguments.part, last, sums.own);
  if constexpr (kTogether<kD>) {
    if (values) EndKeys<kD>(arguments, kOfValues, last, sums.values);
  }
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_COUNTED_KEYS_H_
