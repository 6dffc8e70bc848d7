#include "kernels/rows/check/turn.h"

namespace ordo::kernels::rows::check {
namespace {

using kernels::check::Guarded;
using kernels::check::Normals;
using kernels::check::Rounded;
using kernels::check::TestResources;

constexpr Type kSingle = Type::kFloat32;
constexpr int64_t kBatch = 2, kHeads = 3;

// As separate products in fp32.
RotationTensors NaiveTurn(const Rotation& r, const RotationTensors& given) {
  RotationTensors x = given;
  x.y = x.x;
  x.d_x = x.d_y;
  x.d_table = x.table;
  const auto sum = [](Type type, double a, double b, double c, double d) {
    const auto first = static_cast<float>(a * b);
    return Rounded(type, first + static_cast<float>(c * d));
  };
  const int64_t half = r.channels / 2;
  for (int64_t row = 0; row < r.batch * r.heads * r.tokens; ++row) {
    for (int64_t f = 0; f < half; ++f) {
      const int64_t table = row * r.channels, at = row * r.width;
      const double c = x.table[table + f], s = x.table[table + half + f];
      const int64_t i = at + (r.interleaved ? 2 * f : f);
      const int64_t j = at + (r.interleaved ? 2 * f + 1 : f + half);
      const double a = x.x[i], b = x.x[j];
      const double d_a = x.d_y[at + f], d_b = x.d_y[at + f + half];
      x.y[at + f] = sum(r.type, a, c, -b, s);
      x.y[at + half + f] = sum(r.type, b, c, a, s);
      x.d_x[i] = sum(r.type, d_a, c, d_b, s);
      x.d_x[j] = sum(r.type, d_b, c, -d_a, s);
      x.d_table[table + f] = sum(kSingle, d_a, a, d_b, b);
      x.d_table[table + half + f] = sum(kSingle, d_b, a, -d_a, b);
    }
  }
  return x;
}

}  // namespace

Rotation RotationOf(const TurnCase& c, Type type, bool interleaved) {
  Rotation r;
  r.type = type;
  r.batch = kBatch;
  r.heads = kHeads;
  r.tokens = c.tokens;
  r.width = c.width;
  r.channels = c.channels;
  r.interleaved = interleaved;
  return r;
}

View Contiguous(Guarded* x, const Rotation& r, int64_t width) {
  return {x->data(), r.heads * r.tokens * width, r.tokens * width, width};
}

RotationTensors RunTurn(const Kernel& kernel, Rotation r,
                        const RotationTensors& given, Ran* ran) {
  const TestResources resources(0, 2);
  RotationTensors result = given;
  const auto like = [](Type type, const Numbers& x) {
    return Guarded(type, static_cast<int64_t>(x.size()));
  };
  Guarded x(r.type, given.x), table(kSingle, given.table),
      d_y(r.type, given.d_y);
  Guarded y = like(r.type, given.x), d_x = like(r.type, given.x),
          d_table = like(kSingle, given.table);
  r.table_BHTR = Contiguous(&table, r, r.channels);
  r.d_table_BHTR = Contiguous(&d_table, r, r.channels);
  r.turned[0] = {r.heads, Contiguous(&x, r, r.width),
                 Contiguous(&y, r, r.width), Contiguous(&d_y, r, r.width),
                 Contiguous(&d_x, r, r.width)};
  if (ran->LacksMemory()) return result;
  ran->Expect(kernel.turn(r, resources.get()));
  ran->Expect(kernel.turn_backward(r, resources.get()));
  for (const Guarded* input : {&x, &table, &d_y}) ran->ExpectKept(*input);
  result.y = ran->ValuesOf(y);
  result.d_x = ran->ValuesOf(d_x);
  result.d_table = ran->ValuesOf(d_table);
  return result;
}

RotationTensors RotationNumbers(const Rotation& r) {
  const int64_t rows = r.batch * r.heads * r.tokens;
  RotationTensors x;
  x.x = Normals(rows * r.width, "x", r.type);
  x.d_y = Normals(rows * r.width, "d_y", r.type);
  x.table = Normals(rows * r.channels, "table", kSingle);
  return x;
}

void CheckTurn(const Kernel& kernel, const Rotation& r, Ran* ran) {
  const RotationTensors inputs = RotationNumbers(r);
  RotationTensors judge = inputs;
  ReferenceTurn(r, &judge);
  const RotationTensors naive = NaiveTurn(r, inputs);
  const RotationTensors found = RunTurn(kernel, r, inputs, ran);
  ran->ExpectNear({"y", r.type, found.y, judge.y, naive.y});
  ran->ExpectNear({"d_x", r.type, found.d_x, judge.d_x, naive.d_x});
  ran->ExpectNear(
      {"d_table", kSingle, found.d_table, judge.d_table, naive.d_table});
}

}  // namespace ordo::kernels::rows::check
