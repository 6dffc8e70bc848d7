#include "base/records/records.h"

#include <cerrno>
#include <string>
#include <vector>

#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::FaultyFilesystem;
using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::ordo::base::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RecordsTest : public ::testing::Test {
 protected:
  void Append(const std::vector<std::string>& payloads) {
    ORDO_ASSERT_OK_AND_ASSIGN(auto writer, RecordWriter::Open(files_, path_));
    for (const std::string& payload : payloads) {
      ORDO_ASSERT_OK(writer->Append(payload));
    }
    ORDO_ASSERT_OK(writer->Sync());
  }

  std::string Bytes() { return *ReadFile(files_, path_, 1 << 20); }

  void SetBytes(const std::string& bytes) {
    ORDO_ASSERT_OK(AtomicWrite(files_, path_, bytes));
  }

  // Payloads up to the first one that is missing.
  std::vector<std::string> ReadAll(uint64_t offset = 0) {
    RecordReader reader(files_, path_, offset);
    std::vector<std::string> payloads;
    while (true) {
      const auto payload = reader.Next();
      EXPECT_THAT(payload, IsOk());
      if (!payload.ok() || !payload->has_value()) return payloads;
      payloads.push_back(**payload);
    }
  }

  TemporaryFolder folder_;
  PosixFilesystem real_;
  FaultyFilesystem files_{real_};
  const std::string path_ = folder_.Path("progress.records");
};

TEST_F(RecordsTest, ComeBackInOrder) {
  Append({"one", "", std::string("\0\xff", 2)});
  EXPECT_THAT(ReadAll(), ElementsAre("one", "", std::string("\0\xff", 2)));
}

TEST_F(RecordsTest, HaveTheDocumentedBytes) {
  Append({"123456789"});
  // CRC32C of the payload is the check value 0xE3069283.
  EXPECT_EQ(Bytes().substr(0, 8), std::string("\x09\0\0\0\x83\x92\x06\xE3", 8));
  EXPECT_EQ(Bytes().substr(12), "123456789");
}

TEST_F(RecordsTest, AMissingFileIsNotThereYet) {
  RecordReader reader(files_, path_);
  EXPECT_THAT(reader.Next(), IsOkAndHolds(std::optional<std::string>()));
  Append({"one"});
  EXPECT_THAT(reader.Next(), IsOkAndHolds(std::optional<std::string>("one")));
}

TEST_F(RecordsTest, AReaderFollowsAndResumesAtItsOffset) {
  Append({"one"});
  RecordReader reader(files_, path_);
  EXPECT_THAT(reader.Next(), IsOkAndHolds(std::optional<std::string>("one")));
  EXPECT_THAT(reader.Next(), IsOkAndHolds(std::optional<std::string>()));
  Append({"two"});
  EXPECT_THAT(ReadAll(reader.offset()), ElementsAre("two"));
  EXPECT_THAT(reader.Next(), IsOkAndHolds(std::optional<std::string>("two")));
}

TEST_F(RecordsTest, EveryTornTailIsIncompleteAndNotCorrupt) {
  Append({"first", "second"});
  const std::string whole = Bytes();
  const size_t first_end = 12 + 5;
  for (size_t size = first_end; size < whole.size(); ++size) {
    SetBytes(whole.substr(0, size));
    EXPECT_THAT(ReadAll(), ElementsAre("first")) << size;
  }
}

TEST_F(RecordsTest, EveryFlippedBitIsDataLossAndNamesTheFile) {
  Append({"first"});
  const std::string whole = Bytes();
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    SetBytes(damaged);
    RecordReader reader(files_, path_);
    ASSERT_THAT(reader.Next(), StatusIs(absl::StatusCode::kDataLoss,
                                        HasSubstr("progress.records")))
        << bit;
    ASSERT_EQ(reader.offset(), 0u);
  }
}

TEST_F(RecordsTest, AHoleOfZerosIsDataLoss) {
  SetBytes(std::string(100, '\0'));
  EXPECT_THAT(RecordReader(files_, path_).Next(),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(RecordsTest, AWriterCutsATornTailAndGoesOn) {
  Append({"first", "second"});
  SetBytes(Bytes().substr(0, Bytes().size() - 1));
  Append({"third"});
  EXPECT_THAT(ReadAll(), ElementsAre("first", "third"));
}

TEST_F(RecordsTest, AWriterRefusesADamagedFile) {
  SetBytes(std::string(100, 'x'));
  EXPECT_THAT(RecordWriter::Open(files_, path_),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(RecordsTest, TooLongARecordIsRefusedByBothSides) {
  ORDO_ASSERT_OK_AND_ASSIGN(auto writer, RecordWriter::Open(files_, path_));
  EXPECT_THAT(writer->Append(std::string(kMaxRecordBytes + 1, 'x')),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(writer->Append(std::string(kMaxRecordBytes, 'x')), IsOk());
  RecordReader reader(files_, path_);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto payload, reader.Next());
  EXPECT_EQ(payload->size(), kMaxRecordBytes);
}

TEST_F(RecordsTest, AFullDiskLeavesATornTailThatTheNextWriterCuts) {
  Append({"first"});
  files_.LimitDisk(15);
  {
    ORDO_ASSERT_OK_AND_ASSIGN(auto writer, RecordWriter::Open(files_, path_));
    EXPECT_THAT(writer->Append("second"),
                StatusIs(absl::StatusCode::kResourceExhausted));
  }
  EXPECT_THAT(ReadAll(), ElementsAre("first"));
  files_.Heal();
  Append({"third"});
  EXPECT_THAT(ReadAll(), ElementsAre("first", "third"));
}

TEST_F(RecordsTest, AReadErrorIsPassedOn) {
  Append({"first"});
  files_.Fail(testing::FileOperation::kRead, "progress", EIO);
  EXPECT_THAT(RecordReader(files_, path_).Next(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("fault")));
}

}  // namespace
}  // namespace ordo::base
