// Of the corpora that are messages in text form: a target passes over a text
// that is none.
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/fuzz/cases.pb.h"

namespace ordo::tests::fuzz {
namespace {

template <typename Case>
void ExpectMessages(const std::string& target) {
  base::PosixFilesystem files;
  const std::string folder = "tests/fuzz/corpus/" + target;
  ORDO_ASSERT_OK_AND_ASSIGN(const auto names, files.List(folder));
  EXPECT_THAT(names, ::testing::Not(::testing::IsEmpty()));
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    ORDO_ASSERT_OK_AND_ASSIGN(
        const std::string text,
        base::ReadFile(files, base::JoinPath(folder, name), 1 << 20));
    Case input;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &input));
  }
}

TEST(CasesTest, TheCorpusOfRecordsIsMessages) {
  ExpectMessages<StoreCase>("store_row");
}

TEST(CasesTest, TheCorpusOfRowsIsMessages) {
  ExpectMessages<TableCase>("table_row");
}

TEST(CasesTest, TheCorpusOfDesiredSetsIsMessages) {
  ExpectMessages<AgentCase>("desired_set");
}

TEST(CasesTest, TheCorpusOfWorkersIsMessages) {
  ExpectMessages<WorkerCase>("worker_message");
}

}  // namespace
}  // namespace ordo::tests::fuzz
