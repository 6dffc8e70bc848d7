#ifndef ORDO_MODEL_TEXT_ROWS_WINDOWS_H_
#define ORDO_MODEL_TEXT_ROWS_WINDOWS_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace ordo::model::text::rows {

// Which parts of a stream of tokens a perplexity is taken over.
enum class Protocol {
  // Windows one behind the other. All tokens but the first of each are scored;
  // what is left at the end is not read.
  kBlocks,
  // A window begins every `step` tokens, while more than its length is left.
  // All tokens but the first of each are scored, most of them several times:
  // as LongLoRA's evaluation, often called a sliding window.
  kOverlap,
  // The same windows; only the last `step` tokens of each are scored.
  kStride,
};

struct WindowOptions {
  Protocol protocol = Protocol::kBlocks;
  // Tokens of a window, 2 and more.
  int length = 0;
  // Of kOverlap and kStride, 1 and more; of kStride, less than length.
  int step = 256;
  // Of kBlocks: the last whole window is left out too, as in BiPE's evaluation.
  bool drop_last = false;
  // Only every k-th window, from the first on: cheaper, and less exact.
  int every = 1;
};

struct Window {
  // Number of its first token in the stream.
  uint64_t begin = 0;
  int length = 0;
  // From this place on its tokens are scored, each from those before it.
  int first_scored = 1;
};

// The windows over a stream. Immutable, thread-safe.
class Windows {
 public:
  // INVALID_ARGUMENT, with the field: an option is out of bounds.
  static absl::StatusOr<Windows> Create(uint64_t num_tokens,
                                        const WindowOptions& options);

  uint64_t size() const { return size_; }
  // `index` is below size().
  Window Get(uint64_t index) const;
  // Tokens that are scored, over all windows.
  uint64_t num_scored() const;

 private:
  Windows(const WindowOptions& options, uint64_t size)
      : options_(options), size_(size) {}

  WindowOptions options_;
  uint64_t size_ = 0;
};

}  // namespace ordo::model::text::rows

#endif  // ORDO_MODEL_TEXT_ROWS_WINDOWS_H_
