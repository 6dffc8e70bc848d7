#include "services/jobs/filter.h"

#include <string>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::jobs {
namespace {

using base::testing::StatusIs;
using ordo::jobs::v1::Job;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(FilterTest, EmptyFilterMatchesEverything) {
  for (const char* text : {"", "  \t"}) {
    const auto filter = ParseFilter(text);
    ORDO_ASSERT_OK(filter);
    EXPECT_FALSE(filter->state || filter->queue || filter->owner);
    EXPECT_TRUE(filter->labels.empty());
  }
}

TEST(FilterTest, ReadsEveryKey) {
  const auto filter = ParseFilter(
      "state = RUNNING AND queue=default AND owner = ada AND "
      "labels.team/x=a AND labels.note = \"x = \\\"y\\\" AND \\\\\"");
  ORDO_ASSERT_OK(filter);
  EXPECT_EQ(filter->state, Job::RUNNING);
  EXPECT_EQ(filter->queue, "default");
  EXPECT_EQ(filter->owner, "ada");
  EXPECT_THAT(filter->labels, ElementsAre(Pair("note", "x = \"y\" AND \\"),
                                          Pair("team/x", "a")));
}

TEST(FilterTest, StatesMayBeWrittenSmall) {
  const auto filter = ParseFilter("state=queued");
  ORDO_ASSERT_OK(filter);
  EXPECT_EQ(filter->state, Job::QUEUED);
}

TEST(FilterTest, QuotedValueMayBeEmpty) {
  const auto filter = ParseFilter("labels.a = \"\"");
  ORDO_ASSERT_OK(filter);
  EXPECT_THAT(filter->labels, ElementsAre(Pair("a", "")));
}

struct BadFilter {
  const char* text;
  const char* message;
};

class BadFilterTest : public ::testing::TestWithParam<BadFilter> {};

TEST_P(BadFilterTest, IsRefusedWithThePlaceAndTheFix) {
  const auto filter = ParseFilter(GetParam().text);
  EXPECT_THAT(filter, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr(GetParam().message)));
  EXPECT_EQ(base::FieldViolations(filter.status()).at(0).field, "filter");
}

INSTANTIATE_TEST_SUITE_P(
    All, BadFilterTest,
    ::testing::Values(
        BadFilter{"state", "character 6: '=' is expected after 'state'"},
        BadFilter{"state =", "character 8: a value is expected for 'state'"},
        BadFilter{"= RUNNING", "character 1: a key is expected"},
        BadFilter{"state = RUNNIN", "did you mean 'RUNNING'?"},
        BadFilter{"state = STATE_UNSPECIFIED", "no state is called"},
        BadFilter{"user = ada", "cannot be filtered by 'user'"},
        BadFilter{"stat = RUNNING", "did you mean 'state'?"},
        BadFilter{"labels. = x", "cannot be filtered by 'labels.'"},
        BadFilter{"owner = ada state = RUNNING",
                  "character 13: AND is expected before 'state'"},
        BadFilter{"owner = ada OR owner = bob", "AND is expected before 'OR'"},
        BadFilter{"owner = ada AND", "character 16: a key is expected"},
        BadFilter{"owner = ada AND owner = bob", "'owner' is there twice"},
        BadFilter{"owner != ada", "character 7: '!' is not understood"},
        BadFilter{"(owner = ada)", "character 1: '(' is not understood"},
        BadFilter{"owner = \"ada", "character 9: the closing"},
        BadFilter{"\"owner\" = ada", "character 1: a key is expected"},
        BadFilter{"owner == ada", "character 8: a value is expected"}));

TEST(FilterTest, LongFilterIsRefused) {
  EXPECT_THAT(
      ParseFilter("owner = " + std::string(kMaxFilterBytes, 'a')),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 4096")));
}

TEST(FilterTest, ParentIsAJobWithOrWithoutItsCollection) {
  for (const char* text : {"parent = c", "parent = jobs/c"}) {
    const auto filter = ParseFilter(text);
    ORDO_ASSERT_OK(filter);
    EXPECT_EQ(filter->parent, "c");
  }
}

}  // namespace
}  // namespace ordo::services::jobs
