#ifndef ORDO_KERNELS_ATTENTION_CUDA_COUNTED_QUERIES_H_
#define ORDO_KERNELS_ATTENTION_CUDA_COUNTED_QUERIES_H_

#include "kernels/attention/cuda_counted_terms.h"

// The gradients of queries, of z and of the bias, of cuda_counted.cu. A block
// has 64 queries of a head. It goes through their keys twice: to the left for
// counts, which it keeps, and to the right for gradients, when it keeps the
// sums of those of counts.
//
// Legend: D columns of q and k, and of all value tensors side by side.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

template <int kD>
struct CountedQueriesShared {
  static constexpr int64_t kTile = TileElements(kCudaTile, kD);

  static constexpr int64_t Bytes(bool own) {
    return 2 * (own ? 6 : 4) * kTile + 8 * kTermsElements + sizeof(Extras) +
           4 * sizeof(float);
  }

  uint16_t* q;
  uint16_t* d_mixed;
  uint16_t* k;
  uint16_t* values;
  uint16_t* gate_q;
  uint16_t* gate_k;
  float* changes;
  int* counts;
  Extras* extras;
  float* flags;

  ORDO_DEVICE CountedTiles All() const {
    return {q, gate_q, d_mixed, k, gate_k, values};
  }
};

// Gates' tiles come last: they may not be there.
template <int kD>
ORDO_DEVICE CountedQueriesShared<kD> MakeCountedQueriesShared() {
  using Shared = CountedQueriesShared<kD>;
  Shared shared;
  shared.q = reinterpret_cast<uint16_t*>(device::SharedMemory());
  shared.d_mixed = shared.q + Shared::kTile;
  shared.k = shared.d_mixed + Shared::kTile;
  shared.values = shared.k + Shared::kTile;
  shared.changes = reinterpret_cast<float*>(shared.values + Shared::kTile);
  shared.counts = reinterpret_cast<int*>(shared.changes + kTermsElements);
  shared.extras = reinterpret_cast<Extras*>(shared.counts + kTermsElements);
  shared.flags = reinterpret_cast<float*>(shared.extras + 1);
  shared.gate_q = reinterpret_cast<uint16_t*>(shared.flags + 4);
  shared.gate_k = shared.gate_q + Shared::kTile;
  return shared;
}

// Of the block and its launch.
ORDO_DEVICE HeadOf HeadOfBlock() {
  return {device::BlockZ(), device::BlockY()};
}
ORDO_DEVICE bool HasOwnGates(const CountedArguments& arguments) {
  return arguments.tiled.call.problem.gates == Gates::kOwn;
}
// Gradients of gates' queries only: all else is known.
ORDO_DEVICE bool IsOfGates(const CountedArguments& arguments) {
  return arguments.part == kOfGates;
}

// What a block has of a tile of queries beside its arguments.
template <int kD>
struct CountedQueriesWork {
  int64_t query;
  CountedChange change;
  TermSums terms;
  // Of q, or of gates' q if alone; and of these.
  float sums[kD / 8][4];
  float gate_sums[kTogether<kD> ? kD / 8 : 1][4];
};

// Waits for the tiles that a step has begun to load; all threads see them.
template <int kD>
ORDO_DEVICE Hook<false> EndLoading(const CountedArguments& arguments,
                                   const Place& place) {
  Extras* const extras = MakeCountedQueriesShared<kD>().extras;
  const HeadOf of = HeadOfBlock();
  LoadExtras(arguments.tiled, of, place, extras);
  device::CommitCopies();
  device::WaitForCopies<0>();
  device::SyncThreads();
  return MakeHook<false>(arguments.tiled.call, of.head, place, extras);
}

ORDO_DEVICE HeadOf HeadOfKeys(const Problem& p) {
  return {device::BlockZ(), device::BlockY() / (p.heads / p.key_heads)};
}

// Keeps the counts of what is behind each of the tiles of keys, from the last
// to the first where any row's z still changes, which is returned.
template <int kD>
ORDO_DEVICE int64_t CountTiles(const CountedArguments& arguments, int64_t query,
                               const Tiles& tiles, CountedRows* rows) {
  const auto shared = MakeCountedQueriesShared<kD>();
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const bool own = HasOwnGates(arguments);
  const uint16_t* const q = (own ? shared.gate_q : shared.q) +
                            device::ThreadId() / 32 * 16 * (kD + kGap);
  bool ended = false;
  int64_t i = tiles.end;
  while (i > tiles.begin && !ended) {
    const Place place = {query, --i * kCudaTile};
    LoadTile<kCudaTile, kD>(ColumnsOf(call, own ? kGateK : kK, HeadOfKeys(p)),
                            {place.key, p.keys}, shared.k);
    const Hook<false> hook = EndLoading<kD>(arguments, place);
    const int64_t at = KeptAt(arguments, HeadOfBlock(), place);
    float products[kCudaTile / 8][4] = {};
    MultiplyRows<kCudaTile, kD>(q, shared.k, products);
    float logits[kCudaTile / 8][4] = {};
    ORDO_UNROLL
    for (int half = 0; half < 2; ++half) {
      if (PlaceOfLane().column == 0) {
        arguments.counters[at + 8 * half] = rows->counters[half];
      }
      HalfRow gates;
      OpenGates(hook, half, {products, logits}, gates);
      HalfCounts counts;
      Count(gates, &rows->counters[half], counts);
    }
    SayEnded(rows->terms, rows->counters, p.queries - query, shared.flags);
    // All have read the tile, and the flags are there.
    device::SyncThreads();
    ended = HaveEnded(shared.flags);
  }
  if (device::ThreadId() == 0) {
    *BeginOf(arguments, HeadOfBlock(), query) = static_cast<int>(i);
  }
  return i;
}

// Where what z needs is kept.
template <int kD>
ORDO_DEVICE Kept MakeKept(const CountedArguments& arguments) {
  const bool wanted =
      arguments.tiled.call.d_inputs[kPositionTerm].data != nullptr &&
      !IsOfGates(arguments);
  const auto shared = MakeCountedQueriesShared<kD>();
  return {shared.changes, wanted ? shared.counts : nullptr};
}

// Adds what a step keeps to the gradient of z.
template <int kD>
ORDO_DEVICE void AddKept(const CountedArguments& arguments, TermSums* terms) {
  const Kept kept = MakeKept<kD>(arguments);
  if (kept.counts == nullptr) return;
  // What all threads keep is there.
  device::SyncThreads();
  AddToTerms(kept, terms);
  // Terms of the bias may take its place.
  device::SyncThreads();
}

// Begins to load a tile of keys.
template <int kD>
ORDO_DEVICE void LoadCountedKeys(const CountedArguments& arguments, int64_t key,
                                 bool ended) {
  const Call& call = arguments.tiled.call;
  const Tokens keys = {key, call.problem.keys};
  const auto shared = MakeCountedQueriesShared<kD>();
  const Head head = MakeHead(call, HeadOfBlock(), false);
  LoadTile<kCudaTile, kD>(head.k, keys, shared.k);
  LoadTile<kCudaTile, kD>(head.values, keys, shared.values);
  if (!HasOwnGates(arguments) || ended) return;
  LoadTile<kCudaTile, kD>(ColumnsOf(call, kGateK, head.of_key), keys,
                          shared.gate_k);
}

// One tile of keys.
template <int kD>
ORDO_DEVICE void CountedQueriesStep(const CountedArguments& arguments,
                                    int64_t tile, bool ended,
                                    CountedQueriesWork<kD>* work) {
  const auto shared = MakeCountedQueriesShared<kD>();
  const Place place = {work->query, tile * kCudaTile};
  const CountedKind kind = {HasOwnGates(arguments), ended};
  const bool of_gates = IsOfGates(arguments);
  LoadCountedKeys<kD>(arguments, place.key, ended);
  const Hook<false> hook = EndLoading<kD>(arguments, place);
  CountedChange& change = work->change;
  if (!ended) {
    LoadCounters(arguments, HeadOfBlock(), place, change.rows.counters);
    if (PlaceOfLane().column == 0 && !of_gates) {
      const int64_t at = KeptAt(arguments, HeadOfBlock(), place);
      arguments.d_counts[at] = change.d_counts[0];
      arguments.d_counts[at + 8] = change.d_counts[1];
    }
  }
  CountedFragments x = {};
  DifferentiateStep<kD>(
      {hook, kind, shared.All(), MakeKept<kD>(arguments), true}, &change, &x);
  if (!ended) AddKept<kD>(arguments, &work->terms);
  if (arguments.tiled.d_parts[kBiasSums] != nullptr) {
    AddToTable(arguments.tiled, hook, kBiasSums,
               {x.weights, x.changes, place, shared.changes});
  }
  JoinGates(kind, &x);
  uint32_t packed[kCudaTile / 16][4];
  if (of_gates) {
    Pack<kCudaTile>(x.gates, packed);
  } else {
    Pack<kCudaTile>(x.changes, packed);
  }
  MultiplyColumns<kCudaTile, kD>(packed, of_gates ? shared.gate_k : shared.k,
                                 work->sums);
  if constexpr (kTogether<kD>) {
    if (kind.own && !ended) {
      Pack<kCudaTile>(x.gates, packed);
      MultiplyColumns<kCudaTile, kD>(packed, shared.gate_k, work->gate_sums);
    }
  }
  // All have read this step before another takes its place.
  device::SyncThreads();
}

// Writes what the tile of queries adds to the slope's gradient.
template <int kD>
ORDO_DEVICE void StoreSlope(const CountedArguments& arguments, int64_t query,
                            float sum) {
  if (arguments.d_slopes == nullptr) return;
  const Problem& p = arguments.tiled.call.problem;
  for (int mask = 1; mask < 32; mask *= 2) sum += device::ShuffleXor(sum, mask);
  const int thread = device::ThreadId();
  float* const flags = MakeCountedQueriesShared<kD>().flags;
  if (thread % 32 == 0) flags[thread / 32] = sum;
  // All warps' sums are there.
  device::SyncThreads();
  if (thread != 0) return;
  const int64_t row = RowOfHead(p, HeadOfBlock()) * NumTiles(p.queries);
  arguments.d_slopes[row + query / kCudaTile] =
      flags[0] + flags[1] + flags[2] + flags[3];
}

// Begins to load a tile of queries, and what ended rows get.
template <int kD>
ORDO_DEVICE void LoadCountedQueries(const CountedArguments& arguments,
                                    int64_t query) {
  const auto shared = MakeCountedQueriesShared<kD>();
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const HeadOf of = HeadOfBlock();
  const Tokens queries = {query, p.queries};
  LoadTile<kCudaTile, kD>(ColumnsOf(call, kQ, of), queries, shared.q);
  LoadTile<kCudaTile, kD>(Together(p, call.d_outputs + kMixed, of, false),
                          queries, shared.d_mixed);
  if (HasOwnGates(arguments)) {
    LoadTile<kCudaTile, kD>(ColumnsOf(call, kGateQ, of), queries,
                            shared.gate_q);
  }
  if (PlaceOfLane().column != 0) return;
  float* const ended =
      shared.changes + PlaceOfLane().row * kTermsPitch + kBehind;
  ended[0] = ended[8 * kTermsPitch] = 0;
}

// Goes through the keys of a tile of queries.
template <int kD>
ORDO_DEVICE void DifferentiateTiles(const CountedArguments& arguments,
                                    CountedQueriesWork<kD>* work) {
  const int64_t query = work->query;
  const Tiles tiles = TilesOfKeys(arguments.tiled, HeadOfBlock(), query, false);
  if (tiles.begin >= tiles.end) return;
  LoadCountedQueries<kD>(arguments, query);
  const bool of_gates = IsOfGates(arguments);
  const int64_t counted =
      of_gates ? *BeginOf(arguments, HeadOfBlock(), query)
               : CountTiles<kD>(arguments, query, tiles, &work->change.rows);
  for (int64_t i = of_gates ? counted : tiles.begin; i < tiles.end; ++i) {
    if (i == counted && work->terms.to != nullptr) {
      work->terms.own = MakeCountedQueriesShared<kD>()
                            .changes[RowOfThread() * kTermsPitch + kBehind];
    }
    CountedQueriesStep<kD>(arguments, i, i < counted, work);
  }
}

// The gradients of 64 queries from `query` on.
template <int kD>
ORDO_DEVICE void DifferentiateQueries(const CountedArguments& arguments,
                                      int64_t query) {
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const HeadOf of = HeadOfBlock();
  CountedQueriesWork<kD> work = {};
  work.query = query;
  MakeTerms(call, of, query, work.change.rows.terms);
  work.change.sums = LoadRowSums(arguments.tiled, of, query);
  if (!IsOfGates(arguments)) work.terms = BeginTerms(call, of, query);
  DifferentiateTiles(arguments, &work);
  EndTerms(&work.terms);
  StoreSlope<kD>(arguments, query, work.change.d_slope);
  const float factors[2] = {p.scale, p.scale};
  const Tokens tokens = {query + device::ThreadId() / 32 * 16, p.queries};
  StoreRows<kD>(
      work.sums, factors,
      OneTensor(call.d_inputs[IsOfGates(arguments) ? kGateQ : kQ], of, p.width),
      tokens);
  if constexpr (kTogether<kD>) {
    StoreRows<kD>(work.gate_sums, factors,
                  OneTensor(call.d_inputs[kGateQ], of, p.width), tokens);
  }
}

template <int kD>
ORDO_KERNEL(kThreads)
CountedQueries(const CountedArguments arguments) {
  const Problem& p = arguments.tiled.call.problem;
  // Turns add to what turns before did.
  if (arguments.first_query == 0) BeginTables(arguments.tiled, nullptr);
  const int64_t end = arguments.first_query + kTurn;
  // One tile of queries, or where there are fewer blocks every so many-th.
  for (int64_t query = arguments.first_query + device::BlockX() * kCudaTile;
       query < p.queries && query < end; query += device::GridX() * kCudaTile) {
    DifferentiateQueries<kD>(arguments, query);
  }
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_COUNTED_QUERIES_H_
