#include "model/text/source/json_field.h"

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::source {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

auto Refused(const std::string& message) {
  return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message));
}

TEST(JsonStringField, FindsTheFieldOfTheOutermostObject) {
  EXPECT_THAT(JsonStringField(R"({"a": {"text": "in"}, "b": [{"text": 1}],)"
                              R"( "text": "x\n\u00e9\ud83d\ude00", "c": null})",
                              "text"),
              IsOkAndHolds("x\n\xC3\xA9\xF0\x9F\x98\x80"));
}

TEST(JsonStringField, SaysWhichFieldIsMissing) {
  EXPECT_THAT(JsonStringField(R"({"txt": "a"})", "text"),
              Refused("no field 'text'; did you mean 'txt'?"));
  EXPECT_THAT(JsonStringField("{}", "text"), Refused("no field 'text'"));
  EXPECT_THAT(JsonStringField(R"({"a": {"text": "a"}})", "text"),
              Refused("no field 'text'"));
}

TEST(JsonStringField, RefusesValuesThatAreNoStrings) {
  EXPECT_THAT(JsonStringField(R"({"text": null})", "text"),
              Refused("is null, not a string"));
  EXPECT_THAT(JsonStringField(R"({"text": 1})", "text"),
              Refused("is a number, not a string"));
  EXPECT_THAT(JsonStringField(R"({"text": ["a"]})", "text"),
              Refused("is a list, not a string"));
  EXPECT_THAT(JsonStringField(R"({"text": {"a": "b"}})", "text"),
              Refused("is an object, not a string"));
}

TEST(JsonStringField, RefusesAFieldThatIsThereTwice) {
  EXPECT_THAT(JsonStringField(R"({"text": "a", "text": "b"})", "text"),
              Refused("'text' is there twice"));
}

TEST(JsonStringField, RefusesWhatIsNoObject) {
  EXPECT_THAT(JsonStringField(R"("text")", "text"), Refused("is a string"));
  EXPECT_THAT(JsonStringField("[]", "text"), Refused("is a list"));
  EXPECT_THAT(JsonStringField("", "text"), Refused("not JSON at byte"));
  EXPECT_THAT(JsonStringField(R"({"text": "a"} {})", "text"),
              Refused("not JSON at byte 15"));
  EXPECT_THAT(JsonStringField(R"({"text": "a)", "text"),
              Refused("not JSON at byte"));
  EXPECT_THAT(JsonStringField(R"({"text": "\ud800"})", "text"),
              Refused("not JSON at byte"));
}

TEST(JsonStringField, IsNotBroughtDownByDepth) {
  const std::string deep(1000000, '[');
  EXPECT_THAT(JsonStringField(R"({"text": "a", "b": )" + deep, "text"),
              Refused("not JSON"));
}

}  // namespace
}  // namespace ordo::model::text::source
