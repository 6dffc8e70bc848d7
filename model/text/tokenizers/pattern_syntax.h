#ifndef ORDO_MODEL_TEXT_TOKENIZERS_PATTERN_SYNTAX_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_PATTERN_SYNTAX_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace ordo::model::text::tokenizers {

// The PCRE2 pattern (with PCRE2_UTF, PCRE2_UCP and PCRE2_MULTILINE) that
// matches as `pattern` does in the library tokenizers, which reads patterns by
// Oniguruma in Ruby's syntax. \s, \w and named classes, such as [:alpha:], are
// spelled out by properties of Unicode; what means something else to PCRE2, or
// loses characters, is refused.
//
// INVALID_ARGUMENT, with the byte: it has such a part. What is no pattern to
// either is left to PCRE2.
absl::StatusOr<std::string> ToPcre2(std::string_view pattern);

}  // namespace ordo::model::text::tokenizers

#endif  // ORDO_MODEL_TEXT_TOKENIZERS_PATTERN_SYNTAX_H_
