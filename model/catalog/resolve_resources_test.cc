#include "model/catalog/resolve_resources.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/resolve.h"
#include "model/catalog/testing/minimal_spec.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;
using ::testing::ElementsAre;
using testing::FieldsOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using testing::Minimal;

TEST(ResolveResourcesTest, RanksAreOnGpusAsOnCpus) {
  for (const char* device : {"cpu", "cuda"}) {
    EXPECT_THAT(FieldsOf([&](auto* spec) {
                  spec->mutable_resources()->set_ranks(2);
                  spec->mutable_resources()->set_device(device);
                }),
                IsEmpty())
        << device;
  }
}

TEST(ResolveResourcesTest, WhatIsAskedOfAMachineIsKept) {
  v1::TrainSpec spec = Minimal();
  v1::Resources& asked = *spec.mutable_resources();
  asked.set_devices(64);
  asked.set_device_memory_bytes(int64_t{1} << 50);
  asked.set_cpus(1024);
  asked.set_memory_bytes(int64_t{1} << 50);
  (*asked.mutable_labels())["zone"] = "north";
  asked.set_exclusive(true);
  const auto resolved = ResolveTrainSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_EQ(resolved->resources().devices(), 64);
  EXPECT_EQ(resolved->resources().device_memory_bytes(), int64_t{1} << 50);
  EXPECT_EQ(resolved->resources().cpus(), 1024);
  EXPECT_EQ(resolved->resources().memory_bytes(), int64_t{1} << 50);
  EXPECT_EQ(resolved->resources().labels().at("zone"), "north");
  EXPECT_TRUE(resolved->resources().exclusive());
}

TEST(ResolveResourcesTest, WhatAsksNothingOfAMachineSaysNothingOfIt) {
  v1::TrainSpec says = Minimal();
  v1::Resources& asked = *says.mutable_resources();
  asked.set_devices(1);
  asked.set_device_memory_bytes(0);
  asked.set_cpus(0);
  asked.set_memory_bytes(0);
  asked.set_exclusive(false);
  for (const v1::TrainSpec& spec : {Minimal(), says}) {
    const auto resolved = ResolveTrainSpec(spec);
    ORDO_ASSERT_OK(resolved);
    EXPECT_EQ(resolved->resources().ShortDebugString(),
              "ranks: 1 device: \"cpu\" threads: 2");
  }
}

TEST(ResolveResourcesTest, WhatIsAskedOfAMachineHasBounds) {
  EXPECT_THAT(FieldsOf([](auto* spec) {
                v1::Resources& resources = *spec->mutable_resources();
                resources.set_devices(0);
                resources.set_device_memory_bytes(-1);
                resources.set_cpus(-1);
                resources.set_memory_bytes(-1);
              }),
              ElementsAre("resources.devices", "resources.device_memory_bytes",
                          "resources.cpus", "resources.memory_bytes"));
  EXPECT_THAT(FieldsOf([](auto* spec) {
                v1::Resources& resources = *spec->mutable_resources();
                resources.set_devices(65);
                resources.set_device_memory_bytes((int64_t{1} << 50) + 1);
                resources.set_cpus(1025);
                resources.set_memory_bytes((int64_t{1} << 50) + 1);
              }),
              ElementsAre("resources.devices", "resources.device_memory_bytes",
                          "resources.cpus", "resources.memory_bytes"));
  EXPECT_THAT(
      MessageOf([](auto* spec) { spec->mutable_resources()->set_devices(65); }),
      HasSubstr("resources.devices: must be 1..64, is 65"));
}

TEST(ResolveResourcesTest, LabelsThatNoWorkerCanHaveAreNamed) {
  EXPECT_THAT(FieldsOf([](auto* spec) {
                auto& labels = *spec->mutable_resources()->mutable_labels();
                labels["zone"] = std::string(64, 'v');
                labels["a b"] = "v";
              }),
              ElementsAre("resources.labels", "resources.labels.zone"));
  EXPECT_THAT(FieldsOf([](auto* spec) {
                auto& labels = *spec->mutable_resources()->mutable_labels();
                for (int i = 0; i < 65; ++i) labels["k" + std::to_string(i)];
              }),
              ElementsAre("resources.labels"));
}

}  // namespace
}  // namespace ordo::model::catalog
