#include "model/text/tokenizers/pattern_syntax.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::tokenizers {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

#define BLANKS R"(\t-\r\x{85}\x{2028}\x{2029}\p{Zs})"

TEST(ToPcre2, LeavesWhatMeansTheSame) {
  for (const char* pattern :
       {"", R"((?i:'s|'t)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}|x(?!a)(?<=b))",
        R"(^\A[!-/\[\]\\\-:-@]$\z)", "\xC3\xA9[\xE4\xB8\x80-\xE9\xBE\xA5]",
        R"(\x{1F600}\x41\d\D)", "a(b", "[a", "a\\"}) {
    EXPECT_THAT(ToPcre2(pattern), IsOkAndHolds(pattern));
  }
}

TEST(ToPcre2, SpellsBlanksOutWhereverTheyStand) {
  EXPECT_THAT(ToPcre2(R"(\s+)"), IsOkAndHolds("[" BLANKS "]+"));
  EXPECT_THAT(ToPcre2(R"([^\s\p{L}])"), IsOkAndHolds("[^" BLANKS R"(\p{L}])"));
  // The first ] ends no class, nor does that of a name.
  EXPECT_THAT(ToPcre2(R"([]\s])"), IsOkAndHolds(R"([\])" BLANKS "]"));
  EXPECT_THAT(ToPcre2(R"([[:space:]\s]\s)"),
              IsOkAndHolds("[" BLANKS BLANKS "][" BLANKS "]"));
  EXPECT_THAT(ToPcre2(R"([[:alpha:]\s])"),
              IsOkAndHolds(R"([\p{Alphabetic})" BLANKS "]"));
  EXPECT_THAT(ToPcre2(R"([\]\s])"), IsOkAndHolds(R"([\])" BLANKS "]"));
}

TEST(ToPcre2, SpellsWordsOut) {
  EXPECT_THAT(ToPcre2(R"(\w\W[\w])"),
              IsOkAndHolds(R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}])"
                           R"([^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}])"
                           R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}])"));
}

TEST(ToPcre2, RefusesWhatMeansSomethingElseWithItsPlace) {
  for (const char* part :
       {R"(\K)", R"(\C)", R"(\Q)", R"(\h)", R"(\v)", R"(\b)", R"(\1)", "(*",
        "(?i", "(?m", "(?P", "(?R", "(?C", "{,", "}+"}) {
    EXPECT_THAT(
        ToPcre2(absl::StrCat("ab", part)),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 AllOf(HasSubstr(absl::StrCat("'", part, "' at byte 2")),
                       HasSubstr("not supported"))))
        << part;
  }
}

TEST(ToPcre2, RefusesClassesInClasses) {
  for (const char* pattern : {"a[[b]]", "a[b[:punct:]]", "a[b&&c]", "a[[.b.]]",
                              R"(a[\W])", R"(a[\b])", R"(a[\A])"}) {
    EXPECT_THAT(ToPcre2(pattern).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("not supported")))
        << pattern;
  }
}

}  // namespace
}  // namespace ordo::model::text::tokenizers
