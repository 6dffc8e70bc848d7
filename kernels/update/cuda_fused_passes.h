#ifndef ORDO_KERNELS_UPDATE_CUDA_FUSED_PASSES_H_
#define ORDO_KERNELS_UPDATE_CUDA_FUSED_PASSES_H_

#include "kernels/update/cuda_fused_tile.h"

// The passes of cuda_fused.cu over the tiles of tokens; see cuda_fused_tile.h
// for the legend. A block goes through every so many of the tiles, so that what
// it sums up depends on the problem alone.

namespace ordo::kernels::update {

// All that a block has in shared memory, in this order; passes that do not need
// the last ones have no room for them.
struct Shared {
  Matrix x;
  Matrix maps;
  Matrix psi;
  Matrix d_out;
  Matrix d_maps;
  float* sums;
};

template <int kParts>
ORDO_DEVICE Shared MakeShared(const FusedArguments& a, bool backward) {
  const bool by_token = a.call.problem.by_token();
  SharedParts parts(device::SharedMemory());
  Shared shared = {};
  shared.x = TakeState<kParts>(a, &parts);
  shared.maps =
      parts.Take(kParts, (by_token ? a.tokens : 1) * a.heads, a.heads);
  if (by_token) shared.psi = parts.Take(kParts, kTokens, a.inner);
  if (!backward) return shared;
  shared.d_out = TakeState<kParts>(a, &parts);
  if (by_token) shared.d_maps = parts.Take(kParts, kTokens, MapSize(a));
  shared.sums = parts.Floats();
  return shared;
}

// What stays for all tiles.
template <int kParts>
ORDO_DEVICE void Begin(const FusedArguments& a, const Shared& shared) {
  const bool by_token = a.call.problem.by_token();
  Clear<kParts>(shared.maps, (by_token ? a.tokens : 1) * a.heads);
  const int zeros = RowOf(a, 0, a.heads);
  Matrix row = shared.x;
  row.data = shared.x.At(zeros, 0);
  Clear<kParts>(row, 1);
  if (shared.d_out.data != nullptr) {
    row.data = shared.d_out.At(zeros, 0);
    Clear<kParts>(row, 1);
  }
  if (shared.d_maps.data != nullptr) Clear<kParts>(shared.d_maps, kTokens);
  if (by_token) return;
  // Zeros come first.
  device::SyncThreads();
  LoadMap<kParts>(a, shared.maps);
}

template <int kParts>
ORDO_KERNEL(kThreads)
FusedForward(const FusedArguments a) {
  const Call& call = a.call;
  const bool by_token = call.problem.by_token();
  const Shared shared = MakeShared<kParts>(a, /*backward=*/false);
  Begin<kParts>(a, shared);
  const Product product = {shared.maps, /*turned=*/false, shared.x,
                           by_token ? call.inputs.x : call.inputs.base,
                           call.out};
  for (int64_t tile = device::BlockX(); tile < a.tiles;
       tile += device::GridX()) {
    const int64_t first = tile * a.tokens;
    LoadState<kParts>(a, call.inputs.x, first, shared.x);
    device::CommitCopies();
    if (by_token) {
      LoadPsi<kParts>(a, first, shared.psi);
      // psi is there, and zeros.
      device::SyncThreads();
      MakeMaps<kParts>(a, shared.psi, shared.maps);
    }
    device::WaitForCopies<0>();
    // The tile and its maps are there.
    device::SyncThreads();
    for (int token = device::ThreadId() / 32; token < a.tokens;
         token += kWarps) {
      AddProduct<kParts>(a, product, first, token);
    }
    // All have read the tile before another takes its place.
    device::SyncThreads();
  }
}

// 16 x 16 heads of a token of the tile: of d_out, and of x.
struct HeadsAt {
  int token;
  int row;
  int column;
};

// sums += d_out x^T.
template <int kParts>
ORDO_DEVICE void MultiplyHeads(const FusedArguments& a, const Shared& shared,
                               const HeadsAt& at, float (&sums)[2][4]) {
  const LaneAt down = DownFirst(), across = AcrossFirst();
  const int left_row = RowOf(a, at.token, at.row + down.row);
  const int right_row = RowOf(a, at.token, at.column + across.row);
  for (int k = 0; k < a.width; k += 16) {
    const Side<kParts> left = LoadSide<kParts>(
        shared.d_out, shared.d_out.At(left_row, k + down.column),
        /*turned=*/false);
    const Side<kParts> right = LoadSide<kParts>(
        shared.x, shared.x.At(right_row, k + across.column), /*turned=*/false);
    MultiplyParts<kParts>(left, right, 0, sums[0]);
    MultiplyParts<kParts>(left, right, 2, sums[1]);
  }
}

// The gradient of a token's map, in shared memory; by a warp.
template <int kParts>
ORDO_DEVICE void MakeMapGradient(const FusedArguments& a, const Shared& shared,
                                 int token) {
  const int lane = device::ThreadId() % 32;
  for (int row = 0; row < a.heads; row += 16) {
    for (int column = 0; column < a.heads; column += 16) {
      float sums[2][4] = {};
      MultiplyHeads<kParts>(a, shared, {token, row, column}, sums);
      ORDO_UNROLL
      for (int half = 0; half < 2; ++half) {
        const int head = row + lane / 4 + 8 * half;
        if (head >= a.call.problem.heads) continue;
        ORDO_UNROLL
        for (int n = 0; n < 2; ++n) {
          StorePair<kParts>(shared.d_maps,
                            shared.d_maps.At(token, head * a.heads + column +
                                                        8 * n + lane % 4 * 2),
                            sums[n][2 * half], sums[n][2 * half + 1]);
        }
      }
    }
  }
}

// Where a lane's eight sums of fragment i of a block's part are.
ORDO_DEVICE float* LaneSums(float* sums, int fragment) {
  return sums + (fragment * 32 + device::ThreadId() % 32) * 8;
}

ORDO_DEVICE void LoadSums(const float* from, float (&sums)[2][4]) {
  ORDO_UNROLL
  for (int n = 0; n < 2; ++n) {
    const device::Words<4> words = device::LoadWords<4>(from + 4 * n);
    ORDO_UNROLL
    for (int i = 0; i < 4; ++i) sums[n][i] = device::AsFloat(words.word[i]);
  }
}

ORDO_DEVICE void StoreSums(const float (&sums)[2][4], float* to) {
  ORDO_UNROLL
  for (int n = 0; n < 2; ++n) {
    device::Words<4> words;
    ORDO_UNROLL
    for (int i = 0; i < 4; ++i) words.word[i] = device::AsWord(sums[n][i]);
    device::StoreWords(words, to + 4 * n);
  }
}

// The sums of a warp over its tokens of the tile, where one map is that of all:
// part `warp` of the block's.
template <int kParts>
ORDO_DEVICE void AddToMapSums(const FusedArguments& a, const Shared& shared,
                              float* block_sums) {
  const int warp = device::ThreadId() / 32;
  const int across = a.heads / 16;
  float* const own = block_sums + warp * a.heads * a.heads;
  for (int i = 0; i < across * across; ++i) {
    float sums[2][4];
    LoadSums(LaneSums(own, i), sums);
    for (int token = warp; token < a.tokens; token += kWarps) {
      MultiplyHeads<kParts>(a, shared,
                            {token, i / across * 16, i % across * 16}, sums);
    }
    StoreSums(sums, LaneSums(own, i));
  }
}

// d_psi = K d_map for each token, in parts: one long sum would be less exact.
template <int kParts>
ORDO_DEVICE void StorePsiGradient(const FusedArguments& a, const Shared& shared,
                                  int64_t first) {
  const Problem& p = a.call.problem;
  const int columns = a.inner / 8, steps = MapSize(a) / 16;
  const int lane = device::ThreadId() % 32;
  const LaneAt at = DownFirst();
  const Type type = a.call.inputs.psi_type;
  void* const d_psi = a.call.gradients.d_psi_BTE;
  for (int n = device::ThreadId() / 32; n < columns; n += kWarps) {
    float sums[4] = {};
    for (int begin = 0; begin < steps; begin += 4) {
      float part[4] = {};
      for (int k = begin; k < begin + 4 && k < steps; ++k) {
        const Side<kParts> left = LoadSide<kParts>(
            shared.d_maps, shared.d_maps.At(at.row, 16 * k + at.column),
            /*turned=*/false);
        const Side<kParts> right = LoadRight<kParts>(
            a.turned_maps, int64_t{k} * columns + n, int64_t{columns} * steps);
        MultiplyParts<kParts>(left, right, 0, part);
      }
      ORDO_UNROLL
      for (int i = 0; i < 4; ++i) sums[i] += part[i];
    }
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int row = lane / 4 + e / 2 * 8;
      const int column = 8 * n + lane % 4 * 2 + e % 2;
      const int64_t token = first + row;
      if (row >= a.tokens || column >= p.inner || token >= p.batch * p.tokens) {
        continue;
      }
      StoreNumber(type, sums[e], token * p.inner + column, d_psi);
    }
  }
}

// The block's sums over tokens of psi times the map's gradient, [EP][H HP].
template <int kParts>
ORDO_DEVICE void AddToSums(const FusedArguments& a, const Shared& shared,
                           float* block_sums) {
  const int columns = MapSize(a) / 16, rows = a.inner / 16;
  const LaneAt down = DownFirst(), across = AcrossFirst();
  for (int i = device::ThreadId() / 32; i < rows * columns; i += kWarps) {
    const int row = i / columns * 16, column = i % columns * 16;
    float sums[2][4];
    LoadSums(LaneSums(block_sums, i), sums);
    const Side<kParts> left = LoadSide<kParts>(
        shared.psi, shared.psi.At(across.row, row + across.column),
        /*turned=*/true);
    const Side<kParts> right = LoadSide<kParts>(
        shared.d_maps, shared.d_maps.At(down.row, column + down.column),
        /*turned=*/true);
    MultiplyParts<kParts>(left, right, 0, sums[0]);
    MultiplyParts<kParts>(left, right, 2, sums[1]);
    StoreSums(sums, LaneSums(block_sums, i));
  }
}

// What a tile that is in shared memory adds to gradients.
template <int kParts>
ORDO_DEVICE void DifferentiateTile(const FusedArguments& a,
                                   const Shared& shared, int64_t first,
                                   float* sums) {
  const Call& call = a.call;
  const bool by_token = call.problem.by_token();
  const Product product = {shared.maps, /*turned=*/true, shared.d_out,
                           by_token ? call.gradients.d_out : View{},
                           call.gradients.d_x};
  if (!by_token) AddToMapSums<kParts>(a, shared, sums);
  for (int token = device::ThreadId() / 32; token < a.tokens; token += kWarps) {
    if (by_token) MakeMapGradient<kParts>(a, shared, token);
    if (call.gradients.d_x.data == nullptr) continue;
    AddProduct<kParts>(a, product, first, token);
  }
  if (!by_token) return;
  // The gradients of all maps are there.
  device::SyncThreads();
  if (call.gradients.d_psi_BTE != nullptr) {
    StorePsiGradient<kParts>(a, shared, first);
  }
  AddToSums<kParts>(a, shared, sums);
}

template <int kParts>
ORDO_KERNEL(kThreads)
FusedBackward(const FusedArguments a) {
  const Call& call = a.call;
  const bool by_token = call.problem.by_token();
  const Shared shared = MakeShared<kParts>(a, /*backward=*/true);
  float* const part = a.parts + device::BlockX() * a.part_floats;
  float* const sums = a.sums_in_shared ? shared.sums : part;
  for (int64_t i = device::ThreadId(); i < a.part_floats; i += kThreads) {
    sums[i] = 0;
  }
  Begin<kParts>(a, shared);
  for (int64_t tile = device::BlockX(); tile < a.tiles;
       tile += device::GridX()) {
    const int64_t first = tile * a.tokens;
    LoadState<kParts>(a, call.inputs.x, first, shared.x);
    LoadState<kParts>(a, call.gradients.d_out, first, shared.d_out);
    device::CommitCopies();
    if (by_token) {
      LoadPsi<kParts>(a, first, shared.psi);
      // psi is there, and zeros.
      device::SyncThreads();
      MakeMaps<kParts>(a, shared.psi, shared.maps);
    }
    device::WaitForCopies<0>();
    // The tiles and their maps are there.
    device::SyncThreads();
    DifferentiateTile<kParts>(a, shared, first, sums);
    // All have read the tiles before others take their place, and have added to
    // the sums.
    device::SyncThreads();
  }
  if (!a.sums_in_shared) return;
  for (int64_t i = device::ThreadId(); i < a.part_floats; i += kThreads) {
    part[i] = sums[i];
  }
}

}  // namespace ordo::kernels::update

#endif  // ORDO_KERNELS_UPDATE_CUDA_FUSED_PASSES_H_
