#ifndef ORDO_MODEL_TEXT_TOKENIZERS_SPLIT_PATTERN_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_SPLIT_PATTERN_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ordo::model::text::tokenizers {

// A regular expression (PCRE2, UTF-8, Unicode's classes for \s, \d and \w) that
// cuts text into pieces. Immutable, thread-safe.
class SplitPattern {
 public:
  // INVALID_ARGUMENT, with the place and the reason: it is none.
  static absl::StatusOr<SplitPattern> Compile(const std::string& pattern);

  SplitPattern(SplitPattern&&) noexcept;
  SplitPattern& operator=(SplitPattern&&) noexcept;
  ~SplitPattern();

  // Appends the matches and what lies between them, in order, none of them
  // empty: together they are `text`, which is well-formed UTF-8 and outlives
  // them. INVALID_ARGUMENT: the pattern takes too much time or memory for this
  // text.
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
