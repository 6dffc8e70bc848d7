#include "worker/supervisor/journal.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdlib.h>
#include <string>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::supervisor {
namespace {

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() {
    std::string pattern = ::testing::TempDir() + "journalXXXXXX";
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ + "/journal";
  }
  ~JournalTest() override {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }

  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static JournalRecord Exit(int code) {
    JournalRecord record{};
    record.phase = static_cast<uint32_t>(Phase::kExited);
    record.exit_code = code;
    return record;
  }

  std::string folder_;
  std::string path_;
};

TEST_F(JournalTest, ChecksumIsCastagnoli) {
  // The check value of RFC 3720's polynomial over "123456789".
  EXPECT_EQ(JournalChecksum("123456789", 9), 0xe3069283u);
}

TEST_F(JournalTest, GivesBackWhatWasWritten) {
  JournalWriter writer;
  ASSERT_EQ(writer.Create(path_), 0);
  ASSERT_EQ(writer.Append(Exit(7)), 0);
  ASSERT_EQ(writer.Append(Exit(9)), 0);

  const std::string bytes = Bytes();
  const auto records = ParseJournal(bytes.data(), bytes.size());

  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].exit_code, 7);
  EXPECT_EQ(records[1].exit_code, 9);
  EXPECT_GT(records[1].time_ns, 0);
}

TEST_F(JournalTest, RecordsThatAreWrittenTogetherAreReadAsThoseOneByOne) {
  JournalWriter writer;
  ASSERT_EQ(writer.Create(path_, {Exit(1), Exit(2)}), 0);
  ASSERT_EQ(writer.Append(Exit(3)), 0);
  ASSERT_EQ(writer.Append(std::vector<JournalRecord>{Exit(4), Exit(5)}), 0);
  const std::string bytes = Bytes();
  EXPECT_EQ(bytes.size(), kJournalBytes);
  const auto records = ParseJournal(bytes.data(), bytes.size());
  ASSERT_EQ(records.size(), 5u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(records[i].exit_code, i + 1);
}

TEST_F(JournalTest, KeepsATimeThatIsGiven) {
  JournalWriter writer;
  ASSERT_EQ(writer.Create(path_), 0);
  JournalRecord record = Exit(0);
  record.time_ns = 5;
  ASSERT_EQ(writer.Append(record), 0);
  const std::string bytes = Bytes();
  EXPECT_EQ(ParseJournal(bytes.data(), bytes.size())[0].time_ns, 5);
}

TEST_F(JournalTest, HasItsFullSizeFromTheStart) {
  JournalWriter writer;
  ASSERT_EQ(writer.Create(path_), 0);
  EXPECT_EQ(Bytes().size(), kJournalBytes);
}

TEST_F(JournalTest, RefusesAFileThatHoldsSomething) {
  JournalWriter first;
  JournalWriter second;
  std::ofstream(path_).close();
  ASSERT_EQ(first.Create(path_), 0);
  EXPECT_EQ(second.Create(path_), EEXIST);
}

TEST_F(JournalTest, EndsAtADamagedRecord) {
  JournalWriter writer;
  ASSERT_EQ(writer.Create(path_), 0);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(writer.Append(Exit(i)), 0);
  std::string bytes = Bytes();

  bytes[sizeof(JournalRecord) + 20] ^= 1;

  EXPECT_EQ(ParseJournal(bytes.data(), bytes.size()).size(), 1u);
}

TEST_F(JournalTest, EndsAtATornRecord) {
  JournalWriter writer;
  ASSERT_EQ(writer.Create(path_), 0);
  ASSERT_EQ(writer.Append(Exit(1)), 0);
  const std::string bytes = Bytes();
  EXPECT_EQ(ParseJournal(bytes.data(), sizeof(JournalRecord) - 1).size(), 0u);
}

TEST_F(JournalTest, RefusesMoreThanItsSlots) {
  JournalWriter writer;
  ASSERT_EQ(writer.Create(path_), 0);
  for (size_t i = 0; i < kJournalSlots; ++i) {
    ASSERT_EQ(writer.Append(Exit(0)), 0);
  }
  EXPECT_EQ(writer.Append(Exit(0)), ENOSPC);
  EXPECT_EQ(Bytes().size(), kJournalBytes);
  JournalWriter other;
  unlink(path_.c_str());
  ASSERT_EQ(other.Create(path_, {Exit(0)}), 0);
  EXPECT_EQ(other.Append(std::vector<JournalRecord>(kJournalSlots)), ENOSPC);
  EXPECT_EQ(other.Append(Exit(1)), 0);
}

}  // namespace
}  // namespace ordo::worker::supervisor
