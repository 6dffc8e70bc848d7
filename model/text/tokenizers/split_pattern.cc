#include "model/text/tokenizers/split_pattern.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status/status.h"
#include "model/text/tokenizers/pattern_syntax.h"

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

struct FreeContext {
  void operator()(pcre2_match_context* context) const {
    pcre2_match_context_free(context);
  }
};

// What matching one text may take. A plain pattern goes back over a run of
// letters once; one that goes back over and over, in exponentially many steps,
// comes to the end of any.
constexpr uint64_t kSteps = 1000000;
constexpr uint64_t kStepsPerByte = 4;
// Of patterns that nest as deep as a text is long.
constexpr uint32_t kHeapKibibytes = uint32_t{64} << 10;

std::unique_ptr<pcre2_match_context, FreeContext> LimitsFor(
    std::string_view text) {
  std::unique_ptr<pcre2_match_context, FreeContext> context(
      pcre2_match_context_create(nullptr));
  ORDO_CHECK(context != nullptr) << "out of memory";
  const uint64_t steps = kSteps + kStepsPerByte * text.size();
  pcre2_set_match_limit(context.get(),
                        static_cast<uint32_t>(std::min<uint64_t>(
                            steps, std::numeric_limits<uint32_t>::max())));
  pcre2_set_heap_limit(context.get(), kHeapKibibytes);
  return context;
}

// Puts parts of a text, one after the other, together to pieces.
class Joiner {
 public:
  Joiner(SplitRule rule, std::vector<std::string_view>* pieces)
      : rule_(rule), pieces_(pieces) {}

  // `part` lies behind the last one.
  void Add(std::string_view part, bool matches) {
    const bool is_match = matches != rule_.invert;
    const bool follows_match = std::exchange(follows_match_, is_match);
    if (is_match && rule_.behavior == SplitBehavior::kRemoved) return;
    if (last_.data() != nullptr && Joins(is_match, follows_match)) {
      last_ = {last_.data(), last_.size() + part.size()};
      return;
    }
    Finish();
    last_ = part;
  }

  void Finish() {
    if (!last_.empty()) pieces_->push_back(last_);
    last_ = {};
  }

 private:
  bool Joins(bool is_match, bool follows_match) const {
    switch (rule_.behavior) {
      case SplitBehavior::kIsolated:
      case SplitBehavior::kRemoved:
        return false;
      case SplitBehavior::kMergedWithPrevious:
        return is_match && !follows_match;
      case SplitBehavior::kMergedWithNext:
        return !is_match && follows_match;
      case SplitBehavior::kContiguous:
        return is_match == follows_match;
    }
    return false;
  }

  const SplitRule rule_;
  std::vector<std::string_view>* const pieces_;
  std::string_view last_;
  bool follows_match_ = false;
};

absl::Status TooMuch(size_t from, int error) {
  return absl::InvalidArgumentError(absl::StrCat(
      "split text at byte ", from, ": ", MessageOf(error),
      ": the tokenizer's pattern goes back too often in this text; break up ",
      "its long runs of the same letters, or use another tokenizer"));
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
  Code(pcre2_code* compiled, SplitRule rule) : compiled(compiled), rule(rule) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { pcre2_code_free(compiled); }

  pcre2_code* const compiled;
  const SplitRule rule;
};

SplitPattern::SplitPattern(std::unique_ptr<Code> code)
    : code_(std::move(code)) {}
SplitPattern::SplitPattern(SplitPattern&&) noexcept = default;
SplitPattern& SplitPattern::operator=(SplitPattern&&) noexcept = default;
SplitPattern::~SplitPattern() = default;

absl::StatusOr<SplitPattern> SplitPattern::Compile(const std::string& pattern,
                                                   SplitRule rule) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  ORDO_ASSIGN_OR_RETURN(const std::string spelled, ToPcre2(pattern));
  pcre2_code* compiled = pcre2_compile(Units(spelled), spelled.size(),
                                       PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE,
                                       &error, &offset, nullptr);
  if (compiled == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("pattern '", spelled, "' is wrong at byte ", offset, ": ",
                     MessageOf(error)));
  }
  // Only faster: a machine without it interprets the pattern.
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
  return SplitPattern(std::make_unique<Code>(compiled, rule));
}

absl::Status SplitPattern::Split(std::string_view text,
                                 std::vector<std::string_view>* pieces) const {
  const std::unique_ptr<pcre2_match_data, FreeMatch> match(
      pcre2_match_data_create_from_pattern(code_->compiled, nullptr));
  ORDO_CHECK(match != nullptr) << "out of memory";
  const auto limits = LimitsFor(text);
  const auto find = [&](size_t from, uint32_t options) {
    return pcre2_match(code_->compiled, Units(text), text.size(), from,
                       PCRE2_NO_UTF_CHECK | options, match.get(), limits.get());
  };
  Joiner joiner(code_->rule, pieces);
  size_t done = 0;
  size_t from = 0;
  while (from < text.size()) {
    int result = find(from, 0);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT) {
      result = find(from, PCRE2_NO_JIT);
    }
    if (result == PCRE2_ERROR_NOMATCH) break;
    if (result < 0) return TooMuch(from, result);
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match.get());
    const size_t begin = ends[0];
    const size_t end = ends[1];
    if (end == begin) {
      // It would be found again and again; behind another match it is none.
      from = AfterCharacter(text, end);
      if (end == done && end > 0) continue;
    } else {
      from = end;
    }
    if (begin > done) joiner.Add(text.substr(done, begin - done), false);
    joiner.Add(text.substr(begin, end - begin), true);
    done = end;
  }
  if (done < text.size()) joiner.Add(text.substr(done), false);
  joiner.Finish();
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
