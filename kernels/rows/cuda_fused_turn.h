#ifndef ORDO_KERNELS_ROWS_CUDA_FUSED_TURN_H_
#define ORDO_KERNELS_ROWS_CUDA_FUSED_TURN_H_

#include <cstdint>

#include "kernels/rows/cuda_fused_body.h"

// Rotations of cuda_fused.cu: a thread has four frequencies of one token of one
// head, for q and for k, or four of the channels that stay.

namespace ordo::kernels::rows {

struct TurnArguments {
  Rotation rotation;
  // Threads of a token of a head: those of frequencies come first.
  int64_t turning;
  int64_t threads;
};

// A thread's token of a head, and its first frequency, or the first of its
// channels that stay.
struct TurnAt {
  int64_t batch;
  int64_t head;
  int64_t token;
  int64_t column;
  bool turns;
};

ORDO_DEVICE TurnAt PlaceOfThread(const TurnArguments& a) {
  const Rotation& r = a.rotation;
  const int64_t i = device::BlockX() * kThreads + device::ThreadId();
  // Rows of the batch are in the grid, so that these fit 32 bits.
  const auto thread = static_cast<uint32_t>(i);
  const auto threads = static_cast<uint32_t>(a.threads);
  const auto tokens = static_cast<uint32_t>(r.tokens);
  const uint32_t row = thread / threads, own = thread % threads;
  TurnAt at;
  at.batch = device::BlockY();
  at.head = row / tokens;
  at.token = row % tokens;
  at.turns = own < a.turning;
  at.column =
      at.turns ? 4 * int64_t{own} : r.channels + 4 * (int64_t{own} - a.turning);
  return at;
}

// Columns [begin, end) of a row, of which a thread has the first four.
struct Span {
  int64_t begin;
  int64_t end;
};

ORDO_DEVICE Quad QuadOf(const View& view, Type type, const TurnAt& at,
                        const Span& span) {
  const int64_t first = at.batch * view.batch_stride +
                        at.head * view.head_stride +
                        at.token * view.token_stride + span.begin;
  return {first, span.end - span.begin, InVectors(type, view.data, first)};
}

// Four complex numbers.
struct Numbers {
  Four real;
  Four imaginary;
};

// What a thread turns, as a type.
struct Turning {
  const Rotation& r;
  TurnAt at;
  Type type;

  ORDO_DEVICE int64_t half() const { return r.channels / 2; }
};

// Of rows with all real parts first: those of y, the table, and its gradient.
ORDO_DEVICE Numbers LoadParts(const View& view, const Turning& t) {
  const Span real = {t.at.column, t.half()};
  const Span imaginary = {t.half() + t.at.column, t.r.channels};
  return {LoadFour(t.type, view.data, QuadOf(view, t.type, t.at, real)),
          LoadFour(t.type, view.data, QuadOf(view, t.type, t.at, imaginary))};
}
ORDO_DEVICE void StoreParts(const View& view, const Turning& t,
                            const Numbers& numbers) {
  const Span real = {t.at.column, t.half()};
  const Span imaginary = {t.half() + t.at.column, t.r.channels};
  StoreFour(t.type, numbers.real, QuadOf(view, t.type, t.at, real), view.data);
  StoreFour(t.type, numbers.imaginary, QuadOf(view, t.type, t.at, imaginary),
            view.data);
}

// Of x and its gradient.
ORDO_DEVICE Numbers LoadPairs(const View& view, const Turning& t) {
  if (!t.r.interleaved) return LoadParts(view, t);
  const Span first = {2 * t.at.column, t.r.channels};
  const Span second = {2 * t.at.column + 4, t.r.channels};
  const Four low =
      LoadFour(t.type, view.data, QuadOf(view, t.type, t.at, first));
  const Four high =
      LoadFour(t.type, view.data, QuadOf(view, t.type, t.at, second));
  return {{{low.x[0], low.x[2], high.x[0], high.x[2]}},
          {{low.x[1], low.x[3], high.x[1], high.x[3]}}};
}
ORDO_DEVICE void StorePairs(const View& view, const Turning& t,
                            const Numbers& numbers) {
  if (!t.r.interleaved) return StoreParts(view, t, numbers);
  const Span first = {2 * t.at.column, t.r.channels};
  const Span second = {2 * t.at.column + 4, t.r.channels};
  const Four &a = numbers.real, &b = numbers.imaginary;
  StoreFour(t.type, {{a.x[0], b.x[0], a.x[1], b.x[1]}},
            QuadOf(view, t.type, t.at, first), view.data);
  StoreFour(t.type, {{a.x[2], b.x[2], a.x[3], b.x[3]}},
            QuadOf(view, t.type, t.at, second), view.data);
}

// a b, or a times the conjugate of b.
ORDO_DEVICE Numbers Product(const Numbers& a, const Numbers& b,
                            bool conjugate) {
  Numbers product;
  ORDO_UNROLL
  for (int i = 0; i < 4; ++i) {
    const float c = b.real.x[i];
    const float s = conjugate ? -b.imaginary.x[i] : b.imaginary.x[i];
    product.real.x[i] = a.real.x[i] * c - a.imaginary.x[i] * s;
    product.imaginary.x[i] = a.imaginary.x[i] * c + a.real.x[i] * s;
  }
  return product;
}

ORDO_DEVICE void CopyStaying(const Turning& t, const View& from,
                             const View& to) {
  const Span span = {t.at.column, t.r.width};
  const Four four =
      LoadFour(t.type, from.data, QuadOf(from, t.type, t.at, span));
  StoreFour(t.type, four, QuadOf(to, t.type, t.at, span), to.data);
}

ORDO_KERNEL(kThreads)
FusedTurn(const TurnArguments a) {
  const Rotation& r = a.rotation;
  const TurnAt at = PlaceOfThread(a);
  if (at.head >= r.heads) return;
  const Turning own = {r, at, r.type}, table = {r, at, Type::kFloat32};
  Numbers number = {};
  if (at.turns) number = LoadParts(r.table_BHTR, table);
  for (int i = 0; i < r.num_turned; ++i) {
    const Turned& turned = r.turned[i];
    if (at.head >= turned.heads) continue;
    if (at.turns) {
      const Numbers x = LoadPairs(turned.x_BHTD, own);
      StoreParts(turned.y_BHTD, own, Product(x, number, false));
    } else {
      CopyStaying(own, turned.x_BHTD, turned.y_BHTD);
    }
  }
}

ORDO_KERNEL(kThreads)
FusedTurnBackward(const TurnArguments a) {
  const Rotation& r = a.rotation;
  const TurnAt at = PlaceOfThread(a);
  if (at.head >= r.heads) return;
  const bool of_table = r.d_table_BHTR.data != nullptr;
  const Turning own = {r, at, r.type}, table = {r, at, Type::kFloat32};
  Numbers number = {}, sum = {};
  if (at.turns) number = LoadParts(r.table_BHTR, table);
  for (int i = 0; i < r.num_turned; ++i) {
    const Turned& turned = r.turned[i];
    if (at.head >= turned.heads) continue;
    const bool of_x = turned.d_x_BHTD.data != nullptr;
    if (!at.turns) {
      if (of_x) CopyStaying(own, turned.d_y_BHTD, turned.d_x_BHTD);
      continue;
    }
    const Numbers d = LoadParts(turned.d_y_BHTD, own);
    if (of_x) StorePairs(turned.d_x_BHTD, own, Product(d, number, true));
    if (!of_table) continue;
    const Numbers change =
        Product(d, LoadPairs(turned.x_BHTD, own), /*conjugate=*/true);
    ORDO_UNROLL
    for (int k = 0; k < 4; ++k) {
      sum.real.x[k] += change.real.x[k];
      sum.imaginary.x[k] += change.imaginary.x[k];
    }
  }
  if (of_table && at.turns) StoreParts(r.d_table_BHTR, table, sum);
}

}  // namespace ordo::kernels::rows

#endif  // ORDO_KERNELS_ROWS_CUDA_FUSED_TURN_H_
