#include "model/training/c10d_collective.h"

#include <algorithm>
#include <poll.h>

#include "ATen/core/grad_mode.h"
#include "ATen/ops/constant_pad_nd.h"
#include "ATen/ops/empty_like.h"
#include "absl/strings/match.h"
#include "base/status/details.h"
#include "base/status/status.h"

namespace ordo::model::training {
namespace {

using c10d::TCPStore;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;

// Between looks for a note.
constexpr int kNoteMilliseconds = 5;
// Between looks at what a GPU does.
constexpr absl::Duration kLookInterval = absl::Microseconds(10);
// From a failure that another rank's end may have caused to the notice of it.
constexpr absl::Duration kNoticeOfLoss = absl::Seconds(1);

// Of a lost rank, by its watch.
absl::Status LostByWatch() {
  return PeerLost(absl::UnavailableError("another rank has ended"));
}

// Of what carries tensors; what a GPU computed wrong before has a text of its
// own (guard.cc).
bool IsOfNccl(const absl::Status& status) {
  return status.code() == absl::StatusCode::kInternal ||
         (status.code() == absl::StatusCode::kUnavailable &&
          absl::StrContains(status.message(), "NCCL"));
}

class C10d : public Collective {
 public:
  explicit C10d(Connections connections) : to_(std::move(connections)) {}

  // After an error calls may be under way that wait for ranks which wait for
  // this one; and what leaves NCCL in order waits for the others, who may have
  // left. Both end with the process.
  ~C10d() override {
    if (broken_ || to_.watch != nullptr) {
      static_cast<void>(to_.backend.release());
    }
  }

  int rank() const override { return to_.rank; }
  int ranks() const override { return to_.ranks; }

  absl::Status AllReduceSum(std::vector<at::Tensor> tensors) override {
    if (to_.watch != nullptr) {
      return Watched("add up over the ranks",
                     [&] { return SumInOrder(tensors); });
    }
    return All("add up over the ranks", tensors,
               [this](std::vector<at::Tensor>& one) {
                 return to_.backend->allreduce(one);
               });
  }

  absl::Status Broadcast(std::vector<at::Tensor> tensors) override {
    return All("broadcast from rank 0", tensors,
               [this](std::vector<at::Tensor>& one) {
                 return to_.backend->broadcast(one);
               });
  }

  absl::Status Tell(const std::string& key, const std::string& text) override {
    return GuardPeers("leave a note for the other ranks",
                      [&] { WriteNote(*to_.store, key, text); });
  }

  absl::StatusOr<std::optional<std::string>> Told(
      const std::string& key, absl::Duration timeout) override {
    return GuardPeers("read a note of another rank",
                      [&] { return ReadNote(*to_.store, key, timeout); });
  }

 private:
  // One tensor on its way to its sum.
  struct Sum {
    at::Tensor numbers;
    // In as many equal shares as there are ranks: this rank's numbers, and of
    // all ranks those of this rank's share.
    at::Tensor sent;
    at::Tensor received;
    int64_t share = 0;
    WorkPtr work;
  };

  // Begins all, then waits for all: some are on their way while others are
  // added up.
  template <typename Begin>
  absl::Status All(std::string_view attempted,
                   const std::vector<at::Tensor>& tensors, const Begin& begin) {
    const auto call = [&]() -> absl::Status {
      std::vector<WorkPtr> works;
      for (const at::Tensor& tensor : tensors) {
        std::vector<at::Tensor> one = {tensor};
        works.push_back(begin(one));
      }
      for (const WorkPtr& work : works) ORDO_RETURN_IF_ERROR(Await(*work));
      return absl::OkStatus();
    };
    if (to_.watch != nullptr) return Watched(attempted, call);
    const absl::Status status = GuardPeers(attempted, call);
    broken_ = broken_ || !status.ok();
    return status;
  }

  // Makes a call that would wait for a lost rank forever.
  template <typename Function>
  absl::Status Watched(std::string_view attempted, const Function& call) {
    const PeerWatch::Call here(to_.watch.get());
    if (broken_ || to_.watch->lost()) {
      broken_ = true;
      return LostByWatch();
    }
    absl::Status status = Guard(attempted, call);
    if (status.ok()) return status;
    broken_ = true;
    if (to_.watch->AwaitLoss(kNoticeOfLoss)) {
      status = LostByWatch();
    } else if (IsOfNccl(status)) {
      base::ErrorInfo info;
      info.reason = kNcclErrorReason;
      status =
          base::WithErrorInfo(absl::UnavailableError(status.message()), info);
    }
    // Before the others' calls fail for that: else they would take it for
    // theirs.
    to_.watch->Leave(status);
    // Else the GPU would go on waiting, and what is asked of it with it.
    Guard("end what waits for other ranks", [&] {
      to_.backend->abort();
    }).IgnoreError();
    return status;
  }

  // Until the work is done, and what the thread queues on its GPU comes behind.
  absl::Status Await(c10d::Work& work) {
    while (to_.watch != nullptr && !work.isCompleted()) {
      if (to_.watch->AwaitLoss(kLookInterval)) return LostByWatch();
    }
    work.wait();
    return absl::OkStatus();
  }

  // The shares of the next tensor are on their way while those of one are
  // added up.
  absl::Status SumInOrder(const std::vector<at::Tensor>& tensors) {
    const at::NoGradGuard no_grad;
    std::optional<Sum> last;
    for (const at::Tensor& tensor : tensors) {
      Sum next = BeginSum(tensor);
      if (last) ORDO_RETURN_IF_ERROR(EndSum(*last));
      last = std::move(next);
    }
    return last ? EndSum(*last) : absl::OkStatus();
  }

  Sum BeginSum(const at::Tensor& tensor) {
    Sum sum;
    sum.numbers = tensor.view({-1});
    sum.share = (tensor.numel() + to_.ranks - 1) / to_.ranks;
    const int64_t rest = sum.share * to_.ranks - tensor.numel();
    sum.sent =
        rest == 0 ? sum.numbers : at::constant_pad_nd(sum.numbers, {0, rest});
    sum.received = at::empty_like(sum.sent);
    std::vector<int64_t> equal;
    sum.work = to_.backend->alltoall_base(sum.received, sum.sent, equal, equal);
    return sum;
  }

  absl::Status EndSum(Sum& sum) {
    ORDO_RETURN_IF_ERROR(Await(*sum.work));
    at::Tensor own = sum.received.narrow(0, 0, sum.share);
    for (int rank = 1; rank < to_.ranks; ++rank) {
      own.add_(sum.received.narrow(0, rank * sum.share, sum.share));
    }
    ORDO_RETURN_IF_ERROR(Await(*to_.backend->_allgather_base(sum.sent, own)));
    if (!sum.sent.is_same(sum.numbers)) {
      sum.numbers.copy_(sum.sent.narrow(0, 0, sum.numbers.numel()));
    }
    return absl::OkStatus();
  }

  Connections to_;
  bool broken_ = false;
};

}  // namespace

std::unique_ptr<Collective> MakeCollective(Connections connections) {
  return std::make_unique<C10d>(std::move(connections));
}

absl::Status PeerLost(absl::Status status) {
  // What ran out or was refused here is not the others' fault.
  if (status.code() == absl::StatusCode::kInternal) {
    status = absl::UnavailableError(status.message());
  }
  if (status.code() != absl::StatusCode::kUnavailable) return status;
  base::ErrorInfo info;
  info.reason = kPeerLostReason;
  return base::WithErrorInfo(status, info);
}

void WriteNote(TCPStore& store, const std::string& key,
               const std::string& text) {
  store.set(key, std::vector<uint8_t>(text.begin(), text.end()));
}

// Asks again and again: the store's own wait would log each time that nothing
// came.
std::optional<std::string> ReadNote(TCPStore& store, const std::string& key,
                                    absl::Duration timeout) {
  int64_t left = absl::ToInt64Milliseconds(timeout);
  while (!store.check({key})) {
    if (left <= 0) return std::nullopt;
    const int pause =
        static_cast<int>(std::min(left, int64_t{kNoteMilliseconds}));
    poll(nullptr, 0, pause);
    left -= pause;
  }
  const std::vector<uint8_t> bytes = store.get(key);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace ordo::model::training
