#ifndef ORDO_WORKER_AGENT_CONFIG_H_
#define ORDO_WORKER_AGENT_CONFIG_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/ordo/config/v1/worker.pb.h"

namespace ordo::worker::agent {

// What the command line says in place of the fields of these names; empty:
// nothing. Workers that share a file differ by `worker`.
struct ConfigFlags {
  std::string deployment;
  std::string worker;
};

// Reads a worker's configuration file (form by extension), puts in what the
// flags say, fills in the defaults and validates it whole. INVALID_ARGUMENT
// names every field that is wrong; devices are judged by FindDevices. A label
// that breaks the rule is left out, with a warning: releases before this one
// took it.
absl::StatusOr<::ordo::config::v1::WorkerConfig> ReadConfig(
    const std::string& path, const ConfigFlags& flags);

// The part of it after reading.
absl::Status CheckConfig(::ordo::config::v1::WorkerConfig* config);

// When the worker is to be empty, so that what runs there can be stopped before
// its `end_time`; nothing: it stays. Of a configuration that was read.
std::optional<google::protobuf::Timestamp> LeaveTime(
    const ::ordo::config::v1::WorkerConfig& config);

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_CONFIG_H_
