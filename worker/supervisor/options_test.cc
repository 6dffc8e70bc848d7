#include "worker/supervisor/options.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/supervisor/confinement.h"

namespace ordo::worker::supervisor {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OptionsTest, ReadsAWholeCommandLine) {
  Options options;
  std::string error;
  ASSERT_TRUE(ParseOptions(
      {"ordo-supervisor", "--task-dir", "/t", "--attempt-dir", "/a",
       "--step-timeout-ms", "600", "--grace-ms", "30", "--deployment", "/d",
       "--rank", "2", "--", "/bin/trainer", "train", "--out"},
      &options, &error))
      << error;
  EXPECT_EQ(options.task_dir, "/t");
  EXPECT_EQ(options.attempt_dir, "/a");
  EXPECT_EQ(options.step_timeout_ms, 600);
  EXPECT_EQ(options.grace_ms, 30);
  EXPECT_EQ(options.deployment, "/d");
  EXPECT_EQ(options.rank, 2);
  EXPECT_THAT(options.trainer, ElementsAre("/bin/trainer", "train", "--out"));
}

TEST(OptionsTest, ReadsWhatTheTrainerMayDo) {
  Options options;
  std::string error;
  ASSERT_TRUE(ParseOptions({"ordo-supervisor",
                            "--task-dir",
                            "/t",
                            "--attempt-dir",
                            "/a",
                            "--user",
                            "65534:65533",
                            "--cgroup",
                            "/c",
                            "--memory-bytes",
                            "1",
                            "--processes",
                            "2",
                            "--file-bytes",
                            "3",
                            "--address-space-bytes",
                            "4",
                            "--data-bytes",
                            "6",
                            "--open-files",
                            "5",
                            "--writable",
                            "/w",
                            "--writable",
                            "/x",
                            "--readable",
                            "/r",
                            "--",
                            "/bin/trainer"},
                           &options, &error))
      << error;
  const Confinement& confinement = options.confinement;
  EXPECT_EQ(confinement.uid, 65534);
  EXPECT_EQ(confinement.gid, 65533);
  EXPECT_EQ(confinement.cgroup, "/c");
  EXPECT_EQ(confinement.memory_bytes, 1);
  EXPECT_EQ(confinement.processes, 2);
  EXPECT_EQ(confinement.file_bytes, 3);
  EXPECT_EQ(confinement.address_space_bytes, 4);
  EXPECT_EQ(confinement.data_bytes, 6);
  EXPECT_EQ(confinement.open_files, 5);
  EXPECT_THAT(confinement.writable, ElementsAre("/w", "/x"));
  EXPECT_THAT(confinement.readable, ElementsAre("/r"));
}

TEST(OptionsTest, NamesWhatItDoesNotUnderstand) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{
           {"s", "--grace-ms", "-1", "--", "t"},
           {"s", "--grace-ms", "1s", "--", "t"},
           {"s", "--grace-ms", "", "--", "t"},
           {"s", "--grace-ms", "99999999999999999999", "--", "t"},
           {"s", "--rank", "-1", "--", "t"},
           {"s", "--user", "1", "--", "t"},
           {"s", "--user", "0:1", "--", "t"},
           {"s", "--user", "1:0", "--", "t"},
           {"s", "--user", "1:-1", "--", "t"},
           {"s", "--user", "nobody:nogroup", "--", "t"},
           {"s", "--file-bytes", "1G", "--", "t"},
           {"s", "--unknown", "x", "--", "t"},
           {"s", "--unknown"},
           {"s", "--task-dir"}}) {
    Options options;
    std::string error;
    EXPECT_FALSE(ParseOptions(arguments, &options, &error));
    EXPECT_THAT(error, HasSubstr(arguments[1]));
  }
}

TEST(OptionsTest, AnUnknownFlagIsCalledSo) {
  Options options;
  std::string error;
  EXPECT_FALSE(ParseOptions({"s", "--unknown"}, &options, &error));
  EXPECT_EQ(error, "unknown flag --unknown");
}

TEST(OptionsTest, HelpAndVersionAreAnswered) {
  EXPECT_THAT(AnswerTo({"s", "--task-dir", "/t", "--help"}),
              HasSubstr("usage: ordo-supervisor --task-dir DIR"));
  EXPECT_EQ(AnswerTo({"s", "-h"}), AnswerTo({"s", "--help"}));
  EXPECT_THAT(AnswerTo({"s", "--version"}),
              AllOf(HasSubstr("SHA-256"), HasSubstr("sha256sum /")));
  // What stands there is the trainer's.
  EXPECT_EQ(AnswerTo({"s", "--", "t", "--help", "--version"}), "");
  EXPECT_EQ(AnswerTo({"s"}), "");
}

TEST(OptionsTest, ALauncherIsAskedForByItsWholeCommandLine) {
  EXPECT_TRUE(IsLauncher({"s", "--launcher", "--deployment", "/d"}));
  EXPECT_FALSE(IsLauncher({"s", "--launcher"}));
  EXPECT_FALSE(IsLauncher({"s", "--task-dir", "--launcher", "--deployment"}));
  EXPECT_FALSE(IsLauncher({"s", "--launcher", "--deployment", "/d", "--"}));
}

TEST(OptionsTest, NamesWhatIsMissing) {
  Options options;
  std::string error;
  EXPECT_FALSE(ParseOptions({"s", "--", "t"}, &options, &error));
  EXPECT_THAT(error, HasSubstr("--task-dir"));
  options = Options();
  EXPECT_FALSE(ParseOptions({"s", "--task-dir", "/t", "--attempt-dir", "/a"},
                            &options, &error));
  EXPECT_THAT(error, HasSubstr("trainer"));
}

}  // namespace
}  // namespace ordo::worker::supervisor
