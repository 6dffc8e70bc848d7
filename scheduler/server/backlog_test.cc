#include "scheduler/server/backlog.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::server {
namespace {

using What = core::Count::What;

core::Effect Job(const std::string& name, int64_t version) {
  auto facts = std::make_shared<core::JobFacts>();
  facts->id = name;
  auto record = std::make_shared<core::JobRecord>();
  record->facts = facts;
  record->version = version;
  return core::Record{core::JobPtr(record)};
}

core::Effect Row(const std::string& key, const std::string& bytes) {
  return core::Record{std::make_shared<const core::Row>(
      core::Row{core::Row::Kind::kQueue, key, bytes})};
}

core::Effect Desired(const std::string& worker, int64_t sequence) {
  auto request = std::make_shared<agent::v1::SetDesiredRequest>();
  request->set_worker(worker);
  request->set_sequence(sequence);
  return core::SetDesired{"address", request};
}

std::string Describe(const core::Effect& effect) {
  if (const auto* record = std::get_if<core::Record>(&effect)) {
    if (const auto* job = std::get_if<core::JobPtr>(&record->value)) {
      return absl::StrCat((*job)->id(), (*job)->version);
    }
    const auto& row = std::get<core::RowPtr>(record->value);
    return absl::StrCat(row->key, "=", *row->bytes);
  }
  if (const auto* desired = std::get_if<core::SetDesired>(&effect)) {
    return absl::StrCat(desired->request->worker(), "#",
                        desired->request->sequence());
  }
  if (const auto* worker = std::get_if<core::PublishWorker>(&effect)) {
    return absl::StrCat("publish ", worker->worker);
  }
  if (const auto* progress = std::get_if<core::PublishProgress>(&effect)) {
    return absl::StrCat("progress ", progress->job);
  }
  if (const auto* count = std::get_if<core::Count>(&effect)) {
    return absl::StrCat(count->label, "*", count->amount);
  }
  return "other";
}

std::string Merged(std::vector<core::Effects> turns) {
  return absl::StrJoin(Merge(std::move(turns)), " ",
                       [](std::string* text, const core::Effect& effect) {
                         absl::StrAppend(text, Describe(effect));
                       });
}

TEST(BacklogTest, OfRecordsOfOneKeyTheLastIsLeft) {
  EXPECT_EQ(Merged({{Job("a", 1), Job("b", 1), Row("a", "x")},
                    {Job("a", 2)},
                    {Row("a", "y")}}),
            "b1 a2 a=y");
}

TEST(BacklogTest, OfDesiredSetsOfAWorkerTheLastIsLeft) {
  EXPECT_EQ(Merged({{Desired("w", 1)}, {Desired("v", 2)}, {Desired("w", 3)}}),
            "v#2 w#3");
}

TEST(BacklogTest, OfLooksAndProgressTheLastIsLeft) {
  EXPECT_EQ(Merged({{core::PublishWorker{"w", nullptr},
                     core::PublishProgress{"a", nullptr}},
                    {core::PublishWorker{"w", nullptr},
                     core::PublishProgress{"a", nullptr}}}),
            "publish w progress a");
}

TEST(BacklogTest, CountsAreAddedUpAndSamplesKept) {
  EXPECT_EQ(Merged({{core::Count{What::kDeviceSeconds, "train", 2}},
                    {core::Count{What::kDeviceSeconds, "start", 5},
                     core::Count{What::kFirstStep, "first", 7}},
                    {core::Count{What::kDeviceSeconds, "train", 3},
                     core::Count{What::kFirstStep, "first", 7}}}),
            "start*5 first*7 train*5 first*7");
  for (const What sample : {What::kQueueWait, What::kToVerdict}) {
    EXPECT_EQ(Merged({{core::Count{sample, "night", 2}},
                      {core::Count{sample, "night", 3}}}),
              "night*2 night*3");
  }
}

TEST(BacklogTest, AnswersAndRemovalsAreKept) {
  EXPECT_EQ(Merged({{core::Answer{1, std::vector<core::JobPtr>()}},
                    {core::Answer{1, std::vector<core::JobPtr>()},
                     core::RemoveCheckpoint{"a", "1-1"},
                     core::RemoveCheckpoint{"a", "1-1"}}}),
            "other other other other");
}

TEST(BacklogTest, AnAnswerComesAfterWhatItTells) {
  EXPECT_EQ(
      Merged(
          {{Job("a", 1), core::Answer{1, std::vector<core::JobPtr>()}},
           {core::AnswerQueue{2, nullptr}, core::AnswerWorker{3, nullptr},
            core::AnswerAlias{4, nullptr}, core::AnswerCheckpoint{5, nullptr},
            core::AnswerRow{6}, Job("a", 2)}}),
      "a2 other other other other other other");
}

TEST(BacklogTest, OfAnsweredAnnouncementsNothingIsLeft) {
  EXPECT_EQ(
      Merged({{core::AnswerAnnounce{}, Job("a", 1)}, {core::AnswerAnnounce{}}}),
      "a1");
}

TEST(BacklogTest, ItIsMergedWhenThereAreTooManyTurns) {
  Backlog backlog;
  for (size_t i = 0; i < Backlog::kMaxTurns; ++i) backlog.Add({Job("a", 1)});
  EXPECT_EQ(backlog.turns().size(), Backlog::kMaxTurns);
  backlog.Add({Job("a", 2)});
  ASSERT_EQ(backlog.turns().size(), 1u);
  EXPECT_EQ(Merged(backlog.Take()), "a2");
  EXPECT_TRUE(backlog.empty());
}

TEST(BacklogTest, WhatIsLeftOfAMergeIsMergedAgainAfterAsManyTurns) {
  constexpr size_t kNumJobs = 3 * Backlog::kMaxTurns;
  Backlog backlog;
  core::Effects turn;
  for (size_t i = 0; i < kNumJobs; ++i) {
    turn.push_back(Job(absl::StrCat("a", i), 1));
  }
  backlog.Add(std::move(turn));
  for (size_t i = 0; i < Backlog::kMaxTurns; ++i) backlog.Add({Job("b", 1)});
  ASSERT_EQ(backlog.turns().size(), 1u);
  for (size_t i = 0; i < kNumJobs; ++i) backlog.Add({Job("b", 2)});
  EXPECT_EQ(backlog.turns().size(), kNumJobs + 1);
  backlog.Add({Job("b", 3)});
  EXPECT_EQ(backlog.turns().size(), 1u);
}

TEST(BacklogTest, ALaterBacklogComesBehind) {
  Backlog first;
  Backlog later;
  later.Add({Job("b", 1)});
  first.Append(std::move(later));
  later = Backlog();
  later.Add({Job("a", 2)});
  later.Add({Job("b", 3)});
  first.Append(std::move(later));
  EXPECT_EQ(first.turns().size(), 3u);
  EXPECT_EQ(Merged(first.Take()), "a2 b3");
}

}  // namespace
}  // namespace ordo::scheduler::server
