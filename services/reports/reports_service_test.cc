#include "services/reports/reports_service.h"

#include "base/digest/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/testing/loopback.h"

namespace ordo::services::reports {
namespace {

using ordo::reports::v1::GetReportRequest;
using ordo::reports::v1::ListReportsRequest;
using ordo::reports::v1::ListReportsResponse;
using ordo::reports::v1::ReadFileRequest;
using ordo::reports::v1::ReadFileResponse;
using ordo::reports::v1::Report;
using testing::Context;
using ::testing::ElementsAre;
using testing::FieldOf;

constexpr char kName[] = "jobs/a/reports/addition_grid-20";
constexpr char kFolder[] = "results/addition_grid-20-1";

class ReportsServiceTest : public ::testing::Test {
 protected:
  ReportsServiceTest()
      : stub_(ordo::reports::v1::ReportsService::NewStub(loopback_.channel())) {
    ordo::jobs::v1::Job job;
    job.set_name("jobs/a");
    loopback_.scheduler().PutJob(job);
    Put("jobs/a/reports/addition_grid-10", "results/addition_grid-10-1");
    Put(kName, kFolder);
  }

  void Put(const std::string& name, const std::string& folder) {
    Report report;
    report.set_name(name);
    report.set_kind(Report::EVALUATION);
    report.set_folder(folder);
    *report.add_files() = loopback_.Write("jobs/a/" + folder + "/result.json",
                                          "{\"of\": \"" + name + "\"}");
    (*report.mutable_metrics())["grid_mean"] = 0.5;
    loopback_.scheduler().PutReport(report);
  }

  grpc::Status Get(const std::string& name, Report* report) {
    Context context;
    GetReportRequest request;
    request.set_name(name);
    return stub_->GetReport(&context, request, report);
  }

  grpc::Status List(const std::string& parent, int page_size,
                    const std::string& token, ListReportsResponse* response) {
    Context context;
    ListReportsRequest request;
    request.set_parent(parent);
    request.set_page_size(page_size);
    request.set_page_token(token);
    return stub_->ListReports(&context, request, response);
  }

  grpc::Status Read(const std::string& name, const std::string& path,
                    int64_t offset, std::vector<ReadFileResponse>* parts) {
    Context context;
    ReadFileRequest request;
    request.set_name(name);
    request.set_path(path);
    request.set_offset(offset);
    const auto reader = stub_->ReadFile(&context, request);
    ReadFileResponse part;
    while (reader->Read(&part)) parts->push_back(part);
    return reader->Finish();
  }

  testing::Loopback loopback_;
  std::unique_ptr<ordo::reports::v1::ReportsService::Stub> stub_;
};

TEST_F(ReportsServiceTest, GetGivesTheReport) {
  Report report;
  ASSERT_TRUE(Get(kName, &report).ok());
  EXPECT_EQ(report.folder(), kFolder);
  EXPECT_EQ(report.metrics().at("grid_mean"), 0.5);
}

TEST_F(ReportsServiceTest, UnknownOrBadNamesAreRefused) {
  Report report;
  EXPECT_EQ(Get("jobs/a/reports/x-1", &report).error_code(),
            grpc::StatusCode::NOT_FOUND);
  const grpc::Status status = Get("jobs/a/checkpoints/1-1", &report);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(status), "name");
}

TEST_F(ReportsServiceTest, ListsNewestFirstInPages) {
  ListReportsResponse first;
  ASSERT_TRUE(List("jobs/a", 1, "", &first).ok());
  ASSERT_EQ(first.reports_size(), 1);
  EXPECT_EQ(first.reports(0).name(), kName);
  ListReportsResponse second;
  ASSERT_TRUE(List("jobs/a", 1, first.next_page_token(), &second).ok());
  ASSERT_EQ(second.reports_size(), 1);
  EXPECT_EQ(second.reports(0).name(), "jobs/a/reports/addition_grid-10");
  EXPECT_EQ(second.next_page_token(), "");
}

TEST_F(ReportsServiceTest, ListOfABadOrUnknownParentIsRefused) {
  ListReportsResponse response;
  EXPECT_EQ(FieldOf(List("", 0, "", &response)), "parent");
  EXPECT_EQ(FieldOf(List("jobs/-", -1, "", &response)), "page_size");
  EXPECT_EQ(List("jobs/zzz", 0, "", &response).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(ReportsServiceTest, ADamagedSpecKeepsNobodyFromTheReports) {
  loopback_.scheduler().DamageSpec("a");
  ListReportsResponse response;
  ASSERT_TRUE(List("jobs/a", 0, "", &response).ok());
  EXPECT_EQ(response.reports_size(), 2);
}

TEST_F(ReportsServiceTest, ReadsAFileOfTheReportsFolder) {
  std::vector<ReadFileResponse> parts;
  ASSERT_TRUE(Read(kName, "result.json", 0, &parts).ok());
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].data(), std::string("{\"of\": \"") + kName + "\"}");
  EXPECT_EQ(parts[0].sha256(), base::Sha256Hex(parts[0].data()));
}

TEST_F(ReportsServiceTest, OnlyRegisteredFilesAreServed) {
  loopback_.Write(std::string("jobs/a/") + kFolder + "/other", "secret");
  std::vector<ReadFileResponse> parts;
  for (const char* path :
       {"other", "../addition_grid-10-1/result.json", "/etc/passwd"}) {
    EXPECT_EQ(Read(kName, path, 0, &parts).error_code(),
              grpc::StatusCode::NOT_FOUND)
        << path;
  }
  EXPECT_EQ(FieldOf(Read(kName, "", 0, &parts)), "path");
  EXPECT_EQ(FieldOf(Read(kName, "result.json", -1, &parts)), "offset");
  EXPECT_EQ(FieldOf(Read("x", "result.json", 0, &parts)), "name");
  EXPECT_TRUE(parts.empty());
}

TEST_F(ReportsServiceTest, FolderThatLeadsOutIsNotServed) {
  loopback_.Write("secret/result.json", "{}");
  Report report;
  report.set_name("jobs/a/reports/evil-1");
  report.set_folder("../../secret");
  training::v1::FileInfo* file = report.add_files();
  file->set_path("result.json");
  file->set_size_bytes(2);
  loopback_.scheduler().PutReport(report);
  std::vector<ReadFileResponse> parts;
  EXPECT_EQ(
      Read("jobs/a/reports/evil-1", "result.json", 0, &parts).error_code(),
      grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(parts.empty());
}

}  // namespace
}  // namespace ordo::services::reports
