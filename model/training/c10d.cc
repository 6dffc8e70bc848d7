#include "model/training/c10d.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <poll.h>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files/file_util.h"
#include "base/sockets/listener.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/guard.h"

// What LibTorch was built with, which its headers of c10d ask for.
#define USE_C10D_GLOO
#define USE_DISTRIBUTED
#include "torch/csrc/distributed/c10d/PrefixStore.hpp"
#include "torch/csrc/distributed/c10d/ProcessGroupGloo.hpp"
#include "torch/csrc/distributed/c10d/TCPStore.hpp"

namespace ordo::model::training {
namespace {

using c10d::ProcessGroupGloo;
using c10d::TCPStore;

// Of a call that waits for other ranks. Whether they make progress is for those
// to judge who watch each of them; a rank that ends is noticed at once.
constexpr std::chrono::milliseconds kCallTimeout = std::chrono::minutes(30);
// Of a try to connect to an address that may be of a run that has ended.
constexpr std::chrono::milliseconds kConnectTimeout = std::chrono::seconds(2);
// Between looks at a file or at a request to stop.
constexpr int kPollMilliseconds = 20;
// Between looks for a note.
constexpr int kNoteMilliseconds = 5;
constexpr size_t kMaxAddressBytes = 1024;

constexpr char kRunKey[] = "run";
constexpr char kAllKey[] = "all";

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

// As Guard, for calls that fail when another rank is lost.
template <typename Function>
auto GuardPeers(std::string_view attempted, Function&& function) {
  auto result = Guard(attempted, std::forward<Function>(function));
  if constexpr (std::is_same_v<decltype(result), absl::Status>) {
    return PeerLost(std::move(result));
  } else {
    if (!result.ok()) result = PeerLost(result.status());
    return result;
  }
}

std::vector<uint8_t> BytesOf(const std::string& text) {
  return {text.begin(), text.end()};
}

// The note of `key`, or nothing if it is not there after `timeout`. Asks again
// and again: the store's own wait would log each time that nothing came.
std::optional<std::string> Read(TCPStore& store, const std::string& key,
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

class C10d : public Collective {
 public:
  C10d(const MeetOptions& options, c10::intrusive_ptr<TCPStore> store,
       c10::intrusive_ptr<c10d::Backend> backend)
      : rank_(options.rank),
        ranks_(options.ranks),
        store_(std::move(store)),
        backend_(std::move(backend)) {}

  // After an error calls may be under way that wait for ranks which wait for
  // this one: they end with the process.
  ~C10d() override {
    if (broken_) static_cast<void>(backend_.release());
  }

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }

  absl::Status AllReduceSum(std::vector<at::Tensor> tensors) override {
    return Call("add up over the ranks", tensors,
                [this](std::vector<at::Tensor>& one) {
                  return backend_->allreduce(one);
                });
  }

  absl::Status Broadcast(std::vector<at::Tensor> tensors) override {
    return Call("broadcast from rank 0", tensors,
                [this](std::vector<at::Tensor>& one) {
                  return backend_->broadcast(one);
                });
  }

  absl::Status Tell(const std::string& key, const std::string& text) override {
    return GuardPeers("leave a note for the other ranks",
                      [&] { store_->set(key, BytesOf(text)); });
  }

  absl::StatusOr<std::optional<std::string>> Told(
      const std::string& key, absl::Duration timeout) override {
    return GuardPeers("read a note of another rank",
                      [&] { return Read(*store_, key, timeout); });
  }

 private:
  // Begins all, then waits for all: some are on their way while others are
  // added up.
  template <typename Begin>
  absl::Status Call(std::string_view attempted,
                    const std::vector<at::Tensor>& tensors,
                    const Begin& begin) {
    const absl::Status status = GuardPeers(attempted, [&] {
      std::vector<c10::intrusive_ptr<c10d::Work>> works;
      for (const at::Tensor& tensor : tensors) {
        std::vector<at::Tensor> one = {tensor};
        works.push_back(begin(one));
      }
      for (const auto& work : works) work->wait();
    });
    broken_ = broken_ || !status.ok();
    return status;
  }

  const int rank_;
  const int ranks_;
  c10::intrusive_ptr<TCPStore> store_;
  c10::intrusive_ptr<c10d::Backend> backend_;
  bool broken_ = false;
};

// Where rank 0 is found, and by what it is told from an earlier one there.
struct Address {
  std::string host;
  uint16_t port = 0;
  std::string run;
  int ranks = 0;
};

std::string AddressText(const Address& address) {
  return absl::StrCat(address.host, " ", address.port, " ", address.run, " ",
                      address.ranks, "\n");
}

std::optional<Address> ParseAddress(const std::string& text) {
  const std::vector<std::string> parts =
      absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  Address address;
  int port = 0;
  if (parts.size() != 4 || !absl::SimpleAtoi(parts[1], &port) ||
      !absl::SimpleAtoi(parts[3], &address.ranks)) {
    return std::nullopt;
  }
  address.host = parts[0];
  address.port = static_cast<uint16_t>(port);
  address.run = parts[2];
  return address;
}

std::string HereKey(int rank) { return absl::StrCat("here/", rank); }

// One rank on its way to the others.
class Meeting {
 public:
  Meeting(base::Filesystem& files, base::Clock& clock,
          const MeetOptions& options)
      : files_(files),
        clock_(clock),
        options_(options),
        deadline_(clock.Monotonic() + options.timeout) {}

  absl::StatusOr<std::unique_ptr<Collective>> Run() {
    ORDO_RETURN_IF_ERROR(options_.rank == 0 ? Invite() : Join());
    return GuardPeers("connect to the other ranks", [&] { return Connect(); });
  }

 private:
  // Opens a store here and waits until all have found it.
  absl::Status Invite() {
    ORDO_ASSIGN_OR_RETURN(const base::Listener listener,
                          base::ListenAt(options_.host));
    c10d::TCPStoreOptions store;
    store.port = listener.port;
    store.isServer = true;
    store.masterListenFd = listener.fd;
    store.waitWorkers = false;
    Address address;
    address.host = options_.host;
    address.port = listener.port;
    address.run = absl::StrCat(absl::ToUnixNanos(clock_.Now()), "-", getpid());
    address.ranks = options_.ranks;
    ORDO_RETURN_IF_ERROR(Guard("open the ranks' store", [&] {
      store_ = c10::make_intrusive<TCPStore>(options_.host, store);
      store_->set(kRunKey, BytesOf(address.run));
    }));
    ORDO_RETURN_IF_ERROR(
        files_.MakeFolders(base::FolderOf(options_.address_file)));
    ORDO_RETURN_IF_ERROR(
        base::AtomicWrite(files_, options_.address_file, AddressText(address)));
    for (int rank = 1; rank < options_.ranks; ++rank) {
      ORDO_RETURN_IF_ERROR(
          AwaitNote(HereKey(rank), absl::StrCat("rank ", rank)));
    }
    ORDO_RETURN_IF_ERROR(
        Guard("begin", [&] { store_->set(kAllKey, BytesOf("here")); }));
    return files_.RemoveFile(options_.address_file);
  }

  // Finds rank 0's store, and waits until the others have too.
  absl::Status Join() {
    while (true) {
      ORDO_ASSIGN_OR_RETURN(const bool found, Find());
      if (found) break;
      ORDO_RETURN_IF_ERROR(CheckTime("rank 0"));
      // A folder, which may be another machine's, tells nobody of a new file.
      poll(nullptr, 0, kPollMilliseconds);
    }
    ORDO_ASSIGN_OR_RETURN(
        const int64_t count, GuardPeers("join the ranks' store", [&] {
          return store_->add(absl::StrCat("count/", options_.rank), 1);
        }));
    if (count != 1) {
      return base::InvalidField(
          "rank", absl::StrCat("another process is rank ", options_.rank,
                               "; give each a number of its own"));
    }
    ORDO_RETURN_IF_ERROR(GuardPeers("join the ranks' store", [&] {
      store_->set(HereKey(options_.rank), BytesOf("here"));
    }));
    return AwaitNote(kAllKey, "the other ranks");
  }

  // True once the store is that of the run whose address lies in the file.
  absl::StatusOr<bool> Find() {
    const auto text =
        base::ReadFile(files_, options_.address_file, kMaxAddressBytes);
    if (absl::IsNotFound(text.status())) return false;
    ORDO_RETURN_IF_ERROR(text);
    const auto address = ParseAddress(*text);
    if (!address) return false;
    // What cannot be reached, or is another's, may be of a run that has ended.
    const auto run = Guard("connect to rank 0", [&] {
      c10d::TCPStoreOptions store;
      store.port = address->port;
      store.waitWorkers = false;
      store.timeout = kConnectTimeout;
      store_ = c10::make_intrusive<TCPStore>(address->host, store);
      return Read(*store_, kRunKey, absl::Milliseconds(kPollMilliseconds));
    });
    if (!run.ok() || *run != address->run) return false;
    if (address->ranks != options_.ranks) {
      return base::InvalidField(
          "resources.ranks",
          absl::StrCat("is ", options_.ranks, ", and ", address->ranks,
                       " for rank 0; start all with the same task"));
    }
    return true;
  }

  std::unique_ptr<Collective> Connect() {
    store_->setTimeout(kCallTimeout);
    const auto gloo = ProcessGroupGloo::Options::create(
        absl::ToChronoMilliseconds(options_.timeout));
    gloo->devices.push_back(
        ProcessGroupGloo::createDeviceForHostname(options_.host));
    c10::intrusive_ptr<c10d::Backend> backend =
        c10::make_intrusive<ProcessGroupGloo>(
            c10::make_intrusive<c10d::PrefixStore>("gloo", store_),
            options_.rank, options_.ranks, gloo);
    backend->setTimeout(kCallTimeout);
    return std::make_unique<C10d>(options_, store_, std::move(backend));
  }

  absl::Status AwaitNote(const std::string& key, const std::string& for_what) {
    while (true) {
      ORDO_ASSIGN_OR_RETURN(
          const auto note, GuardPeers("wait for the other ranks", [&] {
            return Read(*store_, key, absl::Milliseconds(kPollMilliseconds));
          }));
      if (note) return absl::OkStatus();
      ORDO_RETURN_IF_ERROR(CheckTime(for_what));
    }
  }

  // CANCELLED when somebody asked to stop, kPeerLostReason when it is too late.
  absl::Status CheckTime(const std::string& for_what) const {
    if (options_.stop_requested()) {
      return absl::CancelledError("stopped before all ranks had met");
    }
    if (clock_.Monotonic() < deadline_) return absl::OkStatus();
    return PeerLost(absl::UnavailableError(absl::StrCat(
        "waited ", absl::FormatDuration(options_.timeout), " for ", for_what)));
  }

  base::Filesystem& files_;
  base::Clock& clock_;
  const MeetOptions& options_;
  const absl::Duration deadline_;
  c10::intrusive_ptr<TCPStore> store_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Collective>> Meet(base::Filesystem& files,
                                                 base::Clock& clock,
                                                 const MeetOptions& options) {
  return base::AddContext(Meeting(files, clock, options).Run(),
                          "meet the other ranks");
}

}  // namespace ordo::model::training
