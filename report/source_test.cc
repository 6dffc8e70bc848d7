#include "report/source.h"

#include "gtest/gtest.h"

namespace ordo::report {
namespace {

TEST(SourceTextTest, NamesJobCheckpointAndCommand) {
  EXPECT_EQ(SourceText({"a",
                        {{"jobs/a/checkpoints/100-1", "0123456789abcdef"}},
                        "ordo report a"}),
            "job a; checkpoint: jobs/a/checkpoints/100-1 0123456789ab; again: "
            "ordo report a");
}

TEST(SourceTextTest, ADigestThatIsNotKnownIsSaidToBe) {
  EXPECT_EQ(SourceText({"c", {{"c-0", "c0ffee"}, {"c-1", ""}}, "x"}),
            "job c; checkpoints: c-0 c0ffee, c-1 unknown; again: x");
  EXPECT_EQ(SourceText({"c", {}, "x"}), "job c; again: x");
}

TEST(SourceTextTest, OfManyModelsTheFirstAreNamed) {
  FigureSource source{"c", {}, "x"};
  source.models.assign(kMaxSourceModels + 2, {"m", "d"});
  EXPECT_EQ(SourceText(source),
            "job c; checkpoints: m d, m d, m d, m d, m d, m d and 2 more; "
            "again: x");
}

}  // namespace
}  // namespace ordo::report
