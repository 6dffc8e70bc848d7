#include "model/text/questions/template.h"

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::questions {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

absl::StatusOr<std::string> Fill(const std::string& text,
                                 const nlohmann::json& item) {
  const auto parsed = Template::Parse(text);
  if (!parsed.ok()) return parsed.status();
  return parsed->Fill(item);
}

TEST(TemplateTest, FieldsStandInTheText) {
  EXPECT_THAT(Fill("Q: {q}\nA{n}:{b}", {{"q", "x{n}"}, {"n", 3}, {"b", true}}),
              IsOkAndHolds("Q: x{n}\nA3:true"));
  EXPECT_THAT(Fill("", {{"q", 1}}), IsOkAndHolds(""));
}

TEST(TemplateTest, TwoBracesAreOne) {
  EXPECT_THAT(Fill("{{{q}}}{{}}", {{"q", "x"}}), IsOkAndHolds("{x}{}"));
}

TEST(TemplateTest, BracesThatStandAloneAreRefused) {
  for (const char* text : {"a{b", "a}b", "{a{b}", "{a} }"}) {
    EXPECT_THAT(Template::Parse(text),
                StatusIs(kInvalid, HasSubstr("write {{ or }}")))
        << text;
  }
  EXPECT_THAT(Template::Parse("ab{}"),
              StatusIs(kInvalid, HasSubstr("byte 2 names no field")));
}

TEST(TemplateTest, MissingFieldsAreNamedWithTheNearest) {
  EXPECT_THAT(Fill("{question}", {{"questoin", "x"}}),
              StatusIs(kInvalid, AllOf(HasSubstr("question: it has no field"),
                                       HasSubstr("did you mean 'questoin'"))));
}

TEST(TemplateTest, ListsAreNoText) {
  EXPECT_THAT(Fill("{q}", {{"q", {"a", "b"}}}),
              StatusIs(kInvalid, HasSubstr("q: must be a string, a number")));
}

TEST(TemplateTest, AnOnlyFieldGivesItsValue) {
  const nlohmann::json item = {{"q", {"a", "b"}}};
  EXPECT_EQ(Template::Parse("{q}")->OnlyValue(item), &item["q"]);
  EXPECT_EQ(Template::Parse("{q} ")->OnlyValue(item), nullptr);
  EXPECT_EQ(Template::Parse("{p}")->OnlyValue(item), nullptr);
}

}  // namespace
}  // namespace ordo::model::text::questions
