#ifndef ORDO_SERVICES_CLI_TESTING_LOOPBACK_CLI_TEST_H_
#define ORDO_SERVICES_CLI_TESTING_LOOPBACK_CLI_TEST_H_

#include <string>

#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "services/cli/testing/cli_test_base.h"
#include "services/testing/loopback.h"

namespace ordo::services::cli::testing {

// Runs commands against the services themselves, over a scheduler that runs
// nothing.
class LoopbackCliTest : public CliTest {
 protected:
  LoopbackCliTest() { client_.address = loopback_.server().address(); }

  void PutJob(const std::string& id, jobs::v1::Job::State state) {
    jobs::v1::Job job;
    job.set_name("jobs/" + id);
    job.set_state(state);
    loopback_.scheduler().PutJob(job);
  }
  jobs::v1::Job GetJob(const std::string& id) {
    return loopback_.scheduler().GetJob(id).value();
  }
  // A checkpoint of a job, with a model and the optimizer's state.
  void PutCheckpoint(const std::string& name) {
    checkpoints::v1::Checkpoint checkpoint;
    checkpoint.set_name(name);
    checkpoint.set_state(checkpoints::v1::Checkpoint::AVAILABLE);
    for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
      *checkpoint.add_files() =
          loopback_.Write(name + "/" + file, "bytes of " + name);
    }
    checkpoint.set_manifest_sha256(
        loopback_.Write(name + "/MANIFEST.json", "{\"of\": \"" + name + "\"}")
            .sha256());
    loopback_.scheduler().PutCheckpoint(checkpoint);
  }
  checkpoints::v1::Checkpoint GetCheckpoint(const std::string& job,
                                            const std::string& id) {
    return loopback_.scheduler().GetCheckpoint(job, id).value();
  }
  void PutWorker(const std::string& id) {
    workers::v1::Worker worker;
    worker.set_name("workers/" + id);
    worker.set_state(workers::v1::Worker::ONLINE);
    loopback_.scheduler().PutWorker(worker);
  }

  services::testing::Loopback loopback_;
};

}  // namespace ordo::services::cli::testing

#endif  // ORDO_SERVICES_CLI_TESTING_LOOPBACK_CLI_TEST_H_
