#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/entries.h"

namespace ordo::model::catalog {
namespace {

TEST(EntriesRotaryTest, NamesAreThoseOfTheEntriesThatTurn) {
  std::vector<std::string> names;
  for (const Entry& entry : RotaryEntries()) {
    if (entry.name != "rope_bias") names.push_back(entry.name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, RotaryNames());
}

TEST(EntriesRotaryTest, WhatTurnsIsThatFamilyAndRandomRope) {
  std::vector<std::string> turning;
  for (const Entry* entry : EntriesOf(Kind::kEncoding)) {
    EXPECT_EQ(IsRotary(entry->name), entry->encoding.rotates) << entry->name;
    if (IsRotary(entry->name)) turning.push_back(entry->name);
  }
  std::vector<std::string> expected = RotaryNames();
  expected.push_back("random_rope");
  EXPECT_THAT(turning, ::testing::UnorderedElementsAreArray(expected));
  EXPECT_FALSE(IsRotary("no_encoding"));
}

TEST(EntriesRotaryTest, RopeBiasDoesNotStandWithItself) {
  const Entry& entry = *Find(Kind::kEncoding, "rope_bias");
  EXPECT_EQ(std::count(entry.with.begin(), entry.with.end(), "rope_bias"), 0);
  EXPECT_EQ(std::count(entry.with.begin(), entry.with.end(), "cope"), 1);
}

TEST(EntriesRotaryTest, LiereTurnsAllChannels) {
  std::vector<std::string> names;
  for (const Param& param : Find(Kind::kEncoding, "liere")->params) {
    names.push_back(param.name);
  }
  EXPECT_THAT(names,
              ::testing::ElementsAre("base", "axes", "columns", "block"));
}

TEST(EntriesRotaryTest, ShareOfTurningChannelsIsRoundedDown) {
  ParamMap params;
  params["partial"].set_number_value(0.3);
  EXPECT_EQ(TurningChannels(params, 8), 2);
  params["partial"].set_number_value(1.0);
  EXPECT_EQ(TurningChannels(params, 8), 8);
}

TEST(EntriesRotaryTest, WhatMayStandBesideExists) {
  for (const std::string& name : BiasNames()) {
    EXPECT_NE(Find(Kind::kEncoding, name), nullptr) << name;
    for (const Entry& entry : RotaryEntries()) {
      EXPECT_EQ(std::count(entry.with.begin(), entry.with.end(), name), 1)
          << entry.name << " with " << name;
    }
  }
}

TEST(EntriesRotaryTest, AllTakeBiasesOfQAndK) {
  for (const std::string& name : RotaryNames()) {
    const Entry& entry = *Find(Kind::kEncoding, name);
    EXPECT_EQ(std::count(entry.with.begin(), entry.with.end(), "rope_bias"), 1)
        << name;
    EXPECT_TRUE(entry.encoding.sums_with) << name;
  }
  EXPECT_EQ(std::count(Find(Kind::kEncoding, "rope_bias")->with.begin(),
                       Find(Kind::kEncoding, "rope_bias")->with.end(), "yarn"),
            1);
}

}  // namespace
}  // namespace ordo::model::catalog
