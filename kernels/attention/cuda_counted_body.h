#ifndef ORDO_KERNELS_ATTENTION_CUDA_COUNTED_BODY_H_
#define ORDO_KERNELS_ATTENTION_CUDA_COUNTED_BODY_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_counted_code.h"
#include "kernels/attention/cuda_tile_products.h"
#include "kernels/attention/cuda_tiled_body.h"
#include "kernels/attention/cuda_tiled_tables.h"

// Gates, counts and z in the passes of cuda_counted.cu.
//
// Legend: a fragment x[n][e] as in cuda_tile.h, with queries as its rows. A
// half of it is one of a lane's two rows; the four lanes of a row lie side by
// side.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

// Numbers of a step's keys that a lane has of one of its rows.
using HalfRow = float[kCudaTile / 8][2];
// Of counts, in units, less the whole of what is behind the tile.
using HalfCounts = int[kCudaTile / 8][2];

// z of a query.
struct Term {
  // P numbers; null: there is a slope.
  const uint16_t* numbers;
  // P - 1.
  int last;
  float slope;
};

// Of a lane's two rows of the tile of queries from `query` on; for rows that do
// not exist, that of the last query.
ORDO_DEVICE void MakeTerms(const Call& call, const HeadOf& of, int64_t query,
                           Term (&terms)[2]) {
  const Problem& p = call.problem;
  const View& view = call.inputs[kPositionTerm];
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    terms[half] = {nullptr, 0, 0};
    if (p.positions == 0) {
      terms[half].slope = TableOf(call, kPositionSlope, of.head)[0];
      continue;
    }
    const int64_t token = query + PlaceOfLane().row + 8 * half;
    const int64_t real = token < p.queries ? token : p.queries - 1;
    terms[half].numbers = static_cast<const uint16_t*>(view.data) +
                          of.batch * view.batch_stride +
                          of.head * view.head_stride + real * view.token_stride;
    terms[half].last = static_cast<int>(p.positions - 1);
  }
}

// Whether z no longer changes from a count on; and what it is there.
ORDO_DEVICE bool HasEnded(const Term& term, int whole) {
  return term.numbers != nullptr && whole >= term.last;
}
ORDO_DEVICE float LastOf(const Term& term) {
  return Element::From(term.numbers[term.last]);
}

// z of a count, and its derivative.
struct Found {
  float value;
  float rise;
};

ORDO_DEVICE float PartOf(int units) {
  constexpr float kUnit = 1.0F / kUnits;
  return static_cast<float>(units % kUnits) * kUnit;
}

ORDO_DEVICE float TotalOf(int whole, int units) {
  return static_cast<float>(whole + units / kUnits) + PartOf(units);
}

ORDO_DEVICE Found Find(const Term& term, int whole, int units) {
  if (term.numbers == nullptr) {
    return {term.slope * TotalOf(whole, units), term.slope};
  }
  const int low = whole + units / kUnits;
  if (low >= term.last) return {LastOf(term), 0};
  const float first = Element::From(term.numbers[low]);
  const float rise = Element::From(term.numbers[low + 1]) - first;
  return {first + PartOf(units) * rise, rise};
}

// A gate, of a product in base 2. One that is not a number makes its logit
// such, but counts as closed: numbers are looked up by counts.
ORDO_DEVICE float OpenGate(float product, bool seen, float* logit) {
  const float open = 1 / (1 + exp2f(-product));
  if (!seen) return 0;
  *logit += open * 0;
  return open == open ? open : 0;
}

ORDO_DEVICE int ShuffleXor(int units, int mask) {
  return static_cast<int>(device::AsWord(
      device::ShuffleXor(device::AsFloat(static_cast<uint32_t>(units)), mask)));
}

// From gates to counts. The counter becomes that of the first key; its whole
// before, which counts have beside.
ORDO_DEVICE int Count(const HalfRow& gates, Counter* counter,
                      HalfCounts& counts) {
  const int lane = device::ThreadId() % 4;
  int sum = counter->part;
  ORDO_UNROLL
  for (int n = kCudaTile / 8 - 1; n >= 0; --n) {
    const int first = static_cast<int>(rintf(gates[n][0] * kUnits));
    const int second = static_cast<int>(rintf(gates[n][1] * kUnits));
    const int beside = ShuffleXor(first + second, 1);
    const int both = first + second + beside;
    const int others = ShuffleXor(both, 2);
    counts[n][1] =
        second + sum + (lane % 2 == 0 ? beside : 0) + (lane < 2 ? others : 0);
    counts[n][0] = first + counts[n][1];
    sum += both + others;
  }
  const int whole = counter->whole;
  *counter = {whole + sum / kUnits, sum % kUnits};
  return whole;
}

// The gate of a key counts for all keys before it: from gradients by counts to
// those by gates, with the sum of what is before in `before`.
ORDO_DEVICE void SumFromFirst(HalfRow& x, float* before) {
  const int lane = device::ThreadId() % 4;
  float sum = *before;
  ORDO_UNROLL
  for (int n = 0; n < kCudaTile / 8; ++n) {
    const float own = x[n][0] + x[n][1];
    const float beside = device::ShuffleXor(own, 1);
    const float both = own + beside;
    const float others = device::ShuffleXor(both, 2);
    const float ahead = (lane % 2 == 1 ? beside : 0) + (lane >= 2 ? others : 0);
    x[n][0] += sum + ahead;
    x[n][1] += x[n][0];
    sum += both + others;
  }
  *before = sum;
}

// What gates are of, and the logits beside.
struct GatesOf {
  const float (&products)[kCudaTile / 8][4];
  float (&logits)[kCudaTile / 8][4];
};

// Gates of a lane's row.
ORDO_DEVICE void OpenGates(const Hook<false>& hook, int half,
                           const GatesOf& from, HalfRow& gates) {
  const LanePlace lane = PlaceOfLane();
  ORDO_UNROLL
  for (int n = 0; n < kCudaTile / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 2; ++e) {
      const bool seen =
          Sees(hook, lane.row + 8 * half, 8 * n + lane.column + e);
      gates[n][e] = OpenGate(from.products[n][2 * half + e] * hook.scale, seen,
                             &from.logits[n][2 * half + e]);
    }
  }
}

// Says, in the four numbers of the block at `flags`, whether a row's z still
// changes; other threads see it after the next barrier. Rows that do not exist
// have ended.
ORDO_DEVICE void SayEnded(const Term (&terms)[2], const Counter (&counters)[2],
                          int64_t rows, float* flags) {
  float open = 0;
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const bool real = PlaceOfLane().row + 8 * half < rows;
    if (real && !HasEnded(terms[half], counters[half].whole)) open = 1;
  }
  for (int mask = 1; mask < 32; mask *= 2) {
    open = fmaxf(open, device::ShuffleXor(open, mask));
  }
  const int thread = device::ThreadId();
  if (thread % 32 == 0) flags[thread / 32] = open;
}

ORDO_DEVICE bool HaveEnded(const float* flags) {
  return flags[0] + flags[1] + flags[2] + flags[3] == 0;
}

ORDO_DEVICE void Copy(const float (&from)[kCudaTile / 8][4],
                      float (&to)[kCudaTile / 8][4]) {
  ORDO_UNROLL
  for (int n = 0; n < kCudaTile / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) to[n][e] = from[n][e];
  }
}

// A tensor that has the width of q and k.
ORDO_DEVICE Columns ColumnsOf(const Call& call, Input input, const HeadOf& of) {
  return OneTensor(call.inputs[input], of, call.problem.width);
}

// What is known of a step: whether gates are of tensors of their own, and
// whether no row's z changes in it.
struct CountedKind {
  bool own;
  bool ended;
};

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_COUNTED_BODY_H_
