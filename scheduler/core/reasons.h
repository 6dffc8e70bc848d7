#ifndef ORDO_SCHEDULER_CORE_REASONS_H_
#define ORDO_SCHEDULER_CORE_REASONS_H_

// Machine-readable reasons of job states and of the ends of attempts; the
// metrics' closed label sets. docs/states.md explains each.

namespace ordo::scheduler::core::reason {

// Of a queued job, also in Explain.
inline constexpr char kWaitingForDevice[] = "WAITING_FOR_DEVICE";
inline constexpr char kBackoff[] = "BACKOFF";
inline constexpr char kHeld[] = "HELD";
inline constexpr char kWaitingForNeeds[] = "WAITING_FOR_NEEDS";
inline constexpr char kWaitingForCheckpoint[] = "WAITING_FOR_CHECKPOINT";
inline constexpr char kWaitingForResult[] = "WAITING_FOR_RESULT";
// In Explain only.
inline constexpr char kNoSuchDevice[] = "NO_SUCH_DEVICE";
inline constexpr char kNoSuchKernel[] = "NO_SUCH_KERNEL";
inline constexpr char kNoWorker[] = "NO_WORKER";
inline constexpr char kWorkersClosed[] = "WORKERS_CLOSED";
inline constexpr char kQueueLimit[] = "QUEUE_LIMIT";
inline constexpr char kOwnerLimit[] = "OWNER_LIMIT";
inline constexpr char kParentLimit[] = "PARENT_LIMIT";
inline constexpr char kReserved[] = "RESERVED";
inline constexpr char kOtherFirst[] = "OTHER_FIRST";
// Of a job with a live attempt.
inline constexpr char kStarting[] = "STARTING";
inline constexpr char kRunning[] = "RUNNING";
// How an attempt ended.
inline constexpr char kFinished[] = "FINISHED";
inline constexpr char kCancelledByUser[] = "CANCELLED_BY_USER";
inline constexpr char kStoppedEarly[] = "STOPPED_EARLY";
inline constexpr char kBadSpec[] = "BAD_SPEC";
inline constexpr char kDataMissing[] = "DATA_MISSING";
inline constexpr char kNonFinite[] = "NON_FINITE";
inline constexpr char kCheckpointDamaged[] = "CHECKPOINT_DAMAGED";
inline constexpr char kTrainerFailed[] = "TRAINER_FAILED";
inline constexpr char kTrainerKilled[] = "TRAINER_KILLED";
inline constexpr char kHang[] = "HANG";
inline constexpr char kStartFailed[] = "START_FAILED";
inline constexpr char kOutOfMemory[] = "OUT_OF_MEMORY";
inline constexpr char kDeviceError[] = "DEVICE_ERROR";
inline constexpr char kStorageError[] = "STORAGE_ERROR";
inline constexpr char kNcclError[] = "NCCL_ERROR";
inline constexpr char kPartFailed[] = "PART_FAILED";
inline constexpr char kWorkerLost[] = "WORKER_LOST";
inline constexpr char kHostFailed[] = "HOST_FAILED";
inline constexpr char kFolderTaken[] = "FOLDER_TAKEN";
inline constexpr char kStopped[] = "STOPPED";
inline constexpr char kPreempted[] = "PREEMPTED";
inline constexpr char kPeerLost[] = "PEER_LOST";
inline constexpr char kRunTimeLimit[] = "RUN_TIME_LIMIT";
// Of a job whose last allowed attempt failed, or was interrupted.
inline constexpr char kAttemptsExhausted[] = "ATTEMPTS_EXHAUSTED";
inline constexpr char kInterruptionsExhausted[] = "INTERRUPTIONS_EXHAUSTED";
// Of a job that never starts again.
inline constexpr char kNeedFailed[] = "NEED_FAILED";
inline constexpr char kQueueTimeLimit[] = "QUEUE_TIME_LIMIT";
// Of a job that was made for an uploaded checkpoint.
inline constexpr char kImported[] = "IMPORTED";

inline constexpr const char* kAll[] = {
    kWaitingForDevice,
    kBackoff,
    kHeld,
    kWaitingForNeeds,
    kWaitingForCheckpoint,
    kWaitingForResult,
    kNoSuchDevice,
    kNoSuchKernel,
    kNoWorker,
    kWorkersClosed,
    kQueueLimit,
    kOwnerLimit,
    kParentLimit,
    kReserved,
    kOtherFirst,
    kStarting,
    kRunning,
    kFinished,
    kCancelledByUser,
    kStoppedEarly,
    kBadSpec,
    kDataMissing,
    kNonFinite,
    kCheckpointDamaged,
    kTrainerFailed,
    kTrainerKilled,
    kHang,
    kStartFailed,
    kOutOfMemory,
    kDeviceError,
    kStorageError,
    kNcclError,
    kPartFailed,
    kWorkerLost,
    kHostFailed,
    kFolderTaken,
    kStopped,
    kPreempted,
    kPeerLost,
    kRunTimeLimit,
    kAttemptsExhausted,
    kInterruptionsExhausted,
    kNeedFailed,
    kQueueTimeLimit,
    kImported,
};

// Those that an attempt may end with.
inline constexpr const char* kAttemptEnds[] = {
    kFinished,          kCancelledByUser,
    kStoppedEarly,      kBadSpec,
    kDataMissing,       kNonFinite,
    kCheckpointDamaged, kTrainerFailed,
    kTrainerKilled,     kHang,
    kStartFailed,       kOutOfMemory,
    kDeviceError,       kStorageError,
    kNcclError,         kPartFailed,
    kWorkerLost,        kHostFailed,
    kFolderTaken,       kStopped,
    kPreempted,         kPeerLost,
    kRunTimeLimit,
};

}  // namespace ordo::scheduler::core::reason

#endif  // ORDO_SCHEDULER_CORE_REASONS_H_
