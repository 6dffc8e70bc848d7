#ifndef ORDO_BASE_PROCESS_STACKS_H_
#define ORDO_BASE_PROCESS_STACKS_H_

namespace ordo::base {

// From here on SIGQUIT makes this process print the stacks of all its threads
// to standard error and end by that signal: what one does to a program that
// hangs. It needs no other process, no privilege and no memory. A thread that
// does not answer, as it blocks the signal or the kernel holds it, is named
// with what it waits in. Takes three seconds at most, all but the kernel's own
// time.
//
// Frames are "file(symbol+offset)" or "file(+offset)", for
// `addr2line -Cfie FILE OFFSET`; symbols are as the linker knows them
// (c++filt). Call it early: the first backtrace of a process loads a library.
void PrintStacksOnQuit();

}  // namespace ordo::base

#endif  // ORDO_BASE_PROCESS_STACKS_H_
