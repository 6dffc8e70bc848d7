#include "services/auth/audit_log.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::auth {
namespace {

using ::testing::HasSubstr;

AuditEntry Entry(const std::string& resource) {
  AuditEntry entry;
  entry.user = "ada";
  entry.known_by = "token ci";
  entry.address = "10.0.0.1";
  entry.method = "ordo.jobs.v1.JobsService/CancelJob";
  entry.resource = resource;
  return entry;
}

class AuditLogTest : public ::testing::Test {
 protected:
  std::string Read(const std::string& name) {
    return base::ReadFile(files_, folder_.Path(name), 1 << 20).value_or("");
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  std::unique_ptr<AuditLog> log_ =
      AuditLog::Open(files_, folder_.Path("logs/audit.jsonl"), clock_).value();
};

TEST(AuditLineTest, SaysWhoDidWhatAndHowItEnded) {
  AuditEntry entry = Entry("jobs/a");
  entry.request_id = "r-1";
  entry.trace = "00-ab-cd-01";
  EXPECT_EQ(AuditLine(entry, absl::FromUnixMicros(1'700'000'000'000'001)),
            "{\"time\": \"2023-11-14T22:13:20.000001Z\", \"user\": \"ada\", "
            "\"known_by\": \"token ci\", \"address\": \"10.0.0.1\", "
            "\"method\": \"ordo.jobs.v1.JobsService/CancelJob\", "
            "\"resource\": \"jobs/a\", \"request_id\": \"r-1\", "
            "\"trace\": \"00-ab-cd-01\", \"result\": \"OK\"}\n");
}

TEST(AuditLineTest, TextsCannotBreakALine) {
  AuditEntry entry = Entry("a\"b\\c\nd\x01");
  entry.result = absl::NotFoundError("no \"a\"");
  entry.num_left_out = 3;
  const std::string line = AuditLine(entry, absl::UnixEpoch());
  EXPECT_THAT(line, HasSubstr(R"("resource": "a\"b\\c\nd\u0001")"));
  EXPECT_THAT(line, HasSubstr(R"("result": "NOT_FOUND", )"
                              R"("message": "no \"a\"", "left_out": 3})"));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  // Nor what is not UTF-8, such as a name that a message shows in part.
  entry.result = absl::NotFoundError("got 'a\xc3'");
  EXPECT_THAT(AuditLine(entry, absl::UnixEpoch()), HasSubstr(R"(a\ufffd)"));
}

TEST(AuditLineTest, LongErrorsAreCut) {
  AuditEntry entry = Entry("jobs/a");
  entry.result = absl::InvalidArgumentError(std::string(1 << 20, 'x'));
  EXPECT_LT(AuditLine(entry, absl::UnixEpoch()).size(), 2000u);
}

TEST_F(AuditLogTest, LinesGoToTheEndOfWhatIsThere) {
  log_->Write(Entry("jobs/a"));
  log_ =
      AuditLog::Open(files_, folder_.Path("logs/audit.jsonl"), clock_).value();
  log_->Write(Entry("jobs/b"));
  EXPECT_EQ(Read("logs/audit.jsonl"),
            AuditLine(Entry("jobs/a"), clock_.Now()) +
                AuditLine(Entry("jobs/b"), clock_.Now()));
}

TEST_F(AuditLogTest, ALineThatWasWrittenInPartSpoilsNoOther) {
  base::testing::FaultyFilesystem disk(files_);
  const auto log =
      AuditLog::Open(disk, folder_.Path("logs/audit.jsonl"), clock_).value();
  log->Write(Entry("jobs/a"));
  const std::string first = AuditLine(Entry("jobs/a"), clock_.Now());
  constexpr size_t kPart = 10;
  disk.LimitDisk(kPart);
  log->Write(Entry("jobs/b"));
  EXPECT_EQ(Read("logs/audit.jsonl"), first + first.substr(0, kPart));
  disk.Heal();
  log->Write(Entry("jobs/c"));
  log->Write(Entry("jobs/d"));
  EXPECT_EQ(Read("logs/audit.jsonl"),
            absl::StrCat(first, first.substr(0, kPart), "\n",
                         AuditLine(Entry("jobs/c"), clock_.Now()),
                         AuditLine(Entry("jobs/d"), clock_.Now())));
}

TEST_F(AuditLogTest, AFileThatWasMovedOrCutIsOpenedAnew) {
  const std::string path = folder_.Path("logs/audit.jsonl");
  log_->Write(Entry("jobs/a"));
  ORDO_ASSERT_OK(files_.Rename(path, path + ".1"));
  // Nobody looks so soon.
  log_->Write(Entry("jobs/b"));
  clock_.Advance(absl::Seconds(1));
  log_->Write(Entry("jobs/c"));
  EXPECT_THAT(Read("logs/audit.jsonl.1"), HasSubstr("jobs/b"));
  EXPECT_EQ(Read("logs/audit.jsonl"), AuditLine(Entry("jobs/c"), clock_.Now()));

  ORDO_ASSERT_OK(files_.Truncate(path, 0));
  clock_.Advance(absl::Seconds(1));
  log_->Write(Entry("jobs/d"));
  EXPECT_EQ(Read("logs/audit.jsonl"), AuditLine(Entry("jobs/d"), clock_.Now()));
}

}  // namespace
}  // namespace ordo::services::auth
