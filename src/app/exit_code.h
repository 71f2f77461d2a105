// What the program says to the shell.
#pragma once

namespace jarvis::app {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;        // understood, and not done; the reason is on stderr
inline constexpr int kExitUsage = 2;          // not understood
inline constexpr int kExitGate = 3;           // compare --fail-on: a condition is broken
inline constexpr int kExitInterrupted = 130;  // sweep run: by SIGINT or SIGTERM
inline constexpr int kExitSignal = 128;       // plus the signal's number

}  // namespace jarvis::app
