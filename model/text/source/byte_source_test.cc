#include "model/text/source/byte_source.h"

#include <zlib.h>
#include <zstd.h>

#include "absl/status/status.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::source {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Gzip(std::string_view text) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(
      ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

// More than any buffer, and so repetitive that a chunk of it becomes many.
std::string Long() {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += "line " + std::to_string(i % 7);
  return text;
}

class ByteSourceTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> ReadAll(const std::string& name,
                                      const std::string& bytes) {
    const std::string path = folder_.Path(name);
    EXPECT_TRUE(base::ReplaceFile(files_, path, bytes).ok());
    auto source = OpenBytes(files_, path);
    if (!source.ok()) return source.status();
    std::string text;
    while (true) {
      const auto chunk = (*source)->Next();
      if (!chunk.ok()) return chunk.status();
      if (chunk->empty()) return text;
      text.append(*chunk);
    }
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(ByteSourceTest, GivesWhatWasCompressed) {
  EXPECT_THAT(ReadAll("a.txt", Long()), IsOkAndHolds(Long()));
  EXPECT_THAT(ReadAll("a.txt.gz", Gzip(Long())), IsOkAndHolds(Long()));
  EXPECT_THAT(ReadAll("a.txt.zst", Zstd(Long())), IsOkAndHolds(Long()));
}

TEST_F(ByteSourceTest, GivesNothingOfNothing) {
  EXPECT_THAT(ReadAll("a.txt", ""), IsOkAndHolds(""));
  EXPECT_THAT(ReadAll("a.txt.gz", Gzip("")), IsOkAndHolds(""));
  EXPECT_THAT(ReadAll("a.txt.zst", Zstd("")), IsOkAndHolds(""));
}

TEST_F(ByteSourceTest, ReadsMembersAndFramesOneAfterTheOther) {
  EXPECT_THAT(ReadAll("a.gz", Gzip("one ") + Gzip("") + Gzip("two")),
              IsOkAndHolds("one two"));
  EXPECT_THAT(ReadAll("a.zst", Zstd("one ") + Zstd("") + Zstd("two")),
              IsOkAndHolds("one two"));
}

TEST_F(ByteSourceTest, SaysWhereAFileBreaksOff) {
  std::string gzip = Gzip(Long());
  gzip.resize(gzip.size() - 3);
  EXPECT_THAT(
      ReadAll("a.gz", gzip),
      StatusIs(absl::StatusCode::kDataLoss,
               AllOf(HasSubstr("a.gz: the gzip data breaks off"),
                     HasSubstr(std::to_string(gzip.size()) + " bytes"))));
  std::string zstd = Zstd(Long());
  zstd.resize(zstd.size() - 3);
  EXPECT_THAT(ReadAll("a.zst", zstd),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("the zstd data breaks off")));
}

TEST_F(ByteSourceTest, AnEmptyFileIsNoCompressedOne) {
  EXPECT_THAT(ReadAll("a.gz", ""), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(ReadAll("a.zst", ""), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(ByteSourceTest, RefusesWhatIsNotWhatItsNameSays) {
  EXPECT_THAT(ReadAll("a.gz", "plain text"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("its name says gzip")));
  EXPECT_THAT(ReadAll("a.zst", Gzip("text")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("its name says zstd")));
}

TEST_F(ByteSourceTest, SeesThatBitsAreWrong) {
  std::string gzip = Gzip(Long());
  gzip[gzip.size() - 6] ^= 1;  // In the checksum.
  EXPECT_THAT(ReadAll("a.gz", gzip),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("damaged")));
  EXPECT_THAT(ReadAll("b.gz", Gzip("one") + "rest"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("damaged")));
  EXPECT_THAT(ReadAll("b.zst", Zstd("one") + "rest"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("damaged")));
}

TEST_F(ByteSourceTest, SaysThatNoFileIsThere) {
  EXPECT_THAT(OpenBytes(files_, folder_.Path("none")).status(),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(WithoutCompression, LeavesTheRestOfTheName) {
  EXPECT_EQ(WithoutCompression("a/b.bin.gz"), "a/b.bin");
  EXPECT_EQ(WithoutCompression("a/b.bin.zst"), "a/b.bin");
  EXPECT_EQ(WithoutCompression("a/b.bin"), "a/b.bin");
}

}  // namespace
}  // namespace ordo::model::text::source
