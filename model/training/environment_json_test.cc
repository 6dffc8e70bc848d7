#include "model/training/environment_json.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::training {
namespace {

TEST(EnvironmentJson, GivesBackWhatWasWritten) {
  const Environment environment = {"build", 3,     "AVX2", "2.11",
                                   "tiled", "A=B", "H100", 4};
  EXPECT_THAT(Differences(EnvironmentOf(ToJson(environment)), environment),
              ::testing::IsEmpty());
}

TEST(EnvironmentJson, OlderProgramsHadOneRankAndNoGpu) {
  nlohmann::ordered_json json = ToJson({"build", 3, "AVX2", "2.11"});
  json.erase("ranks");
  json.erase("gpu");
  const Environment environment = EnvironmentOf(json);
  EXPECT_EQ(environment.ranks, 1);
  EXPECT_EQ(environment.gpu, "");
  EXPECT_EQ(environment.threads, 3);
}

TEST(EnvironmentJson, OtherJsonIsRefused) {
  EXPECT_THROW(EnvironmentOf({{"threads", 3}}), nlohmann::json::exception);
  EXPECT_THROW(EnvironmentOf(nullptr), nlohmann::json::exception);
}

}  // namespace
}  // namespace ordo::model::training
