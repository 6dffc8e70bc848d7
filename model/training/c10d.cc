#include "model/training/c10d.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
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
#include "model/training/c10d_collective.h"
#include "model/training/nccl/library.h"
#include "model/training/peer_watch.h"

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
constexpr size_t kMaxAddressBytes = 1024;

constexpr char kRunKey[] = "run";
constexpr char kAllKey[] = "all";
// The port of rank 0's watch.
constexpr char kWatchKey[] = "watch";

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
    if (options_.nccl != nullptr) ORDO_RETURN_IF_ERROR(StartWatch());
    return GuardPeers("connect to the other ranks", [&] {
      Connections connections;
      connections.rank = options_.rank;
      connections.ranks = options_.ranks;
      connections.backend = MakeBackend();
      connections.store = store_;
      connections.watch = std::move(watch_);
      return MakeCollective(std::move(connections));
    });
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
      WriteNote(*store_, kRunKey, address.run);
    }));
    ORDO_RETURN_IF_ERROR(
        files_.MakeFolders(base::FolderOf(options_.address_file)));
    ORDO_RETURN_IF_ERROR(
        base::AtomicWrite(files_, options_.address_file, AddressText(address)));
    for (int rank = 1; rank < options_.ranks; ++rank) {
      ORDO_RETURN_IF_ERROR(
          AwaitNote(HereKey(rank), absl::StrCat("rank ", rank)).status());
    }
    ORDO_RETURN_IF_ERROR(
        Guard("begin", [&] { WriteNote(*store_, kAllKey, "here"); }));
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
      WriteNote(*store_, HereKey(options_.rank), "here");
    }));
    return AwaitNote(kAllKey, "the other ranks").status();
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
      return ReadNote(*store_, kRunKey, absl::Milliseconds(kPollMilliseconds));
    });
    if (!run.ok() || *run != address->run) return false;
    if (address->ranks != options_.ranks) {
      return base::InvalidField(
          "resources.ranks",
          absl::StrCat("is ", options_.ranks, ", and ", address->ranks,
                       " for rank 0; start all with the same task"));
    }
    host_of_rank0_ = address->host;
    return true;
  }

  absl::Status StartWatch() {
    PeerWatch::Options options;
    options.patience = options_.patience;
    options.on_stuck = options_.on_stuck;
    if (options_.rank == 0) {
      ORDO_ASSIGN_OR_RETURN(const base::Listener listener,
                            base::ListenAt(options_.host));
      auto watch = AcceptAt(listener, std::move(options));
      close(listener.fd);
      ORDO_RETURN_IF_ERROR(watch);
      watch_ = *std::move(watch);
      return absl::OkStatus();
    }
    ORDO_ASSIGN_OR_RETURN(const std::string port,
                          AwaitNote(kWatchKey, "rank 0"));
    auto watch = PeerWatch::Join(host_of_rank0_, std::atoi(port.c_str()),
                                 options_.rank, std::move(options));
    if (!watch.ok()) return PeerLost(watch.status());
    watch_ = *std::move(watch);
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<PeerWatch>> AcceptAt(
      const base::Listener& listener, PeerWatch::Options options) {
    ORDO_RETURN_IF_ERROR(Guard("tell where rank 0 listens", [&] {
      WriteNote(*store_, kWatchKey, absl::StrCat(listener.port));
    }));
    return PeerWatch::Accept(
        listener, options_.ranks, [this] { return CheckTime("all ranks"); },
        std::move(options));
  }

  c10::intrusive_ptr<c10d::Backend> MakeBackend() {
    store_->setTimeout(kCallTimeout);
    if (options_.nccl != nullptr) {
      nccl::Group group;
      group.store = c10::make_intrusive<c10d::PrefixStore>("nccl", store_);
      group.rank = options_.rank;
      group.ranks = options_.ranks;
      group.timeout = kCallTimeout;
      return options_.nccl->join(group);
    }
    const auto gloo = ProcessGroupGloo::Options::create(
        absl::ToChronoMilliseconds(options_.timeout));
    gloo->devices.push_back(
        ProcessGroupGloo::createDeviceForHostname(options_.host));
    c10::intrusive_ptr<c10d::Backend> backend =
        c10::make_intrusive<ProcessGroupGloo>(
            c10::make_intrusive<c10d::PrefixStore>("gloo", store_),
            options_.rank, options_.ranks, gloo);
    backend->setTimeout(kCallTimeout);
    return backend;
  }

  absl::StatusOr<std::string> AwaitNote(const std::string& key,
                                        const std::string& for_what) {
    while (true) {
      ORDO_ASSIGN_OR_RETURN(
          const auto note, GuardPeers("wait for the other ranks", [&] {
            return ReadNote(*store_, key,
                            absl::Milliseconds(kPollMilliseconds));
          }));
      if (note) return *note;
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
  std::string host_of_rank0_;
  c10::intrusive_ptr<TCPStore> store_;
  std::unique_ptr<PeerWatch> watch_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Collective>> Meet(base::Filesystem& files,
                                                 base::Clock& clock,
                                                 const MeetOptions& options) {
  return base::AddContext(Meeting(files, clock, options).Run(),
                          "meet the other ranks");
}

}  // namespace ordo::model::training
