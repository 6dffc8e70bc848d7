#include "worker/agent/testing/programs.h"

#include <unistd.h>

#include "base/check.h"
#include "base/process/process.h"

namespace ordo::worker::agent::testing {

std::string BinFolder() {
  const auto path = base::ExecutablePath();
  ORDO_CHECK(path.ok()) << path.status();
  const size_t end = path->rfind("/worker/agent/");
  ORDO_CHECK(end != std::string::npos) << *path;
  return path->substr(0, end);
}

TaskOptions FakeTaskOptions(const std::string& folder,
                            const std::string& behaviour) {
  TaskOptions options;
  options.state_folder = folder + "/worker";
  options.storage_root = folder + "/storage";
  options.deployment = folder;
  options.supervisor = BinFolder() + "/ordo-supervisor";
  options.trainer = BinFolder() + "/tests/fake/fake_trainer";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    options.environment.emplace_back(*entry);
  }
  options.environment =
      EnvironmentWith(options.environment, {{"ORDO_FAKE", behaviour}});
  return options;
}

::ordo::agent::v1::DesiredAttempt FakeTask(const std::string& job,
                                           int attempt) {
  ::ordo::agent::v1::DesiredAttempt desired;
  desired.set_job(job);
  desired.set_attempt(attempt);
  desired.set_action(::ordo::agent::v1::DesiredAttempt::RUN);
  desired.mutable_grace()->set_seconds(10);
  desired.mutable_step_timeout()->set_seconds(60);
  desired.add_devices("cpu:0");
  auto* train = desired.mutable_train();
  train->mutable_training()->set_steps(20);
  train->mutable_training()->set_seed(1);
  train->mutable_training()->set_log_every_steps(1);
  train->mutable_checkpoint()->set_every_steps(10);
  return desired;
}

}  // namespace ordo::worker::agent::testing
