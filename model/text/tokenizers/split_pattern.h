#ifndef ORDO_MODEL_TEXT_TOKENIZERS_SPLIT_PATTERN_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_SPLIT_PATTERN_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ordo::model::text::tokenizers {

// What becomes of the matches of a pattern, as the library tokenizers has it.
enum class SplitBehavior {
  kIsolated,            // pieces by themselves
  kRemoved,             // left out
  kMergedWithPrevious,  // the end of the piece before, but for a match's
  kMergedWithNext,      // the beginning of the piece that follows, likewise
  kContiguous,          // as kIsolated, matches side by side are one piece
};

struct SplitRule {
  SplitBehavior behavior = SplitBehavior::kIsolated;
  // What lies between matches counts as matches, and these as what is between.
  bool invert = false;
};

// A regular expression, as the library tokenizers understands it (see ToPcre2),
// that cuts text into pieces. Immutable, thread-safe.
class SplitPattern {
 public:
  // INVALID_ARGUMENT, with the place and the reason: it is none, or has a part
  // that is not supported.
  static absl::StatusOr<SplitPattern> Compile(const std::string& pattern,
                                              SplitRule rule = {});

  SplitPattern(SplitPattern&&) noexcept;
  SplitPattern& operator=(SplitPattern&&) noexcept;
  ~SplitPattern();

  // Appends the matches and what lies between them, in order, none of them
  // empty: but for kRemoved, together they are `text`, which is well-formed
  // UTF-8 and outlives them. INVALID_ARGUMENT, with the byte and the fix: a
  // match takes too many steps (a million, and four for each byte of the text)
  // or more than 64 MiB.
  absl::Status Split(std::string_view text,
                     std::vector<std::string_view>* pieces) const;

 private:
  struct Code;
  explicit SplitPattern(std::unique_ptr<Code> code);

  std::unique_ptr<Code> code_;
};

// That of GPT-2, which a tokenizer.json does not spell out.
extern const char kGpt2Pattern[];

// The pattern that matches `text` and nothing else.
std::string EscapePattern(std::string_view text);

}  // namespace ordo::model::text::tokenizers

#endif  // ORDO_MODEL_TEXT_TOKENIZERS_SPLIT_PATTERN_H_
