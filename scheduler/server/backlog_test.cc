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
                     core::PublishProgress{"a", "w", "cpu:0", nullptr}},
                    {core::PublishWorker{"w", nullptr},
                     core::PublishProgress{"a", "w", "cpu:0", nullptr}}}),
            "publish w progress a");
}

TEST(BacklogTest, CountsAreAddedUpAndSamplesKept) {
  EXPECT_EQ(Merged({{core::Count{What::kDeviceSeconds, "train", 2}},
                    {core::Count{What::kDeviceSeconds, "start", 5},
                     core::Count{What::kFirstStep, "first", 7}},
                    {core::Count{What::kDeviceSeconds, "train", 3},
                     core::Count{What::kFirstStep, "first", 7}}}),
            "start*5 first*7 train*5 first*7");
}

TEST(BacklogTest, AnswersAndRemovalsAreKept) {
  EXPECT_EQ(Merged({{core::Answer{1, std::vector<core::JobPtr>()}},
                    {core::Answer{1, std::vector<core::JobPtr>()},
                     core::RemoveCheckpoint{"a", "1-1"},
                     core::RemoveCheckpoint{"a", "1-1"}}}),
            "other other other other");
}

}  // namespace
}  // namespace ordo::scheduler::server
