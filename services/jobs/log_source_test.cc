#include "services/jobs/log_source.h"

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"
#include "services/testing/loopback.h"

namespace ordo::services::jobs {
namespace {

using ordo::jobs::v1::Job;
using ordo::jobs::v1::ReadLogsRequest;
using ordo::jobs::v1::ReadLogsResponse;
using testing::Context;
using testing::FieldOf;
using ::testing::HasSubstr;

std::string LogPath(int attempt) {
  return "jobs/a/attempts/" + std::to_string(attempt) + "/rank-0.log";
}

class LogSourceTest : public ::testing::Test {
 protected:
  using Reader = std::unique_ptr<grpc::ClientReader<ReadLogsResponse>>;

  LogSourceTest()
      : stub_(ordo::jobs::v1::JobsService::NewStub(loopback_.channel())) {
    Job job;
    job.set_name("jobs/a");
    job.mutable_spec()->mutable_resources()->set_ranks(1);
    job.set_message("waits for a device");
    job.set_state(Job::QUEUED);
    loopback_.scheduler().PutJob(job);
  }

  std::shared_ptr<const scheduler::Scheduler> Seen() {
    return {std::shared_ptr<const scheduler::Scheduler>(),
            &loopback_.scheduler()};
  }

  void StartAttempt(int number) {
    Job job = loopback_.scheduler().GetJob("a").value();
    job.add_attempts()->set_number(number);
    job.set_state(Job::RUNNING);
    loopback_.scheduler().PutJob(job);
  }

  // The newest attempt is over; the job goes on in `state`.
  void EndAttempt(Job::State state) {
    Job job = loopback_.scheduler().GetJob("a").value();
    job.mutable_attempts()->rbegin()->mutable_end_time()->set_seconds(1);
    job.set_state(state);
    loopback_.scheduler().PutJob(job);
  }

  Reader Read(Context* context, const ReadLogsRequest& request) {
    return stub_->ReadLogs(context, request);
  }

  // All that a request without `follow` gives.
  grpc::Status ReadAll(const ReadLogsRequest& request, std::string* text) {
    Context context;
    const Reader reader = Read(&context, request);
    ReadLogsResponse response;
    while (reader->Read(&response)) *text += response.data();
    return reader->Finish();
  }

  static ReadLogsRequest Request() {
    ReadLogsRequest request;
    request.set_name("jobs/a");
    return request;
  }

  testing::Loopback loopback_;
  std::unique_ptr<ordo::jobs::v1::JobsService::Stub> stub_;
};

// Reads until `text` ends with `end`.
void ReadUntil(grpc::ClientReader<ReadLogsResponse>* reader,
               const std::string& end, std::string* text) {
  ReadLogsResponse response;
  while (text->size() < end.size() ||
         text->compare(text->size() - end.size(), end.size(), end) != 0) {
    ASSERT_TRUE(reader->Read(&response)) << *text;
    *text += response.data();
  }
}

TEST_F(LogSourceTest, GivesTheLogOfTheNewestAttempt) {
  StartAttempt(1);
  StartAttempt(2);
  loopback_.Append(LogPath(1), "first");
  loopback_.Append(LogPath(2), "second");
  std::string text;
  ASSERT_TRUE(ReadAll(Request(), &text).ok());
  EXPECT_EQ(text, "second");
}

TEST_F(LogSourceTest, ALinkThatATrainerPutInItsPlaceIsNotFollowedOutside) {
  StartAttempt(1);
  base::testing::TemporaryFolder elsewhere;
  base::PosixFilesystem files;
  ORDO_ASSERT_OK(base::AtomicWrite(files, elsewhere.Path("key"), "secret"));
  loopback_.Append(LogPath(1), "");
  ORDO_ASSERT_OK(
      files.ReplaceLink(elsewhere.Path("key"), loopback_.Path(LogPath(1))));
  std::string text;
  const grpc::Status status = ReadAll(Request(), &text);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_THAT(status.error_message(), HasSubstr("storage root"));
  EXPECT_EQ(text, "");
}

TEST_F(LogSourceTest, GivesAnEarlierAttemptFromAnOffset) {
  StartAttempt(1);
  StartAttempt(2);
  loopback_.Append(LogPath(1), "0123456789");
  ReadLogsRequest request = Request();
  request.set_attempt(1);
  request.set_offset(4);
  Context context;
  const Reader reader = Read(&context, request);
  ReadLogsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.data(), "456789");
  EXPECT_EQ(response.attempt(), 1);
  EXPECT_EQ(response.offset(), 4);
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(LogSourceTest, MetricsStandInThePlaceOfALog) {
  Job job = loopback_.scheduler().GetJob("a").value();
  job.mutable_spec()->mutable_resources()->set_ranks(2);
  loopback_.scheduler().PutJob(job);
  StartAttempt(1);
  loopback_.Append(LogPath(1), "a log");
  loopback_.Append("jobs/a/attempts/1/metrics.jsonl", "{\"step\":1}\n");
  ReadLogsRequest request = Request();
  request.set_metrics(true);
  std::string text;
  EXPECT_TRUE(ReadAll(request, &text).ok());
  EXPECT_EQ(text, "{\"step\":1}\n");
  request.set_offset(100);
  EXPECT_THAT(ReadAll(request, &text).error_message(),
              HasSubstr("beyond the 11 bytes of the metrics of attempt 1"));
  request = Request();
  request.set_metrics(true);
  request.set_rank(1);
  EXPECT_EQ(FieldOf(ReadAll(request, &text)), "rank");
}

TEST_F(LogSourceTest, OffsetAtTheEndGivesNothing) {
  StartAttempt(1);
  loopback_.Append(LogPath(1), "0123");
  ReadLogsRequest request = Request();
  request.set_offset(4);
  std::string text;
  EXPECT_TRUE(ReadAll(request, &text).ok());
  EXPECT_EQ(text, "");
}

TEST_F(LogSourceTest, AttemptWithoutALogYetGivesNothing) {
  StartAttempt(1);
  std::string text;
  EXPECT_TRUE(ReadAll(Request(), &text).ok());
  EXPECT_EQ(text, "");
}

TEST_F(LogSourceTest, BadRequestsAreRefusedByField) {
  StartAttempt(1);
  loopback_.Append(LogPath(1), "0123");
  std::string text;
  ReadLogsRequest request = Request();
  request.set_offset(-1);
  EXPECT_EQ(FieldOf(ReadAll(request, &text)), "offset");
  request = Request();
  request.set_attempt(-1);
  EXPECT_EQ(FieldOf(ReadAll(request, &text)), "attempt");
  for (const int rank : {-1, 1}) {
    request = Request();
    request.set_rank(rank);
    EXPECT_EQ(FieldOf(ReadAll(request, &text)), "rank");
  }
  request.set_name("a");
  EXPECT_EQ(FieldOf(ReadAll(request, &text)), "name");
}

TEST_F(LogSourceTest, WhatIsNotThereIsNamed) {
  StartAttempt(1);
  loopback_.Append(LogPath(1), "0123");
  std::string text;
  ReadLogsRequest request = Request();
  request.set_name("jobs/b");
  EXPECT_EQ(ReadAll(request, &text).error_code(), grpc::StatusCode::NOT_FOUND);
  request = Request();
  request.set_attempt(2);
  EXPECT_EQ(ReadAll(request, &text).error_code(), grpc::StatusCode::NOT_FOUND);
  request = Request();
  request.set_offset(5);
  const grpc::Status status = ReadAll(request, &text);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::OUT_OF_RANGE);
  EXPECT_THAT(status.error_message(), HasSubstr("beyond the 4 bytes"));
}

TEST_F(LogSourceTest, JobThatHasNotStartedHasNoLogAndSaysWhy) {
  std::string text;
  const grpc::Status status = ReadAll(Request(), &text);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("waits for a device"));
}

TEST_F(LogSourceTest, FollowWaitsForTheStartAndGoesOnUntilTheEnd) {
  Context context;
  ReadLogsRequest request = Request();
  request.set_follow(true);
  const Reader reader = Read(&context, request);
  std::string text;

  StartAttempt(1);
  loopback_.Append(LogPath(1), "one\n");
  ReadUntil(reader.get(), "one\n", &text);
  loopback_.Append(LogPath(1), "two\n");
  ReadUntil(reader.get(), "two\n", &text);
  // The attempt fails and the next one starts after a pause.
  loopback_.Append(LogPath(1), "three\n");
  EndAttempt(Job::QUEUED);
  ReadUntil(reader.get(), "three\n", &text);
  loopback_.Append(LogPath(2), "four\n");
  StartAttempt(2);
  ReadUntil(reader.get(), "four\n", &text);
  loopback_.Append(LogPath(2), "five\n");
  EndAttempt(Job::SUCCEEDED);
  ReadLogsResponse response;
  while (reader->Read(&response)) text += response.data();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(text, "one\ntwo\nthree\nfour\nfive\n");
}

TEST_F(LogSourceTest, FollowOfAnEndedJobGivesAllAttemptsFromTheOneNamed) {
  for (int attempt = 1; attempt <= 3; ++attempt) {
    StartAttempt(attempt);
    // The second had no time to write anything.
    if (attempt != 2) {
      loopback_.Append(LogPath(attempt), std::to_string(attempt) + ".");
    }
  }
  EndAttempt(Job::FAILED);
  ReadLogsRequest request = Request();
  request.set_attempt(1);
  request.set_follow(true);
  std::string text;
  ASSERT_TRUE(ReadAll(request, &text).ok());
  EXPECT_EQ(text, "1.3.");
}

TEST_F(LogSourceTest, FollowOfAJobThatNeverStartedEnds) {
  loopback_.scheduler().SetState("a", Job::CANCELLED);
  ReadLogsRequest request = Request();
  request.set_follow(true);
  std::string text;
  const grpc::Status status = ReadAll(request, &text);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("never started"));
}

TEST_F(LogSourceTest, LargeLogComesWholeInSmallParts) {
  constexpr size_t kNumBytes = 20 << 20;
  std::string log;
  for (int64_t i = 0; log.size() < kNumBytes; ++i) {
    log += "line " + std::to_string(i) + "\n";
  }
  StartAttempt(1);
  loopback_.Append(LogPath(1), log);
  Context context;
  const Reader reader = Read(&context, Request());
  std::string text;
  ReadLogsResponse response;
  while (reader->Read(&response)) {
    ASSERT_LE(response.data().size(), kMaxLogPartBytes);
    ASSERT_EQ(response.offset(), static_cast<int64_t>(text.size()));
    text += response.data();
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_TRUE(text == log);
}

TEST_F(LogSourceTest, WithoutFollowALogThatGrowsEndsWhereItWas) {
  StartAttempt(1);
  loopback_.Append(LogPath(1), "before");
  auto source = LogSource::Make(Seen(), {loopback_.files(), loopback_.Path("")},
                                Request());
  ASSERT_TRUE(source.ok());
  ReadLogsResponse response;
  ASSERT_EQ((*source)->Next(&response).value(), files::StreamStep::kSend);
  EXPECT_EQ(response.data(), "before");
  loopback_.Append(LogPath(1), " and after");
  response.Clear();
  EXPECT_EQ((*source)->Next(&response).value(), files::StreamStep::kEnd);
}

TEST_F(LogSourceTest, LastBytesBeforeTheEndAreNotLost) {
  StartAttempt(1);
  ReadLogsRequest request = Request();
  request.set_follow(true);
  auto source =
      LogSource::Make(Seen(), {loopback_.files(), loopback_.Path("")}, request);
  ASSERT_TRUE(source.ok());
  ReadLogsResponse response;
  EXPECT_EQ((*source)->Next(&response).value(), files::StreamStep::kWait);
  // All in between two polls.
  loopback_.Append(LogPath(1), "last words");
  EndAttempt(Job::SUCCEEDED);
  ASSERT_EQ((*source)->Next(&response).value(), files::StreamStep::kSend);
  EXPECT_EQ(response.data(), "last words");
  response.Clear();
  EXPECT_EQ((*source)->Next(&response).value(), files::StreamStep::kEnd);
}

TEST_F(LogSourceTest, FollowersThatGoAwayLeaveRoomForOthers) {
  StartAttempt(1);
  ReadLogsRequest request = Request();
  request.set_follow(true);
  for (int i = 0; i < 50; ++i) {
    Context context;
    const Reader reader = Read(&context, request);
    context.TryCancel();
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  loopback_.Append(LogPath(1), "text");
  std::string text;
  EXPECT_TRUE(ReadAll(Request(), &text).ok());
  EXPECT_EQ(text, "text");
}

}  // namespace
}  // namespace ordo::services::jobs
