#include "model/training/testing/ranks.h"

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "model/training/c10d.h"
#include "model/training/numerics.h"

namespace ordo::model::training::testing {

void ForEachRank(int ranks, const std::function<void(Collective&)>& body,
                 Leaving leaving) {
  base::PosixFilesystem files;
  base::RealClock clock;
  const base::testing::TemporaryFolder folder;
  // What holds for the process, before there are threads.
  ConfigureNumerics(1);
  std::vector<std::unique_ptr<Collective>> collectives(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ConfigureNumerics(1);
      MeetOptions options;
      options.rank = rank;
      options.ranks = ranks;
      options.address_file = folder.Path("rendezvous");
      auto collective = Meet(files, clock, options);
      ORDO_CHECK(collective.ok()) << collective.status();
      collectives[rank] = *std::move(collective);
      body(*collectives[rank]);
      if (leaving == Leaving::kAtOnce) collectives[rank].reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Rank 0 has the store of all.
  while (!collectives.empty()) collectives.pop_back();
}

}  // namespace ordo::model::training::testing
