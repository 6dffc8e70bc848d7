#include "base/files/file_util.h"
#include "base/process/process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using CompletionTest = testing::CliTest;

TEST_F(CompletionTest, ScriptKnowsEveryCommandAndOption) {
  EXPECT_EQ(Run({"completion", "bash"}), 0);
  EXPECT_THAT(out(), HasSubstr("submit) options=\"--set --request-id"));
  EXPECT_THAT(out(), HasSubstr("complete -o filenames -F _ordo ordo"));
  EXPECT_EQ(Run({"completion", "zsh"}), 0);
  EXPECT_THAT(out(), ::testing::StartsWith("#compdef ordo\n"));
  EXPECT_THAT(out(), HasSubstr("bashcompinit"));
}

TEST_F(CompletionTest, BashCompletesCommandsOptionsAndWords) {
  EXPECT_EQ(Run({"completion", "bash"}), 0);
  const std::string script = WriteFile(
      "test.sh", out() +
                     "try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
                     "_ordo; echo \"${COMPREPLY[*]}\"; }\n"
                     "try ordo su\ntry ordo submit --dr\ntry ordo list wo\n"
                     "try ordo list -o j\n");
  base::SpawnOptions spawn;
  spawn.argv = {"/bin/bash", script};
  spawn.stdout_file = folder_.Path("out");
  const auto process = base::Spawn(spawn);
  ASSERT_TRUE(process.ok());
  EXPECT_TRUE(base::WaitForExit(process->pid, absl::Seconds(30))->ok());
  EXPECT_EQ(*base::ReadFile(files_, folder_.Path("out"), 1000),
            "submit\n--dry-run\nworkers\njson\n");
}

TEST_F(CompletionTest, OtherShellsAreBadInput) {
  EXPECT_EQ(Run({"completion", "fish"}), 2);
  EXPECT_THAT(err(), HasSubstr("bash and zsh"));
}

}  // namespace
}  // namespace ordo::services::cli
