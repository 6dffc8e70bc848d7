#include "model/catalog/page.h"

#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::catalog {
namespace {

using ::testing::HasSubstr;

TEST(PageTest, TheCommittedPageIsTheCataloguesOwn) {
  std::ifstream file("docs/encodings.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), EncodingsPage())
      << "run: bazel run //tools/encodings_page";
}

TEST(PageTest, SaysAllThatTheCatalogueKnows) {
  const std::string page = EncodingsPage();
  for (const Entry* entry : EntriesOf(Kind::kEncoding)) {
    EXPECT_THAT(page, HasSubstr("\n## " + entry->name + "\n"));
    EXPECT_THAT(page, HasSubstr(entry->encoding.formula));
    EXPECT_THAT(page, HasSubstr(entry->source));
    for (const Param& param : entry->params) {
      EXPECT_THAT(page, HasSubstr("| `" + param.name + "` |"));
    }
  }
}

TEST(PageTest, DefaultsAreWrittenAsInASpec) {
  const Entry* rope = Find(Kind::kEncoding, "rope");
  ASSERT_NE(rope, nullptr);
  EXPECT_EQ(DefaultText(*FindParam(*rope, "base")), "10000");
  EXPECT_EQ(DefaultText(*FindParam(*rope, "layout")), "\"half_split\"");
}

TEST(PageTest, EveryDecodingHasAName) {
  EXPECT_EQ(DecodingName(Decoding::kCached), "every row of a full pass");
  EXPECT_THAT(std::string(DecodingName(Decoding::kLastRow)),
              HasSubstr("past it the last row in a model of one layer"));
  EXPECT_EQ(DecodingName(Decoding::kNone), "refused");
}

}  // namespace
}  // namespace ordo::model::catalog
