#include "report/source.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::report {
namespace {

using ::testing::HasSubstr;

TEST(SourceTextTest, NamesJobCheckpointAndCommand) {
  EXPECT_EQ(SourceText({"a",
                        {{"jobs/a/checkpoints/100-1", "0123456789abcdef"}},
                        "ordo report a"}),
            "job a; checkpoint: jobs/a/checkpoints/100-1 0123456789ab; again: "
            "ordo report a");
}

TEST(SourceTextTest, ADigestThatIsNotKnownIsSaidToBe) {
  EXPECT_EQ(SourceText({"c", {{"c-0", "c0ffee"}, {"c-1", ""}}, "x"}),
            "job c; checkpoints of c-: 0 c0ffee, 1 unknown; again: x");
  EXPECT_EQ(SourceText({"c", {}, "x"}), "job c; again: x");
}

TEST(SourceTextTest, OfManyModelsTheFirstAreNamed) {
  FigureSource source{"c", {}, "x"};
  source.models.assign(kMaxSourceModels + 2, {"m", "d"});
  EXPECT_THAT(SourceText(source), HasSubstr("m d and 2 more; again: x"));
  source.models.pop_back();
  source.models.pop_back();
  EXPECT_THAT(SourceText(source), HasSubstr(", m d; again: x"));
}

TEST(SourceTextTest, WhatAllNamesBeginWithIsWrittenOnce) {
  EXPECT_EQ(SourceText({"c", {{"a/b-1", "d"}, {"a/b-12", "e"}}, "x"}),
            "job c; checkpoints of a/b-: 1 d, 12 e; again: x");
  EXPECT_EQ(SourceText({"c", {{"rope", "d"}, {"row", "e"}}, "x"}),
            "job c; checkpoints: rope d, row e; again: x");
  EXPECT_EQ(SourceText({"c", {{"jobs/b-1/x", "d"}, {"jobs/b-1/y", "e"}}, "x"}),
            "job c; checkpoints: jobs/b-1/x d, jobs/b-1/y e; again: x");
}

}  // namespace
}  // namespace ordo::report
