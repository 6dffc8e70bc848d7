#ifndef ORDO_KERNELS_UPDATE_CPU_FUSED_BODY_H_
#define ORDO_KERNELS_UPDATE_CPU_FUSED_BODY_H_

#include <stdint.h>
#include <string.h>

#include "kernels/common/cpu_rows.h"
#include "kernels/common/cpu_vectors.h"
#include "kernels/update/cpu_fused_code.h"

// The code of cpu_fused.h on vectors of ORDO_VECTOR_BYTES, for one .cc per
// instruction set; see cpu_vectors.h.
//
// A map [H,H] has rows of whole vectors here, so an outer product of W2 and W1
// is [E, H, padded H]: K. M of a token is psi K.

namespace ordo::kernels::update {
namespace {

// Of a map.
int64_t MapRow(const Problem& p) { return Padded(p.heads); }
int64_t MapFloats(const Problem& p) { return p.heads * MapRow(p); }

// What all units read: G, or K and its transpose.
struct Shared {
  float* map;
  float* transposed;
};

Shared MakeShared(const Problem& p, Arena* arena) {
  Shared shared;
  shared.map = arena->Floats((p.by_token() ? p.inner : 1) * MapFloats(p));
  shared.transposed = arena->Floats(MapFloats(p) * Padded(p.inner));
  return shared;
}

// What a thread has to itself.
struct Room {
  float* x;
  float* out;
  float* d_x;
  float* transposed_x;
  // Of a block of tokens.
  float* psi;
  float* d_psi;
  float* d_psi_part;
  float* map;
  float* d_map;
};

Room MakeRoom(const Problem& p, Arena* arena) {
  Room room;
  const int64_t state = p.heads * Padded(p.width);
  room.x = arena->Floats(state);
  room.out = arena->Floats(state);
  room.d_x = arena->Floats(state);
  room.transposed_x = arena->Floats(Padded(p.width) * MapRow(p));
  room.psi = arena->Floats(kBlock * Padded(p.inner));
  room.d_psi = arena->Floats(kBlock * Padded(p.inner));
  room.d_psi_part = arena->Floats(kBlock * Padded(p.inner));
  room.map = arena->Floats(p.by_token() ? kBlock * MapFloats(p) : 0);
  room.d_map = arena->Floats((p.by_token() ? kBlock : 1) * MapFloats(p));
  return room;
}

int64_t SharedBytes(const Problem& p) {
  Arena arena(nullptr);
  MakeShared(p, &arena);
  return arena.used();
}

int64_t RoomBytes(const Problem& p) {
  Arena arena(nullptr);
  MakeRoom(p, &arena);
  return arena.used();
}

int64_t PartFloats(const Problem& p) {
  return (p.by_token() ? p.inner : 1) * MapFloats(p);
}

void Prepare(const Call& call, void* memory) {
  const Problem& p = call.problem;
  Arena arena(memory);
  const Shared shared = MakeShared(p, &arena);
  const int64_t heads = p.heads, row = MapRow(p), size = MapFloats(p);
  memset(memory, 0, SharedBytes(p));
  for (int64_t n = 0; n < heads; ++n) {
    for (int64_t m = 0; m < heads; ++m) {
      const int64_t at = n * row + m;
      if (!p.by_token()) shared.map[at] = call.inputs.mix_HH[n * heads + m];
      for (int64_t e = 0; e < p.inner; ++e) {
        const float product = call.inputs.out_HE[n * p.inner + e] *
                              call.inputs.in_EH[e * heads + m];
        shared.map[e * size + at] = product;
        shared.transposed[at * Padded(p.inner) + e] = product;
      }
    }
  }
}

// The heads of one token, of a view.
struct Heads {
  const View* view;
  int64_t offset;
  void* Row(int64_t h) const {
    return static_cast<char*>(view->data) +
           (offset + h * view->head_stride) * BytesOf(view->type);
  }
};

struct Work {
  const Call& call;
  const Problem& p;
  const Unit& unit;
  Shared shared;
  Room room;

  Work(const Call& c, const Unit& u) : call(c), p(c.problem), unit(u) {
    Arena all(const_cast<void*>(u.shared)), own(u.room);
    shared = MakeShared(p, &all);
    room = MakeRoom(p, &own);
    // Heads behind the last one are zeros in all products.
    memset(room.transposed_x, 0, Padded(p.width) * MapRow(p) * 4);
  }

  Heads Of(const View& view, int64_t token) const {
    return {&view, token / p.tokens * view.batch_stride +
                       token % p.tokens * view.token_stride};
  }
  int64_t width() const { return Padded(p.width); }

  void Read(const View& view, int64_t token, float* out) const {
    const Heads heads = Of(view, token);
    for (int64_t h = 0; h < p.heads; ++h) {
      ReadRow(view.type, heads.Row(h), p.width, out + h * width());
    }
  }
  void Write(const float* x, int64_t token, const View& view) const {
    const Heads heads = Of(view, token);
    for (int64_t h = 0; h < p.heads; ++h) {
      WriteRow(view.type, x + h * width(), p.width, heads.Row(h));
    }
  }

  // M of token number i of a block.
  const float* Map(int64_t i) const {
    return p.by_token() ? room.map + i * MapFloats(p) : shared.map;
  }

  // Those of the `count` tokens from `first` on.
  void MakeMaps(int64_t first, int64_t count) const {
    if (!p.by_token()) return;
    const int64_t row = Padded(p.inner), bytes = BytesOf(call.inputs.psi_type);
    for (int64_t i = 0; i < count; ++i) {
      ReadRow(call.inputs.psi_type,
              static_cast<const char*>(call.inputs.psi_BTE) +
                  (first + i) * p.inner * bytes,
              p.inner, room.psi + i * row);
    }
    const int64_t size = MapFloats(p);
    Multiply({count, size, p.inner, Left{room.psi, row, 1},
              Rows{shared.map, size}, Rows{room.map, size}, false});
  }

  // c += M b for the heads of a token, M from the left or transposed.
  void AddProduct(Left m, float* b, float* c) const {
    Multiply({p.heads, width(), p.heads, m, Rows{b, width()}, Rows{c, width()},
              true});
  }
};

// Calls block(first, count) for the unit's tokens.
template <typename Step>
void ForEachBlock(const Unit& unit, const Step& block) {
  for (int64_t done = 0; done < unit.count; done += kBlock) {
    block(unit.first + done, Least(kBlock, unit.count - done));
  }
}

void Forward(const Call& call, const Unit& unit) {
  const Work work(call, unit);
  const Problem& p = call.problem;
  ForEachBlock(unit, [&](int64_t first, int64_t count) {
    work.MakeMaps(first, count);
    for (int64_t i = 0; i < count; ++i) {
      work.Read(call.inputs.x, first + i, work.room.x);
      if (p.by_token()) {
        memcpy(work.room.out, work.room.x, p.heads * work.width() * 4);
      } else {
        work.Read(call.inputs.base, first + i, work.room.out);
      }
      work.AddProduct({work.Map(i), MapRow(p), 1}, work.room.x, work.room.out);
      work.Write(work.room.out, first + i, call.out);
    }
  });
}

// The token's x with heads as columns.
void TransposeX(const Work& work) {
  const int64_t row = MapRow(work.p);
  for (int64_t w = 0; w < work.width(); ++w) {
    for (int64_t h = 0; h < work.p.heads; ++h) {
      work.room.transposed_x[w * row + h] = work.room.x[h * work.width() + w];
    }
  }
}

// d_map = d_out x^T.
void BackwardMap(const Work& work, float* d_map) {
  const int64_t row = MapRow(work.p);
  TransposeX(work);
  Multiply({work.p.heads, row, work.p.width,
            Left{work.room.out, work.width(), 1},
            Rows{work.room.transposed_x, row}, Rows{d_map, row}, false});
}

void Add(const float* x, int64_t count, float* to) {
  for (int64_t i = 0; i < count; i += kLanes) {
    Store(to + i, Load(to + i) + Load(x + i));
  }
}

// d_psi = K d_map for each token, in parts: one long sum would be less exact.
void BackwardPsi(const Work& work, int64_t first, int64_t count) {
  constexpr int64_t kLongest = 64;
  const Problem& p = work.p;
  const int64_t row = Padded(p.inner), size = MapFloats(p);
  const int64_t bytes = BytesOf(work.call.inputs.psi_type);
  memset(work.room.d_psi, 0, count * row * 4);
  for (int64_t k = 0; k < size; k += kLongest) {
    Multiply({count, row, Least(kLongest, size - k),
              Left{work.room.d_map + k, size, 1},
              Rows{work.shared.transposed, row}.From(k),
              Rows{work.room.d_psi_part, row}, false});
    Add(work.room.d_psi_part, count * row, work.room.d_psi);
  }
  for (int64_t i = 0; i < count; ++i) {
    WriteRow(work.call.inputs.psi_type, work.room.d_psi + i * row, p.inner,
             static_cast<char*>(work.call.gradients.d_psi_BTE) +
                 (first + i) * p.inner * bytes);
  }
}

// The part of the sum of a block whose maps have gradients.
void AddToPart(const Work& work, int64_t count) {
  const Problem& p = work.p;
  const int64_t size = MapFloats(p);
  Multiply({p.inner, size, count, Left{work.room.psi, 1, Padded(p.inner)},
            Rows{work.room.d_map, size}, Rows{work.unit.part, size}, true});
}

void Backward(const Call& call, const Unit& unit) {
  const Work work(call, unit);
  const Problem& p = call.problem;
  const Room& room = work.room;
  memset(unit.part, 0, PartFloats(p) * 4);
  ForEachBlock(unit, [&](int64_t first, int64_t count) {
    work.MakeMaps(first, count);
    for (int64_t i = 0; i < count; ++i) {
      work.Read(call.inputs.x, first + i, room.x);
      work.Read(call.gradients.d_out, first + i, room.out);
      if (call.gradients.d_x.data != nullptr) {
        if (p.by_token()) {
          memcpy(room.d_x, room.out, p.heads * work.width() * 4);
        } else {
          memset(room.d_x, 0, p.heads * work.width() * 4);
        }
        work.AddProduct({work.Map(i), 1, MapRow(p)}, room.out, room.d_x);
        work.Write(room.d_x, first + i, call.gradients.d_x);
      }
      if (p.by_token()) {
        BackwardMap(work, room.d_map + i * MapFloats(p));
      } else {
        BackwardMap(work, room.d_map);
        Add(room.d_map, MapFloats(p), unit.part);
      }
    }
    if (!p.by_token()) return;
    if (call.gradients.d_psi_BTE != nullptr) BackwardPsi(work, first, count);
    AddToPart(work, count);
  });
}

void Finish(const Call& call, const float* sum) {
  const Problem& p = call.problem;
  const Gradients& gradients = call.gradients;
  const int64_t heads = p.heads, row = MapRow(p), size = MapFloats(p);
  if (gradients.d_mix_HH != nullptr) {
    for (int64_t n = 0; n < heads; ++n) {
      for (int64_t m = 0; m < heads; ++m) {
        gradients.d_mix_HH[n * heads + m] = sum[n * row + m];
      }
    }
  }
  for (int64_t e = 0; e < p.inner; ++e) {
    const float* const of_inner = sum + e * size;
    for (int64_t n = 0; n < heads && gradients.d_out_HE != nullptr; ++n) {
      float total = 0;
      for (int64_t m = 0; m < heads; ++m) {
        total += of_inner[n * row + m] * call.inputs.in_EH[e * heads + m];
      }
      gradients.d_out_HE[n * p.inner + e] = total;
    }
    for (int64_t m = 0; m < heads && gradients.d_in_EH != nullptr; ++m) {
      float total = 0;
      for (int64_t n = 0; n < heads; ++n) {
        total += of_inner[n * row + m] * call.inputs.out_HE[n * p.inner + e];
      }
      gradients.d_in_EH[e * heads + m] = total;
    }
  }
}

constexpr FusedCode kCode = {SharedBytes, RoomBytes, PartFloats, Prepare,
                             Forward,     Backward,  Finish};

}  // namespace
}  // namespace ordo::kernels::update

#endif  // ORDO_KERNELS_UPDATE_CPU_FUSED_BODY_H_
