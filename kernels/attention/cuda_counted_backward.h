#ifndef ORDO_KERNELS_ATTENTION_CUDA_COUNTED_BACKWARD_H_
#define ORDO_KERNELS_ATTENTION_CUDA_COUNTED_BACKWARD_H_

#include "kernels/attention/cuda_counted_forward.h"
#include "kernels/attention/cuda_tiled_queries.h"

// What both kernels of the backward pass of cuda_counted.cu do with a tile of
// queries and a tile of keys, and what they keep for each other. Counts come
// from the right, sums of their gradients from the left.
//
// Legend: D columns of q and k, and of all value tensors side by side.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

// Whether a thread has registers for two sums of 64 x D.
template <int kD>
inline constexpr bool kTogether = kD <= 64;

// What of a step is kept for the gradient of z, in rows of kTermsPitch: the
// gradients of logits, and counts in units less the row's whole, which lies
// behind them; behind the former, what ended rows have got. Null: nobody wants
// it.
inline constexpr int kBehind = kCudaTile;
struct Kept {
  float* changes;
  int* counts;
};

// The tiles of a step.
struct CountedTiles {
  const uint16_t* q;
  const uint16_t* gate_q;
  const uint16_t* d_mixed;
  const uint16_t* k;
  const uint16_t* gate_k;
  const uint16_t* values;
};

// A step, and whether gradients of weights are wanted.
struct CountedInput {
  Hook<false> hook;
  CountedKind kind;
  CountedTiles tiles;
  Kept kept;
  bool changes;
};

// What a lane knows of its two rows.
struct CountedChange {
  CountedRows rows;
  RowSums sums;
  float d_counts[2];
  float d_slope;
};

// Products of a step, which become weights; gradients of the weights, which
// become those of logits; and what gates are of, which becomes its gradient.
// The latter two over the scale.
struct CountedFragments {
  float weights[kCudaTile / 8][4];
  float changes[kCudaTile / 8][4];
  float gates[kCudaTile / 8][4];
};

ORDO_DEVICE int64_t RowOfHead(const Problem& p, const HeadOf& of) {
  return of.batch * p.heads + of.head;
}

// Of a tile of keys and the lane's rows of the tile of queries from `query` on.
ORDO_DEVICE int64_t KeptAt(const CountedArguments& arguments, const HeadOf& of,
                           const Place& place) {
  const Problem& p = arguments.tiled.call.problem;
  const int64_t tiles = NumTiles(p.keys);
  return (RowOfHead(p, of) * tiles + place.key / kCudaTile) * kTurn +
         place.query - arguments.first_query + PlaceOfLane().row;
}

ORDO_DEVICE int* BeginOf(const CountedArguments& arguments, const HeadOf& of,
                         int64_t query) {
  const Problem& p = arguments.tiled.call.problem;
  return arguments.begins + RowOfHead(p, of) * kTurnTiles +
         (query - arguments.first_query) / kCudaTile;
}

ORDO_DEVICE void LoadCounters(const CountedArguments& arguments,
                              const HeadOf& of, const Place& place,
                              Counter (&counters)[2]) {
  const int64_t at = KeptAt(arguments, of, place);
  counters[0] = arguments.counters[at];
  counters[1] = arguments.counters[at + 8];
}

// Of element (n, e): from a logit in base 2 to its weight, and from the
// weight's gradient to the logit's, which it returns.
ORDO_DEVICE float DifferentiateLogit(const RowSums& sums, int n, int e,
                                     CountedFragments* x) {
  float& weight = x->weights[n][e];
  float& change = x->changes[n][e];
  weight = exp2f(weight - sums.lse[e / 2]);
  change = weight * (change - sums.delta[e / 2]);
  return change;
}

// Of one of a lane's rows.
struct CountedHalf {
  int half;
  int whole;
  HalfCounts counts;
  HalfRow d_counts;
};

// From logits without z to the gradients by counts, with what is kept of both.
ORDO_DEVICE void DifferentiateCounts(const Kept& kept, CountedChange* change,
                                     CountedFragments* x, CountedHalf* row) {
  const LanePlace lane = PlaceOfLane();
  const int first = (lane.row + 8 * row->half) * kTermsPitch;
  const Term& term = change->rows.terms[row->half];
  if (kept.counts != nullptr && lane.column == 0) {
    kept.counts[first + kBehind] = row->whole;
  }
  ORDO_UNROLL
  for (int n = 0; n < kCudaTile / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 2; ++e) {
      const int units = row->counts[n][e];
      const int fragment = 2 * row->half + e;
      const Found found = Find(term, row->whole, units);
      x->weights[n][fragment] += found.value * kLog2E;
      const float d_logit = DifferentiateLogit(change->sums, n, fragment, x);
      if (kept.counts != nullptr) {
        const int at = first + 8 * n + lane.column + e;
        kept.changes[at] = d_logit;
        kept.counts[at] = units;
      }
      change->d_slope += d_logit * TotalOf(row->whole, units);
      row->d_counts[n][e] = d_logit * found.rise;
    }
  }
}

// Where z changes.
ORDO_DEVICE void DifferentiateCounted(const CountedInput& input,
                                      CountedChange* change,
                                      CountedFragments* x) {
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    HalfRow gates;
    OpenGates(input.hook, half, {x->gates, x->weights}, gates);
    ORDO_UNROLL
    for (int n = 0; n < kCudaTile / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 2; ++e) {
        // The derivative of a gate.
        x->gates[n][2 * half + e] = gates[n][e] * (1 - gates[n][e]);
      }
    }
    CountedHalf row;
    row.half = half;
    row.whole = Count(gates, &change->rows.counters[half], row.counts);
    DifferentiateCounts(input.kept, change, x, &row);
    SumFromFirst(row.d_counts, &change->d_counts[half]);
    ORDO_UNROLL
    for (int n = 0; n < kCudaTile / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 2; ++e) {
        x->gates[n][2 * half + e] *= row.d_counts[n][e];
      }
    }
  }
}

// Where z no longer changes: its last number gets all.
ORDO_DEVICE void DifferentiateEnded(const Kept& kept, CountedChange* change,
                                    CountedFragments* x) {
  AddLastTerms(change->rows, x->weights);
  const LanePlace lane = PlaceOfLane();
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    float sum = 0;
    ORDO_UNROLL
    for (int n = 0; n < kCudaTile / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 2; ++e) {
        sum += DifferentiateLogit(change->sums, n, 2 * half + e, x);
      }
    }
    if (kept.counts == nullptr) continue;
    sum = SumOfRow(sum);
    if (lane.column != 0) continue;
    kept.changes[(lane.row + 8 * half) * kTermsPitch + kBehind] += sum;
  }
}

// A step but for what it adds to gradients of tensors.
template <int kD>
ORDO_DEVICE void DifferentiateStep(const CountedInput& input,
                                   CountedChange* change, CountedFragments* x) {
  const CountedTiles& tiles = input.tiles;
  const int at = device::ThreadId() / 32 * 16 * (kD + kGap);
  MultiplyRows<kCudaTile, kD>(tiles.q + at, tiles.k, x->weights);
  if (input.changes) {
    MultiplyRows<kCudaTile, kD>(tiles.d_mixed + at, tiles.values, x->changes);
  }
  if (!input.kind.ended && input.kind.own) {
    MultiplyRows<kCudaTile, kD>(tiles.gate_q + at, tiles.gate_k, x->gates);
  } else {
    Copy(x->weights, x->gates);
  }
  FindLogits(input.hook, x->weights);
  if (input.kind.ended) {
    DifferentiateEnded(input.kept, change, x);
  } else {
    DifferentiateCounted(input, change, x);
  }
}

// Gates of logits: what flows to them flows to the logits' products.
ORDO_DEVICE void JoinGates(const CountedKind& kind, CountedFragments* x) {
  if (kind.own || kind.ended) return;
  ORDO_UNROLL
  for (int n = 0; n < kCudaTile / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) x->changes[n][e] += x->gates[n][e];
  }
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_COUNTED_BACKWARD_H_
