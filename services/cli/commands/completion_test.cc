#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
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

// Stands for the program that the script asks for names.
constexpr char kOrdo[] = R"(
ordo() {
  case "$2" in
    jobs) printf 'NAME  STATE\nrope-a  QUEUED\ntape-a  RUNNING\n' ;;
    checkpoints) printf 'NAME  STEP  STATE\n'
      printf 'jobs/a/checkpoints/20-1  20  DELETED   1s\n'
      printf 'jobs/a/checkpoints/40-1  40  AVAILABLE  1s\n' ;;
    reports) printf 'NAME  TASK\njobs/a/reports/grid-40  grid\n' ;;
  esac
}
)";
constexpr char kTryInBash[] = R"(
try() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _ordo
  echo "${COMPREPLY[*]}"
}
)";
// What bashcompinit does when a person presses the key; zsh itself then takes
// what begins with the word so far.
constexpr char kTryInZsh[] = R"(
try() {
  local -a words=("$@") COMP_WORDS=("$@") COMPREPLY
  local CURRENT=$# COMP_CWORD=$(($# - 1))
  local -a found=($(compgen ${=_comps[ordo]#_bash_complete} -- "$@[-1]"))
  print -- ${(M)found:#$@[-1]*}
}
)";
constexpr char kTries[] = R"(
try ordo su
try ordo submit --dr
try ordo list wo
try ordo list -o j
try ordo watch ta
try ordo get jobs/a/c
try ordo get jobs/a/r
try ordo -o json sho
try ordo -o y
try ordo --ser
try ordo --server=h:1 -ojson watch ta
try ordo --server h : 1 list wo
try ordo --server = h : 1 submit --dr
)";
constexpr char kCompleted[] =
    "submit\n--dry-run\nworkers\njson\ntape-a\njobs/a/checkpoints/40-1\n"
    "jobs/a/reports/grid-40\nshow\nyaml\n--server\ntape-a\nworkers\n"
    "--dry-run\n";

// Where both shells give the same answers: the tries' output.
class CompletionInShellTest : public testing::CliTest {
 protected:
  std::string RunShell(const std::vector<std::string>& shell,
                       const std::string& script) {
    base::SpawnOptions spawn;
    spawn.argv = shell;
    spawn.argv.push_back(WriteFile("test.sh", script));
    // zsh keeps a cache in its user's folder.
    spawn.environment = {"HOME=" + folder_.path(), "PATH=/usr/bin:/bin"};
    spawn.stdout_file = folder_.Path("out");
    const auto process = base::Spawn(spawn);
    EXPECT_TRUE(process.ok());
    if (!process.ok()) return "";
    EXPECT_TRUE(base::WaitForExit(process->pid, absl::Seconds(30)).ok());
    return base::ReadFile(files_, folder_.Path("out"), 1000).value_or("");
  }
};

TEST_F(CompletionInShellTest, BashCompletesCommandsOptionsAndNames) {
  EXPECT_EQ(Run({"completion", "bash"}), 0);
  EXPECT_EQ(
      RunShell({"/bin/bash"}, absl::StrCat(out(), kOrdo, kTryInBash, kTries)),
      kCompleted);
}

TEST_F(CompletionInShellTest, ZshCompletesTheSame) {
  constexpr char kZsh[] = "/usr/bin/zsh";
  if (!base::Exists(files_, kZsh)) GTEST_SKIP() << "there is no " << kZsh;
  EXPECT_EQ(Run({"completion", "zsh"}), 0);
  EXPECT_EQ(RunShell({kZsh, "--no-rcs"},
                     absl::StrCat(out(), kOrdo, kTryInZsh, kTries)),
            kCompleted);
}

TEST_F(CompletionTest, OtherShellsAreBadInput) {
  EXPECT_EQ(Run({"completion", "fish"}), 2);
  EXPECT_THAT(err(), HasSubstr("bash and zsh"));
}

}  // namespace
}  // namespace ordo::services::cli
