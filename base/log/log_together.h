#ifndef ORDO_BASE_LOG_LOG_TOGETHER_H_
#define ORDO_BASE_LOG_LOG_TOGETHER_H_

namespace ordo::base {

// While one lives, lines that its thread logs may be kept back; at its end all
// are written. For who logs thousands at once: a system call for each line
// costs more than the line. A process that is killed meanwhile loses them.
class LogTogether {
 public:
  LogTogether();
  ~LogTogether();
  LogTogether(const LogTogether&) = delete;
  LogTogether& operator=(const LogTogether&) = delete;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_LOG_LOG_TOGETHER_H_
