#include "services/cli/doctor/network.h"

#include <set>
#include <unistd.h>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock/clock.h"
#include "base/rpc/address.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/sockets/connect.h"
#include "base/status/status.h"
#include "base/version/worker_protocol.h"
#include "services/cli/deployment.h"
#include "services/cli/names.h"

namespace ordo::services::cli::doctor {
namespace {

using workers::v1::Worker;

constexpr absl::Duration kAnswerLimit = absl::Seconds(5);
constexpr int kMaxWorkers = 1000;
// Between a scheduler's clock and this machine's.
constexpr absl::Duration kSmallSkew = absl::Seconds(2);
constexpr absl::Duration kLargeSkew = absl::Minutes(1);
constexpr char kClockAdvice[] =
    "let NTP set both clocks: expiry of tokens and certificates, drains and "
    "usage go by them";

absl::Status Reach(const std::string& address) {
  ORDO_ASSIGN_OR_RETURN(const base::HostPort parsed,
                        base::ParseHostPort(address));
  ORDO_ASSIGN_OR_RETURN(
      const int socket,
      base::ConnectTo(parsed.host, static_cast<uint16_t>(parsed.port)));
  close(socket);
  return absl::OkStatus();
}

Finding JudgeClock(const ServerAnswer& answer) {
  if (!answer.time.has_value()) {
    return {"server/clock", Health::kWarn,
            "the scheduler does not tell its time",
            "upgrade the scheduler: it is of an earlier release"};
  }
  // It was told at some moment between the two.
  const absl::Duration ahead = *answer.time - answer.answered;
  const absl::Duration behind = answer.asked - *answer.time;
  const bool is_ahead = ahead > behind;
  const absl::Duration skew = is_ahead ? ahead : behind;
  if (skew <= kSmallSkew) {
    return {"server/clock", Health::kOk,
            "the scheduler's clock is this machine's"};
  }
  return {
      "server/clock", skew <= kLargeSkew ? Health::kWarn : Health::kFail,
      absl::StrCat("the scheduler's clock is ",
                   absl::FormatDuration(absl::Trunc(skew, absl::Seconds(1))),
                   is_ahead ? " ahead" : " behind"),
      kClockAdvice};
}

}  // namespace

Finding CheckListenSite(const ListenSite& site) {
  const std::string name =
      absl::StrCat("ports/", site.service, ".", site.field);
  const absl::Status free = CheckPortFree(site.address);
  if (free.ok()) {
    return {name, Health::kOk, site.address + " is free"};
  }
  if (!absl::IsFailedPrecondition(free)) {
    return {name, Health::kFail, std::string(free.message()),
            absl::StrCat("set `", site.field,
                         "` to an address of this machine, and a port from "
                         "1024 on")};
  }
  if (site.served == site.address && Reach(site.address).ok()) {
    return {name, Health::kOk, "the service serves at " + site.address};
  }
  return {name, Health::kFail, "another program listens at " + site.address,
          absl::StrCat("end it (ss -ltnp names it), or set `", site.field,
                       "` to another port")};
}

Finding CheckReachable(const std::string& name, const std::string& address) {
  const absl::Status status = Reach(address);
  if (status.ok()) {
    return {"network/" + name, Health::kOk, address + " takes connections"};
  }
  return {"network/" + name, Health::kFail, std::string(status.message()),
          absl::StrCat("look whether the service runs there and listens at "
                       "that address, and whether a firewall lets ",
                       address, " through")};
}

ServerAnswer AskServer(Client& client, const base::Clock& clock) {
  ServerAnswer answer;
  answer.address = client.options().address;
  const auto context = client.StreamContext();
  // The limit is of the real time, which gRPC goes by.
  context->set_deadline(
      absl::ToChronoTime(base::RealClock().Now() + kAnswerLimit));
  context->AddMetadata(base::kTimeMetadataKey, "?");
  queues::v1::GetQueueRequest request;
  request.set_name("queues/default");
  queues::v1::Queue queue;
  answer.asked = clock.Now();
  const grpc::Status status =
      client.queues().GetQueue(context.get(), request, &queue);
  answer.status = status.error_code() == grpc::StatusCode::UNAVAILABLE
                      ? client.Explain(status)
                      : base::FromGrpcStatus(status);
  answer.answered = clock.Now();
  const auto& behind = context->GetServerTrailingMetadata();
  const auto told = behind.find(base::kTimeMetadataKey);
  int64_t nanos = 0;
  if (told != behind.end() &&
      absl::SimpleAtoi(std::string(told->second.data(), told->second.size()),
                       &nanos)) {
    answer.time = absl::FromUnixNanos(nanos);
  }
  return answer;
}

Findings JudgeServer(const ServerAnswer& answer) {
  const std::string name = "server/reachable";
  if (absl::IsUnavailable(answer.status) ||
      absl::IsDeadlineExceeded(answer.status)) {
    if (!answer.is_named) {
      return {{name, Health::kWarn, "no scheduler at " + answer.address,
               "name it with --server or ORDO_SERVER, or start one: ordo up"}};
    }
    return {{name, Health::kFail,
             absl::StrCat("no answer from ", answer.address, ": ",
                          answer.status.message()),
             "look whether the scheduler runs and listens at that address, and "
             "whether a firewall lets it through"}};
  }
  // Earlier releases know no such call, and some users may not see the queue.
  const bool answers = answer.status.ok() ||
                       absl::IsUnimplemented(answer.status) ||
                       absl::IsNotFound(answer.status);
  if (!answers) {
    return {{name, Health::kFail,
             absl::StrCat(answer.address, ": ", answer.status.message()),
             "do what it says: something is there, and does not serve this "
             "user"}};
  }
  return {{name, Health::kOk, answer.address + " answers"}, JudgeClock(answer)};
}

absl::StatusOr<std::vector<Worker>> AskWorkers(Client& client) {
  workers::v1::ListWorkersRequest request;
  request.set_page_size(kMaxWorkers);
  ORDO_ASSIGN_OR_RETURN(
      const workers::v1::ListWorkersResponse response,
      client.Call(client.workers(),
                  &workers::v1::WorkersService::Stub::ListWorkers, request));
  return std::vector<Worker>(response.workers().begin(),
                             response.workers().end());
}

Finding JudgeWorkers(const std::vector<Worker>& workers) {
  const std::string name = "server/workers";
  if (workers.empty()) {
    return {name, Health::kWarn, "there is no worker: jobs wait",
            "start ordo-worker on a machine that is to run jobs"};
  }
  std::vector<std::string> troubles;
  std::set<std::string> advice;
  for (const Worker& worker : workers) {
    const std::string id = ShortName(worker.name());
    if (worker.state() == Worker::LOST) {
      troubles.push_back(id + " is lost");
      advice.insert("look at that machine");
    } else if (worker.protocol() < base::kWorkerProtocol) {
      troubles.push_back(id + " is of an earlier release");
      advice.insert("upgrade it, which some jobs wait for");
    }
    for (const workers::v1::Device& device : worker.devices()) {
      if (!device.has_quarantine()) continue;
      troubles.push_back(
          absl::StrCat(device.name(), " of ", id, " is in quarantine"));
      advice.insert("mend the device, then ordo workers release WORKER DEVICE");
    }
  }
  if (troubles.empty()) {
    return {name, Health::kOk,
            absl::StrCat(workers.size(),
                         workers.size() == 1 ? " worker is" : " workers are",
                         " well")};
  }
  return {name, Health::kWarn, absl::StrJoin(troubles, ", "),
          absl::StrJoin(advice, "; ")};
}

}  // namespace ordo::services::cli::doctor
