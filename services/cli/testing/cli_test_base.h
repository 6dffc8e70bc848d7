#ifndef ORDO_SERVICES_CLI_TESTING_CLI_TEST_BASE_H_
#define ORDO_SERVICES_CLI_TESTING_CLI_TEST_BASE_H_

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock/testing/fake_clock.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "gtest/gtest.h"
#include "services/cli/app.h"
#include "services/cli/interrupt.h"
#include "services/cli/testing/fake_scheduler.h"

namespace ordo::services::cli::testing {

// Runs commands of `ordo` in this process, against a fake scheduler.
class CliTest : public ::testing::Test {
 protected:
  CliTest();

  // The exit code of `ordo <args>`; what it printed is in out() and err().
  int Run(const std::vector<std::string>& args);

  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }
  // Writes a file into the test's folder and gives its path.
  std::string WriteFile(const std::string& name, const std::string& content);

  FakeScheduler scheduler_;
  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  Interrupt interrupt_;
  Terminal terminal_;
  std::map<std::string, std::string> environment_;
  std::string input_;
  ClientOptions client_;

 private:
  std::ostringstream out_;
  std::ostringstream err_;
};

}  // namespace ordo::services::cli::testing

#endif  // ORDO_SERVICES_CLI_TESTING_CLI_TEST_BASE_H_
