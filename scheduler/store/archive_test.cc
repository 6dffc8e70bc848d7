#include "scheduler/store/archive.h"

#include <cerrno>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "scheduler/store/stored.pb.h"
#include "scheduler/store/testing/records.h"

namespace ordo::scheduler::store {
namespace {

using base::testing::StatusIs;
using ::testing::HasSubstr;

core::PastJob Past(int64_t sequence, const std::string& name) {
  core::PastJob past;
  past.job =
      std::get<core::JobPtr>(testing::EndedJobRecord(sequence, name).value);
  past.checkpoints.push_back(std::get<core::CheckpointPtr>(
      testing::CheckpointRecord("jobs/" + name + "/checkpoints/5-1").value));
  past.reports.push_back(std::get<core::ReportPtr>(
      testing::ReportRecord("jobs/" + name + "/reports/r", 5).value));
  return past;
}

class ArchiveTest : public ::testing::Test {
 protected:
  std::string Text() {
    const auto text = base::ReadFile(files_, path_, 1 << 20);
    EXPECT_TRUE(text.ok()) << text.status();
    return *text;
  }
  // One a line.
  std::vector<ArchivedJob> Jobs() {
    std::vector<ArchivedJob> jobs;
    for (const auto& line :
         std::vector<std::string>(absl::StrSplit(Text(), '\n'))) {
      if (line.empty()) continue;
      EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(
                      line, &jobs.emplace_back())
                      .ok())
          << line;
    }
    return jobs;
  }

  const base::testing::TemporaryFolder folder_;
  base::PosixFilesystem posix_;
  base::testing::FaultyFilesystem files_{posix_};
  const std::string path_ = folder_.Path("new/archive.jsonl");
};

TEST_F(ArchiveTest, EachJobIsALineWithAllThatBelongsToIt) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto archive, Archive::Open(files_, path_));
  ORDO_ASSERT_OK(archive->Append({Past(1, "a"), Past(2, "b")}));
  ORDO_ASSERT_OK(archive->Append({Past(3, "c")}));
  const auto jobs = Jobs();
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].job().name(), "jobs/a");
  EXPECT_EQ(jobs[0].request_id(), "request-a");
  EXPECT_EQ(jobs[0].checkpoints(0).name(), "jobs/a/checkpoints/5-1");
  EXPECT_EQ(jobs[0].reports(0).step(), 5);
  EXPECT_EQ(jobs[2].job().spec().name(), "c");
}

TEST_F(ArchiveTest, ItGoesOnWhereItEnded) {
  for (const char* name : {"a", "b"}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto archive, Archive::Open(files_, path_));
    ORDO_ASSERT_OK(archive->Append({Past(1, name)}));
  }
  EXPECT_EQ(Jobs().size(), 2u);
}

TEST_F(ArchiveTest, ATornLineIsCutOff) {
  {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto archive, Archive::Open(files_, path_));
    ORDO_ASSERT_OK(archive->Append({Past(1, "a")}));
  }
  const std::string whole = Text();
  for (const std::string& torn :
       {std::string("{\"job\""), std::string(200000, 'x')}) {
    ORDO_ASSERT_OK(base::AtomicWrite(files_, path_, whole + torn));
    ORDO_ASSERT_OK(Archive::Open(files_, path_));
    EXPECT_EQ(Text(), whole);
  }
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path_, "torn"));
  ORDO_ASSERT_OK(Archive::Open(files_, path_));
  EXPECT_EQ(Text(), "");
}

TEST_F(ArchiveTest, WhatIsNotDurableIsAnError) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto archive, Archive::Open(files_, path_));
  files_.Fail(base::testing::FileOperation::kSync, "archive", ENOSPC);
  EXPECT_THAT(archive->Append({Past(1, "a")}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr(path_)));
}

}  // namespace
}  // namespace ordo::scheduler::store
