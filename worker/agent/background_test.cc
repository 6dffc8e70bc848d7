#include "worker/agent/background.h"

#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::testing::ElementsAre;

TEST(BackgroundTest, RunsAllInOrderBeforeItEnds) {
  std::vector<int> done;
  {
    Background background;
    for (int i = 0; i < 3; ++i) {
      background.Run([&done, i] { done.push_back(i); });
    }
  }
  EXPECT_THAT(done, ElementsAre(0, 1, 2));
}

TEST(BackgroundTest, RunsOnAnotherThread) {
  std::thread::id thread;
  {
    Background background;
    background.Run([&thread] { thread = std::this_thread::get_id(); });
  }
  EXPECT_NE(thread, std::thread::id());
  EXPECT_NE(thread, std::this_thread::get_id());
}

}  // namespace
}  // namespace ordo::worker::agent
