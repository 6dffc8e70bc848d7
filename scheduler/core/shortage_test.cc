#include "scheduler/core/shortage.h"

#include <string>
#include <vector>

#include "base/version/worker_protocol.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/job.h"

namespace ordo::scheduler::core {
namespace {

using ::testing::HasSubstr;
using workers::v1::Worker;

// So many GPUs of 8 GiB, 16 cores and 64 GiB, in a zone.
Worker MakeWorker(const std::string& id, int num_devices,
                  const std::string& zone) {
  Worker worker;
  worker.set_name("workers/" + id);
  worker.set_state(Worker::ONLINE);
  worker.set_protocol(base::kWorkerProtocol);
  worker.set_nccl(true);
  worker.set_cpus(16);
  worker.set_memory_bytes(int64_t{64} << 30);
  (*worker.mutable_labels())["zone"] = zone;
  for (int i = 0; i < num_devices; ++i) {
    workers::v1::Device& device = *worker.add_devices();
    device.set_name("cuda:" + std::to_string(i));
    device.set_kind("cuda");
    device.set_memory_bytes(int64_t{8} << 30);
  }
  return worker;
}

policy::Shape OneGpu() {
  policy::Shape shape;
  shape.kind = "cuda";
  return shape;
}

class ShortageTest : public ::testing::Test {
 protected:
  std::string Lacks(const policy::Shape& shape) const {
    return ShortageOf(workers_, shape);
  }

  std::vector<Worker> workers_ = {MakeWorker("w1", 2, "a"),
                                  MakeWorker("w2", 4, "b")};
};

TEST_F(ShortageTest, NothingIsLackedThatOneWorkerHas) {
  policy::Shape shape = OneGpu();
  shape.devices = 4;
  shape.device_memory_bytes = int64_t{8} << 30;
  shape.cpus = 16;
  shape.memory_bytes = int64_t{64} << 30;
  shape.labels = {{"zone", "b"}};
  EXPECT_EQ(Lacks(shape), "");
}

TEST_F(ShortageTest, ALabelIsNamedWithThoseThereAre) {
  policy::Shape shape = OneGpu();
  shape.labels = {{"zone", "c"}};
  EXPECT_EQ(Lacks(shape), "no worker has the label zone=c: there is zone=a, b");
  shape.labels = {{"rack", "1"}};
  EXPECT_EQ(Lacks(shape),
            "no worker has the label rack=1: none has a label of that name");
}

TEST_F(ShortageTest, LabelsThatNoWorkerHasTogetherAreNamed) {
  (*workers_[0].mutable_labels())["rack"] = "1";
  policy::Shape shape = OneGpu();
  shape.labels = {{"rack", "1"}, {"zone", "b"}};
  EXPECT_EQ(Lacks(shape),
            "no worker with rack=1 has the label zone=b: there is zone=a");
}

TEST_F(ShortageTest, DataThatNobodyMayReadIsNamedWithWhatThereIs) {
  policy::Shape shape = OneGpu();
  shape.data_paths = {"/srv/books", "/srv/code/c"};
  EXPECT_EQ(Lacks(shape), "");
  EXPECT_TRUE(MayHold(workers_[0], shape));
  workers_[0].mutable_data_roots()->add_paths("/srv/books");
  workers_[1].mutable_data_roots();
  EXPECT_EQ(Lacks(shape),
            "no worker may read /srv/code/c beside the other data: they may "
            "read /srv/books");
  EXPECT_FALSE(MayHold(workers_[0], shape));
  shape.labels = {{"zone", "b"}};
  EXPECT_EQ(Lacks(shape),
            "no worker with zone=b may read /srv/books: none has data_roots");
  workers_[1].mutable_data_roots()->add_paths("/srv");
  EXPECT_EQ(Lacks(shape), "");
  EXPECT_TRUE(MayHold(workers_[1], shape));
}

TEST_F(ShortageTest, MemoryOfADeviceIsNamedWithTheLargest) {
  policy::Shape shape = OneGpu();
  shape.device_memory_bytes = int64_t{80} << 30;
  EXPECT_THAT(Lacks(shape), HasSubstr("no worker has a cuda device with 80"));
  EXPECT_THAT(Lacks(shape), HasSubstr("the largest has 8"));
}

TEST_F(ShortageTest, DevicesOfOneWorkerAreNamedWithTheMost) {
  policy::Shape shape = OneGpu();
  shape.devices = 5;
  EXPECT_EQ(Lacks(shape), "no worker has 5 cuda devices: the most is 4, of w2");
  shape.labels = {{"zone", "a"}};
  EXPECT_EQ(Lacks(shape),
            "no worker with zone=a has 5 cuda devices: the most is 2, of w1");
}

TEST_F(ShortageTest, CoresAndMemoryAreNamedWithTheMost) {
  workers_[1].set_cpus(32);
  policy::Shape cores = OneGpu();
  cores.cpus = 33;
  EXPECT_EQ(Lacks(cores), "no worker has 33 cores: the most is 32, of w2");
  policy::Shape memory = OneGpu();
  memory.memory_bytes = int64_t{65} << 30;
  EXPECT_THAT(Lacks(memory), HasSubstr("no worker has 65"));
  EXPECT_THAT(Lacks(memory), HasSubstr("of memory: the most is 64"));
}

TEST_F(ShortageTest, CoresOfAWorkerWithTooFewDevicesDoNotCount) {
  workers_[0].set_cpus(64);
  policy::Shape shape = OneGpu();
  shape.devices = 4;
  shape.cpus = 33;
  EXPECT_EQ(Lacks(shape), "no worker has 33 cores: the most is 16, of w2");
}

TEST_F(ShortageTest, RanksAreCountedOverAllWorkers) {
  policy::Shape gang = OneGpu();
  gang.ranks = 4;
  gang.devices = 2;
  EXPECT_EQ(Lacks(gang), "all of them together have room for 3 of 4 ranks");
  gang.ranks = 3;
  EXPECT_EQ(Lacks(gang), "");
  gang.cpus = 9;
  EXPECT_EQ(Lacks(gang), "all of them together have room for 2 of 3 ranks");
}

TEST_F(ShortageTest, WorkersWithoutNcclAreNamedForRanksThatNeedIt) {
  for (Worker& worker : workers_) worker.set_nccl(false);
  policy::Shape gang = OneGpu();
  gang.ranks = 2;
  EXPECT_EQ(Lacks(gang),
            "no worker has NCCL for several ranks on cuda: w1, w2 have no "
            "libordo_nccl.so beside the trainer, or an earlier release");
  EXPECT_FALSE(MayHold(workers_[0], gang));
  EXPECT_EQ(Lacks(OneGpu()), "");
  EXPECT_TRUE(MayHold(workers_[0], OneGpu()));
  workers_[0].set_nccl(true);
  EXPECT_TRUE(MayHold(workers_[0], gang));
  EXPECT_EQ(Lacks(gang), "");
  gang.ranks = 3;
  EXPECT_EQ(Lacks(gang),
            "all of them together have room for 2 of 3 ranks, without those "
            "that have no NCCL: w2");
}

TEST_F(ShortageTest, AWorkerWithoutGpusLacksThoseAndNotNccl) {
  workers_.resize(1);
  workers_[0].clear_devices();
  workers_[0].add_devices()->set_kind("cpu");
  workers_[0].set_nccl(false);
  policy::Shape gang = OneGpu();
  gang.ranks = 2;
  EXPECT_EQ(Lacks(gang), "");
  gang.kind = "cpu";
  EXPECT_TRUE(MayHold(workers_[0], gang));
}

TEST_F(ShortageTest, WorkersThatAreLostDoNotCount) {
  workers_[1].set_state(Worker::LOST);
  policy::Shape shape = OneGpu();
  shape.devices = 3;
  EXPECT_EQ(Lacks(shape), "no worker has 3 cuda devices: the most is 2, of w1");
}

TEST_F(ShortageTest, WorkersThatCannotSumUpPartsAreNamed) {
  for (Worker& worker : workers_) worker.set_protocol(2);
  policy::Shape summary = OneGpu();
  summary.kernels = {kSummarizeTask};
  EXPECT_EQ(Lacks(summary),
            "no worker knows how to sum up parts: w1, w2 are of an earlier "
            "release, to be upgraded");
  EXPECT_FALSE(MayHold(workers_[0], summary));
  policy::Shape gate = OneGpu();
  gate.kernels = {kGateTask};
  EXPECT_EQ(Lacks(gate),
            "no worker knows how to decide a gate: w1, w2 are of an earlier "
            "release, to be upgraded");
  workers_[1].set_protocol(base::kWorkerProtocol);
  EXPECT_TRUE(MayHold(workers_[1], gate));
  EXPECT_TRUE(MayHold(workers_[1], summary));
  EXPECT_EQ(Lacks(summary), "");
}

}  // namespace
}  // namespace ordo::scheduler::core
