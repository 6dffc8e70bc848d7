#include "services/cli/commands/delete_data.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;

class DeleteDataTest : public testing::LoopbackCliTest {
 protected:
  // Pushes a file with this text as `book`; gives the version's name in specs.
  std::string Push(const std::string& text) {
    const std::string path = WriteFile("book.txt", text);
    EXPECT_EQ(Run({"push", "data", path}), 0) << err();
    return out().substr(0, out().find('\n'));
  }
};

TEST_F(DeleteDataTest, OneVersionOrAllOfAName) {
  const std::string first = Push("one");
  const std::string second = Push("two");
  const std::string third = Push("three");
  EXPECT_EQ(Run({"delete", "data/" + first}), 0) << err();
  EXPECT_EQ(out(), first + " deleted\n");
  EXPECT_EQ(Run({"delete", "data/book"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr(second + " deleted\n"));
  EXPECT_THAT(out(), HasSubstr(third + " deleted\n"));
  EXPECT_FALSE(loopback_.files().ReadLink(loopback_.Path("data/book")).ok());
  EXPECT_EQ(Run({"delete", "data/book"}), 2);
  EXPECT_THAT(err(), HasSubstr("there is no data book"));
}

TEST_F(DeleteDataTest, WhatAJobNeedsStays) {
  const std::string version = Push("one");
  jobs::v1::Job job;
  job.set_name("jobs/reader");
  job.set_state(jobs::v1::Job::QUEUED);
  job.mutable_spec()->mutable_data()->set_task("text");
  (*job.mutable_spec()->mutable_data()->mutable_params())["data"]
      .mutable_list_value()
      ->add_values()
      ->set_string_value(version + "/book.txt");
  loopback_.scheduler().PutJob(job);
  EXPECT_NE(Run({"delete", "data/book"}), 0);
  EXPECT_THAT(
      err(), HasSubstr("jobs/reader has not ended, and names data/" + version));
  job.set_state(jobs::v1::Job::SUCCEEDED);
  loopback_.scheduler().PutJob(job);
  EXPECT_EQ(Run({"delete", "data/book"}), 0) << err();
}

}  // namespace
}  // namespace ordo::services::cli
