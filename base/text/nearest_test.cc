#include "base/text/nearest.h"

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

TEST(EditDistanceTest, CountsEditsAndSwapsOfNeighbours) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("steps", "steps"), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("rpoe", "rope"), 1);
  EXPECT_EQ(EditDistance("ca", "abc"), 3);
}

TEST(NearestTest, FindsWhatWasMeant) {
  EXPECT_EQ(Nearest("step", {"seed", "steps", "schedule"}), "steps");
  EXPECT_EQ(Nearest("learing_rate", {"learning_rate", "batch_size"}),
            "learning_rate");
  EXPECT_EQ(Nearest("rpoe", {"none", "rope", "tape"}), "rope");
}

TEST(NearestTest, FindsWhatWasBegun) {
  EXPECT_EQ(Nearest("kerple", {"alibi", "kerple_log", "kerple_power"}),
            "kerple_log");
  EXPECT_EQ(Nearest("tap", {"tape_with_a_long_name", "rap"}), "rap");
  EXPECT_EQ(Nearest("ke", {"kerple_log"}), "");
}

TEST(NearestTest, FindsWhatHasTheseInitials) {
  EXPECT_EQ(Nearest("lr", {"lora", "learning_rate"}), "learning_rate");
  EXPECT_EQ(Nearest("wd", {"width", "weight_decay"}), "weight_decay");
  EXPECT_EQ(Nearest("l", {"learning"}), "");
  EXPECT_EQ(Nearest("lra", {"lora", "learning_rate"}), "lora");
}

TEST(NearestTest, GivesNothingWhenNothingIsNear) {
  EXPECT_EQ(Nearest("optimizer", {"seed", "steps"}), "");
  EXPECT_EQ(Nearest("xy", {"ab"}), "");
  EXPECT_EQ(Nearest("steps", {}), "");
  EXPECT_EQ(Nearest(std::string(100'000, 'a'), {"steps"}), "");
}

TEST(SuggestNameTest, OffersTheNearestOrAll) {
  EXPECT_EQ(SuggestName("step", {"seed", "steps"}), "; did you mean 'steps'?");
  EXPECT_EQ(SuggestName("optimizer", {"seed", "steps"}),
            "; valid: seed, steps");
  EXPECT_EQ(SuggestName("a", {}), "");
}

}  // namespace
}  // namespace ordo::base
