// Whether the tests of this program reject every mistake in the copies of
// sources that it is linked with. Each mistake is tried in a process of its
// own; one that its tests let pass is printed.
//
//   bazel test //tests/mutations:mutations_test
//   ORDO_MUTANT=7 bazel-bin/tests/mutations/mutations_test
//
// The second form runs the tests of one mistake here, to see what they say.

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "tests/mutations/mutants.h"

namespace ordo::tests::mutations {
namespace {

// Whether `tests` pass under mutant number `number`, in this process.
bool Pass(int number, const std::string& tests) {
  active = number;
  GTEST_FLAG_SET(filter, tests);
  return RUN_ALL_TESTS() == 0;
}

enum class Output { kShown, kDropped };

// The same in a process of its own: a mistake may end it.
bool PassApart(int number, const std::string& tests, Output output) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    std::perror("fork");
    std::exit(1);
  }
  if (child == 0) {
    if (output == Output::kDropped) {
      const int null = open("/dev/null", O_WRONLY);
      dup2(null, STDOUT_FILENO);
      dup2(null, STDERR_FILENO);
    }
    const bool pass = Pass(number, tests);
    std::fflush(nullptr);
    _exit(pass ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string AllTests() {
  std::string all;
  for (const Mutant& mutant : Mutants()) all += std::string(mutant.tests) + ":";
  return all;
}

int Main(int argc, char** argv) {
  // Bazel's files of results are this process's, not its children's, whose
  // tests are meant to fail. That of test cases was read from the environment
  // before main.
  GTEST_FLAG_SET(output, "");
  unsetenv("TEST_PREMATURE_EXIT_FILE");
  ::testing::InitGoogleTest(&argc, argv);
  GTEST_FLAG_SET(fail_fast, true);
  if (const char* number = std::getenv("ORDO_MUTANT")) {
    const Mutant& mutant = Mutants().at(std::atoi(number) - 1);
    std::printf("%s: %s\n", mutant.file, mutant.what);
    return Pass(mutant.number, mutant.tests) ? 0 : 1;
  }
  if (!PassApart(0, AllTests(), Output::kShown)) {
    std::printf("the tests fail without a mistake\n");
    return 1;
  }
  int survivors = 0;
  for (const Mutant& mutant : Mutants()) {
    if (!PassApart(mutant.number, mutant.tests, Output::kDropped)) continue;
    ++survivors;
    std::printf("%s lets pass, in %s: %s (ORDO_MUTANT=%d)\n", mutant.tests,
                mutant.file, mutant.what, mutant.number);
  }
  std::printf("%zu mistakes, %d of them pass\n", Mutants().size(), survivors);
  return survivors == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ordo::tests::mutations

int main(int argc, char** argv) {
  return ordo::tests::mutations::Main(argc, argv);
}
