#include "scheduler/core/queue_use.h"

#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/ordo/usage/v1/usage.pb.h"

namespace ordo::scheduler::core {
namespace {

constexpr absl::Duration kRecordPeriod = absl::Seconds(1);

}  // namespace

void RecordUse(Turn& turn) {
  for (const auto& [queue, kind] : turn.use_changed) {
    // No queue has a slash in its name.
    const std::string key = absl::StrCat(queue, "/", kind);
    const auto [known, is_new] = turn.state.used.try_emplace(key);
    QueueUse& use = known->second;
    const absl::Duration now = turn.now.monotonic;
    if (!is_new && now < use.recorded + kRecordPeriod) continue;
    usage::v1::QueueUse row;
    row.set_queue(queue);
    row.set_device(kind);
    row.set_device_seconds(turn.state.board.Usage(queue, kind, now));
    *row.mutable_time() = ToTimestamp(turn.now.wall);
    use.recorded = now;
    use.row = std::make_shared<const Row>(
        Row{Row::Kind::kQueueUse, key, row.SerializeAsString()});
    turn.Emit(Record{use.row});
  }
}

void ForgetUse(Turn& turn, const std::string& queue) {
  std::map<std::string, QueueUse>& used = turn.state.used;
  const std::string prefix = absl::StrCat(queue, "/");
  auto it = used.lower_bound(prefix);
  while (it != used.end() && it->first.rfind(prefix, 0) == 0) {
    turn.Emit(Record{std::make_shared<const Row>(
        Row{Row::Kind::kQueueUse, it->first, std::nullopt})});
    it = used.erase(it);
  }
}

std::vector<RowPtr> UseRows(const State& state) {
  std::vector<RowPtr> rows;
  for (const auto& [key, use] : state.used) rows.push_back(use.row);
  return rows;
}

absl::Status TakeUseRow(const Row& row, State* state) {
  usage::v1::QueueUse said;
  if (!row.bytes.has_value() || !said.ParseFromString(*row.bytes) ||
      row.key != absl::StrCat(said.queue(), "/", said.device()) ||
      !std::isfinite(said.device_seconds()) || said.device_seconds() < 0) {
    return absl::DataLossError(
        absl::StrCat("what the store has of the use of queue and device ",
                     row.key, " cannot be read"));
  }
  state->used[row.key].row = std::make_shared<const Row>(row);
  return absl::OkStatus();
}

void ShowUse(State& state, const Moment& now) {
  for (auto& [key, use] : state.used) {
    usage::v1::QueueUse said;
    // It was taken back.
    said.ParseFromString(*use.row->bytes);
    use.recorded = state.clock.MonotonicAt(ToTime(said.time()), now);
    if (!state.board.HasQueue(said.queue())) continue;
    state.board.SetUsage(said.queue(), said.device(), said.device_seconds(),
                         use.recorded);
  }
}

}  // namespace ordo::scheduler::core
