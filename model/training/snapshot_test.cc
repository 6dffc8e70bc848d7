#include "model/training/snapshot.h"

#include <set>

#include <ATen/ATen.h>

#include "gtest/gtest.h"

namespace ordo::model::training {
namespace {

Snapshot Example() {
  Snapshot snapshot;
  snapshot.parameters["w"] = at::arange(6, at::kFloat).view({2, 3});
  snapshot.optimizer["w.exp_avg"] = at::zeros({2, 3});
  snapshot.cursors = {1, 2, 3, 4, 5};
  return snapshot;
}

TEST(StateDigest, SeesEveryChange) {
  std::set<std::string> digests = {StateDigest(Example())};
  Snapshot changed = Example();
  changed.parameters["w"][1][2] = 5.0000005;
  digests.insert(StateDigest(changed));
  changed = Example();
  changed.parameters["w"] = changed.parameters["w"].view({3, 2});
  digests.insert(StateDigest(changed));
  changed = Example();
  changed.parameters["v"] = changed.parameters["w"];
  changed.parameters.erase("w");
  digests.insert(StateDigest(changed));
  changed = Example();
  changed.optimizer["w.exp_avg"][0][0] = -0.0;
  digests.insert(StateDigest(changed));
  for (int64_t Cursors::*cursor :
       {&Cursors::step, &Cursors::tokens, &Cursors::samples, &Cursors::updates,
        &Cursors::skipped_in_a_row}) {
    changed = Example();
    changed.cursors.*cursor = 9;
    digests.insert(StateDigest(changed));
  }
  changed = Example();
  changed.recipe = "another";
  digests.insert(StateDigest(changed));
  changed = Example();
  changed.data_fingerprint = "another";
  digests.insert(StateDigest(changed));
  EXPECT_EQ(digests.size(), 12u);
  EXPECT_EQ(StateDigest(Example()), StateDigest(Example()));
}

TEST(Copy, DoesNotFollowTheOriginal) {
  Snapshot original = Example();
  original.data_fingerprint = "text";
  const Snapshot copy = Copy(original);
  original.parameters.at("w").add_(1);
  Snapshot before = Example();
  before.data_fingerprint = "text";
  EXPECT_EQ(StateDigest(copy), StateDigest(before));
}

}  // namespace
}  // namespace ordo::model::training
