// The entry of libordo_nccl.so.

#include "model/training/nccl/library.h"

// What LibTorch was built with, which its headers of c10d ask for.
#define USE_C10D_NCCL
#define USE_DISTRIBUTED
#include "torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp"

namespace ordo::model::training::nccl {
namespace {

c10::intrusive_ptr<c10d::Backend> Join(const Group& group) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = group.timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(group.store, group.rank,
                                                     group.ranks, options);
}

}  // namespace

extern "C" const Library* OrdoNcclLibrary() {
  static const Library kLibrary = {kBuild, Join};
  return &kLibrary;
}

}  // namespace ordo::model::training::nccl
