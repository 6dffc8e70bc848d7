#ifndef ORDO_MODEL_TEXT_ROWS_WINDOWS_H_
#define ORDO_MODEL_TEXT_ROWS_WINDOWS_H_

#include <cstdint>
#include <vector>

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
  // Of kBlocks: the last whole window of each group is left out too, as in
  // BiPE's evaluation.
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

// The windows over a stream, those of each group of its tokens by themselves.
// Immutable, thread-safe.
class Windows {
 public:
  // `begins` are the numbers of the first token of each group, rising from 0,
  // and behind them that of all tokens: {0, num_tokens} of a single one.
  // INVALID_ARGUMENT, with the field: an option is out of bounds.
  static absl::StatusOr<Windows> Create(std::vector<uint64_t> begins,
                                        const WindowOptions& options);

  uint64_t size() const { return size_; }
  // `index` is below size().
  Window Get(uint64_t index) const;
  // Tokens that are scored, over all windows.
  uint64_t num_scored() const;

 private:
  Windows(std::vector<uint64_t> begins, const WindowOptions& options);

  WindowOptions options_;
  // Of each group, and of the end: its first token, and the windows before it,
  // before every k-th is taken.
  std::vector<uint64_t> begins_;
  std::vector<uint64_t> windows_ = {0};
  uint64_t size_ = 0;
};

}  // namespace ordo::model::text::rows

#endif  // ORDO_MODEL_TEXT_ROWS_WINDOWS_H_
