#include "tests/fuzz/mutator.h"

#include <set>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/fuzz/cases.pb.h"

namespace ordo::tests::fuzz {
namespace {

const std::vector<std::string>& Words() {
  static const auto& words = *new std::vector<std::string>{"a", "w", "cpu:0"};
  return words;
}

TEST(MutatorTest, ReachesTheDepthOfAMessage) {
  WorkerCase message;
  base::RandomSequence dice(1, "test");
  bool deep = false;
  for (int i = 0; i < 1'000'000 && !deep; ++i) {
    Mutate(Words(), &dice, &message);
    for (const WorkerEvent& event : message.events()) {
      for (const auto& attempt : event.announced().observed().attempts()) {
        for (const auto& record : attempt.records()) {
          deep = deep || record.has_checkpoint();
        }
      }
    }
  }
  EXPECT_TRUE(deep);
}

TEST(MutatorTest, GivesTheSameForTheSameSeed) {
  std::set<std::string> results;
  for (unsigned int seed : {1u, 1u, 2u}) {
    std::vector<uint8_t> data(1 << 12);
    const std::string text = "events { cancel: \"a\" }";
    std::copy(text.begin(), text.end(), data.begin());
    const size_t size =
        MutateText(Words(), seed, WorkerCase::default_instance(),
                   {data.data(), text.size(), data.size()});
    results.emplace(data.begin(), data.begin() + size);
  }
  EXPECT_THAT(results, ::testing::SizeIs(2));
}

TEST(MutatorTest, LeavesATextThatWouldBeTooLong) {
  std::string text = "events { cancel: \"a\" } events { cancel: \"a\" }";
  auto* const data = reinterpret_cast<uint8_t*>(text.data());
  for (unsigned int seed = 0; seed < 100; ++seed) {
    EXPECT_LE(MutateText(Words(), seed, WorkerCase::default_instance(),
                         {data, text.size(), text.size()}),
              text.size());
  }
}

TEST(MutatorTest, TakesAnyText) {
  std::vector<uint8_t> data(1 << 12, '{');
  WorkerCase message;
  const size_t size =
      MutateText(Words(), 3, message, {data.data(), 100, data.size()});
  const std::string changed(data.begin(), data.begin() + size);
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(changed, &message));
}

}  // namespace
}  // namespace ordo::tests::fuzz
