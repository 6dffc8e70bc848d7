#include "model/training/testing/ranks.h"

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "base/check.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "model/training/c10d.h"
#include "model/training/numerics.h"

// What LibTorch was built with, which its headers of c10d ask for.
#define USE_C10D_GLOO
#define USE_DISTRIBUTED
#include "torch/csrc/distributed/c10d/ProcessGroupGloo.hpp"

namespace ordo::model::training::testing {
namespace {

c10::intrusive_ptr<c10d::Backend> JoinGloo(const nccl::Group& group) {
  const auto options = c10d::ProcessGroupGloo::Options::create(group.timeout);
  options->devices.push_back(
      c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  return c10::make_intrusive<c10d::ProcessGroupGloo>(group.store, group.rank,
                                                     group.ranks, options);
}

}  // namespace

const nccl::Library kGlooAsNccl = {nccl::kBuild, JoinGloo};

void ForEachRank(int ranks, const std::function<void(Collective&)>& body,
                 Leaving leaving, const nccl::Library* through) {
  base::PosixFilesystem files;
  base::RealClock clock;
  const base::testing::TemporaryFolder folder;
  // What holds for the process, before there are threads.
  ConfigureNumerics(1);
  std::vector<std::unique_ptr<Collective>> collectives(ranks);
  absl::Barrier all_met(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ConfigureNumerics(1);
      MeetOptions options;
      options.rank = rank;
      options.ranks = ranks;
      options.address_file = folder.Path("rendezvous");
      options.nccl = through;
      auto collective = Meet(files, clock, options);
      ORDO_CHECK(collective.ok()) << collective.status();
      collectives[rank] = *std::move(collective);
      // Nobody leaves others that still come together.
      all_met.Block();
      body(*collectives[rank]);
      if (leaving == Leaving::kAtOnce) collectives[rank].reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Rank 0 has the store of all.
  while (!collectives.empty()) collectives.pop_back();
}

}  // namespace ordo::model::training::testing
