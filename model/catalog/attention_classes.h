#ifndef ORDO_MODEL_CATALOG_ATTENTION_CLASSES_H_
#define ORDO_MODEL_CATALOG_ATTENTION_CLASSES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog/catalog.h"
#include "proto/ordo/training/v1/component.pb.h"

// Encodings by what they ask of attention, and the kernels that can do it: what
// of the table of kernels/attention has to be known where a recipe is checked,
// without what is needed to run it. Tests compare both.

namespace ordo::model::catalog {

// The kernel that is none: plain operations, blocks of queries at a time.
inline constexpr char kReferenceKernel[] = "reference";

inline constexpr int kNoLimit = 1 << 30;

// What attention reads of the distance of a query and a key.
enum class Distances {
  kNone,
  // Numbers.
  kNumbers,
  // Vectors, or which product it is.
  kProducts,
};

// A kernel that a recipe may name: a row of the table.
struct AttentionKernel {
  std::string name;
  // Rows that do the same on processors of different kinds; one of its name is
  // for all. A processor may lack what a row needs: only its worker knows.
  std::string family;
  // As Resources.device.
  std::string device;
  // As Training.precision.
  std::vector<std::string> precisions;
  // Widths of heads are at most this and a multiple of that.
  int max_head_width = 0;
  int head_width_multiple = 0;
  // Of all value tensors together, each of which takes whole tiles of
  // `value_tile`.
  int max_values_width = kNoLimit;
  int value_tile = 1;
  // Most pieces of a piecewise linear function of the distance.
  int max_pieces = kNoLimit;
  // The most that it reads of distances between position ids.
  Distances of_ids = Distances::kProducts;
  // Most distances of vectors; if fewer than kNoLimit, at queries alone and
  // under the causal mask.
  int max_vectors = kNoLimit;
  // Whether it takes Distances::kProducts beside anything else of distances.
  bool mixes_products = true;
};

// Widths of rows for a GPU are those that their library is built for: the usual
// ones, or with --config=cuda_all.
std::vector<AttentionKernel> AttentionKernelsOf(bool has_all_widths);

// Of the library that this build makes.
const std::vector<AttentionKernel>& AttentionKernels();

// Farthest distance that kernels keep sums of weights of.
inline constexpr int kMaxSummedReach = 1024;
// Most counted positions with an embedding that kernels take.
inline constexpr int kMaxPositions = 1025;

// Widths of what attention reads of a head, in the layer that reads most.
struct AttentionWidths {
  // Of q and k.
  int64_t query = 0;
  // Of the value tensors, v first.
  std::vector<int64_t> values;
};

// Parameters of an encoding with which no kernel does what it does to logits.
struct PlainCase {
  bool (*holds)(const ordo::training::v1::Component& encoding) = nullptr;
  // For people: which those are, and why, after "with".
  std::string text;
};

struct AttentionClass {
  // Of the encoding that stands for it.
  std::string name;
  // For people: what it is.
  std::string text;
  // The encodings of the class.
  std::vector<std::string> encodings;
  // Families of the kernels that do it, best first, beside kReferenceKernel.
  std::vector<std::string> kernels;
  // For people: why none of them is for a GPU. Empty: one is.
  std::string no_cuda;
  Distances distances = Distances::kNone;
  // Benchmarks measure it.
  bool is_measured = true;
  // How many times as long a training step of the tiny model takes with plain
  // operations as with the best kernel, with 1024 tokens on two CPU cores:
  // `tools/bench step --plain`. Where that cannot be taken, that of the class
  // it is most like.
  double slowdown = 1;
  // What attention reads under a resolved encoding of the class, in a model of
  // that shape; null: q, k and one value tensor are as wide as a head.
  AttentionWidths (*widths)(const ordo::training::v1::Component& encoding,
                            const ModelShape& shape) = nullptr;
  // It does not without the causal mask.
  bool needs_causal = false;
  // Parameters of its encodings: one less than the pieces of a piecewise linear
  // function; and a number above 0 where earlier segments pass on no gradient,
  // which no kernel does. Empty: none.
  std::string pieces_param;
  std::string segments_param;
  // Parameters with which no kernel does it.
  std::vector<PlainCase> plain;
  // Under the causal mask, how many distances have a vector at queries under an
  // encoding of the class; kNoLimit where there are vectors elsewhere too.
  // Null: 0.
  int (*vectors)(const ordo::training::v1::Component& encoding) = nullptr;
};

// Names of the kernels of a class, best first, as a recipe may have them;
// kReferenceKernel, which is one's too, is not among them.
std::vector<std::string> KernelNames(const AttentionClass& about);

// The first is that of encodings that no other names.
const std::vector<AttentionClass>& AttentionClasses();

const AttentionClass& AttentionClassOf(std::string_view encoding);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_ATTENTION_CLASSES_H_
