#include "model/text/tokenizers/split_pattern.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace ordo::model::text::tokenizers {
namespace {

std::string MessageOf(int error) {
  std::array<PCRE2_UCHAR, 256> text = {};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR Units(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data());
}

struct FreeMatch {
  void operator()(pcre2_match_data* match) const {
    pcre2_match_data_free(match);
  }
};

// Unicode's White_Space. PCRE2's own \s has U+180E too, which has not been a
// blank since Unicode 6.3, and which tokenizers do not take for one.
constexpr char kBlanks[] =
    R"(\t-\r\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029})"
    R"(\x{202F}\x{205F}\x{3000})";

// The pattern with \s and \S spelled out; not \S in a class.
std::string WithBlanks(const std::string& pattern) {
  std::string spelled;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c != '\\' || i + 1 == pattern.size()) {
      if (c == '[') in_class = true;
      if (c == ']') in_class = false;
      spelled.push_back(c);
      continue;
    }
    const char escaped = pattern[++i];
    if (escaped == 's') {
      spelled += in_class ? kBlanks : absl::StrCat("[", kBlanks, "]");
    } else if (escaped == 'S' && !in_class) {
      spelled += absl::StrCat("[^", kBlanks, "]");
    } else {
      spelled.append({c, escaped});
    }
  }
  return spelled;
}

// Where a character that begins at `at` ends.
size_t AfterCharacter(std::string_view text, size_t at) {
  do {
    ++at;
  } while (at < text.size() &&
           (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

}  // namespace

const char kGpt2Pattern[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|)"
    R"(\s+(?!\S)|\s+)";

struct SplitPattern::Code {
  explicit Code(pcre2_code* compiled) : compiled(compiled) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { pcre2_code_free(compiled); }

  pcre2_code* const compiled;
};

SplitPattern::SplitPattern(std::unique_ptr<Code> code)
    : code_(std::move(code)) {}
SplitPattern::SplitPattern(SplitPattern&&) noexcept = default;
SplitPattern& SplitPattern::operator=(SplitPattern&&) noexcept = default;
SplitPattern::~SplitPattern() = default;

absl::StatusOr<SplitPattern> SplitPattern::Compile(const std::string& pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  const std::string spelled = WithBlanks(pattern);
  pcre2_code* compiled =
      // `\C` would cut characters in two.
      pcre2_compile(Units(spelled), spelled.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error,
                    &offset, nullptr);
  if (compiled == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("pattern '", spelled, "' is wrong at byte ", offset, ": ",
                     MessageOf(error)));
  }
  // Only faster: a machine without it interprets the pattern.
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
  return SplitPattern(std::make_unique<Code>(compiled));
}

absl::Status SplitPattern::Split(std::string_view text,
                                 std::vector<std::string_view>* pieces) const {
  const std::unique_ptr<pcre2_match_data, FreeMatch> match(
      pcre2_match_data_create_from_pattern(code_->compiled, nullptr));
  ORDO_CHECK(match != nullptr) << "out of memory";
  const auto append = [&](size_t begin, size_t end) {
    if (end > begin) pieces->push_back(text.substr(begin, end - begin));
  };
  size_t done = 0;
  size_t from = 0;
  while (from < text.size()) {
    int result = pcre2_match(code_->compiled, Units(text), text.size(), from,
                             PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT) {
      result =
          pcre2_match(code_->compiled, Units(text), text.size(), from,
                      PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, match.get(), nullptr);
    }
    if (result == PCRE2_ERROR_NOMATCH) break;
    if (result < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("split text at byte ", from, ": ", MessageOf(result)));
    }
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match.get());
    append(done, ends[0]);
    append(ends[0], ends[1]);
    done = ends[1];
    // An empty match would be found again and again.
    from = ends[1] > ends[0] ? ends[1] : AfterCharacter(text, ends[1]);
  }
  append(done, text.size());
  return absl::OkStatus();
}

std::string EscapePattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                       (c >= 'A' && c <= 'Z') ||
                       static_cast<unsigned char>(c) >= 0x80;
    if (!plain) pattern.push_back('\\');
    pattern.push_back(c);
  }
  return pattern;
}

}  // namespace ordo::model::text::tokenizers
