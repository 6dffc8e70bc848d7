#include "model/evaluation/answer_log.h"

#include <limits>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::evaluation {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AnswerLogTest : public ::testing::Test {
 protected:
  std::unique_ptr<AnswerLog> Open(int attempt, const std::string& key = "k") {
    AnswerLogOptions options;
    options.path = Path(attempt);
    options.key = key;
    for (int i = 1; i < attempt; ++i) options.earlier.push_back(Path(i));
    auto log = AnswerLog::Open(files_, options);
    ORDO_EXPECT_OK(log);
    return *std::move(log);
  }
  std::string Path(int attempt) const {
    return folder_.Path("grid-" + std::to_string(attempt) + ".answers");
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(AnswerLogTest, ALaterAttemptKnowsWhatWasAnswered) {
  {
    const auto log = Open(1);
    log->Add(0, {{{1, 0}, {31, 7}, 0}, {{0}, {}, 0}});
    log->Add(2, {{{}, {}, 1.0 / 3}});
    EXPECT_EQ(log->Find(1), nullptr);
  }
  // Through two restarts.
  Open(2);
  const auto log = Open(3);
  ASSERT_NE(log->Find(0), nullptr);
  ASSERT_THAT(*log->Find(0), SizeIs(2));
  EXPECT_THAT(log->Find(0)->at(0).marks, ElementsAre(1, 0));
  EXPECT_THAT(log->Find(0)->at(0).produced, ElementsAre(31, 7));
  EXPECT_THAT(log->Find(0)->at(1).produced, IsEmpty());
  EXPECT_EQ(log->Find(1), nullptr);
  EXPECT_EQ(log->Find(2)->at(0).nats, 1.0 / 3);
}

TEST_F(AnswerLogTest, AnswersToAnotherQuestionAreNotTaken) {
  Open(1)->Add(0, {{{1}, {}, 0}});
  EXPECT_EQ(Open(2, "other")->Find(0), nullptr);
  EXPECT_NE(Open(3)->Find(0), nullptr);
}

TEST_F(AnswerLogTest, OfATornFileWhatStandsBeforeIsTaken) {
  {
    const auto log = Open(1);
    log->Add(0, {{{1}, {}, 0}});
    log->Add(1, {{{1}, {}, 0}});
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const auto info, files_.Stat(Path(1)));
  ORDO_ASSERT_OK(files_.Truncate(Path(1), info.size_bytes - 3));
  const auto log = Open(2);
  EXPECT_NE(log->Find(0), nullptr);
  EXPECT_EQ(log->Find(1), nullptr);
  ORDO_ASSERT_OK(base::AtomicWrite(files_, Path(3), "damaged"));
  EXPECT_NE(Open(3)->Find(0), nullptr);
}

TEST_F(AnswerLogTest, WhatIsNotFiniteIsComputedAgain) {
  Open(1)->Add(0, {{{}, {}, std::numeric_limits<double>::infinity()}});
  EXPECT_EQ(Open(2)->Find(0), nullptr);
}

TEST_F(AnswerLogTest, NothingIsLeftOfAFinishedOne) {
  Open(1)->Add(0, {{{1}, {}, 0}});
  const auto log = Open(2);
  log->Remove();
  EXPECT_THAT(*files_.List(folder_.path()), IsEmpty());
}

}  // namespace
}  // namespace ordo::model::evaluation
