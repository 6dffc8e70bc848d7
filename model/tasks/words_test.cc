#include "model/tasks/words.h"

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(WordTokenizer, CountsFromZeroOrAfterTheMarks) {
  const WordTokenizer words(Ids::kWords, {"w", "r", "i"});
  EXPECT_EQ(words.vocabulary_size(), 3);
  EXPECT_FALSE(words.has_marks());
  EXPECT_THAT(words.Encode(" i  w\nr"), IsOkAndHolds(ElementsAre(2, 0, 1)));
  const WordTokenizer marked(Ids::kMarksAndWords, {"w", "r", "i"});
  EXPECT_EQ(marked.vocabulary_size(), 7);
  EXPECT_TRUE(marked.has_marks());
  EXPECT_THAT(marked.Encode("i w r"), IsOkAndHolds(ElementsAre(6, 4, 5)));
  EXPECT_EQ(marked.IdOf("r"), 5);
}

TEST(WordTokenizer, DecodesWhatItEncodedAndMarksWhatItDoesNotKnow) {
  const WordTokenizer marked(Ids::kMarksAndWords, {"pass;", "="});
  EXPECT_EQ(marked.Decode({kBegin, 4, 5, 9, kEnd, kPad}), "pass; = ?");
  const WordTokenizer words(Ids::kWords, {"a", "b", "c", "d"});
  EXPECT_EQ(words.Decode({3, 0, 2}), "d a c");
}

TEST(WordTokenizer, NamesAWordWithoutATokenAndThoseThatHaveOne) {
  EXPECT_THAT(WordTokenizer(Ids::kWords, {"w", "r"}).Encode("w x"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'x'"), HasSubstr("w r"))));
}

}  // namespace
}  // namespace ordo::model::tasks
