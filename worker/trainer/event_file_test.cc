#include "worker/trainer/event_file.h"

#include <string>

#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::trainer {
namespace {

TEST(FrameTfRecord, FollowsTheFormatOfAKnownFile) {
  // The first record that TensorFlow's own writer gives for this data.
  EXPECT_EQ(base::ToHex(FrameTfRecord("")),
            "0000000000000000"
            "29039807"
            "d8ea82a2");
}

TEST(EventFile, HoldsAVersionAndThenScalars) {
  base::PosixFilesystem files;
  base::testing::TemporaryFolder folder;
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto events,
                            EventFile::Create(files, folder.path(), now, "a"));
  ORDO_ASSERT_OK(events->Append(now, 7, {{"loss", 0.5}}));
  const std::string bytes =
      base::ReadFile(files, folder.Path("events.out.tfevents.1700000000.a"),
                     1 << 20)
          .value();
  const std::string time = std::string("\x09") + std::string(3, '\0') +
                           std::string("\x40\xfc\x54\xd9\x41", 5);
  const std::string version = time + "\x1a\x0d" + "brain.Event:2";
  const std::string value = std::string("\x0a\x04") + "loss" + "\x15" +
                            std::string("\x00\x00\x00\x3f", 4);
  const std::string scalars =
      time + "\x10\x07" + "\x2a\x0d" + "\x0a\x0b" + value;
  EXPECT_EQ(base::ToHex(bytes),
            base::ToHex(FrameTfRecord(version) + FrameTfRecord(scalars)));
}

TEST(EventFile, ReportsAFullDisk) {
  base::PosixFilesystem real;
  base::testing::FaultyFilesystem files(real);
  base::testing::TemporaryFolder folder;
  files.LimitDisk(0);
  EXPECT_THAT(EventFile::Create(files, folder.path(), absl::UnixEpoch(), "a"),
              base::testing::StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace ordo::worker::trainer
