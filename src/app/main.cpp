// Picks a command. The second wall: nothing thrown leaves the program.
#include <algorithm>
#include <csignal>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <malloc.h>

#include "app/cache_options.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/help.h"
#include "app/toolbox.h"
#include "base/check.h"
#include "base/parallel.h"

namespace jarvis::app {
namespace {

// Each heap of the C library keeps what is freed in it for itself, and threads that share one wait
// for each other. Pieces of work have pieces of their own, so that there are more threads than
// cores.
void LimitHeaps() {
  ::mallopt(M_ARENA_MAX, 2 * std::max(2, DefaultThreads()));
}

// A server lives long: what is large is the system's again as soon as it is freed. By default the
// library keeps ever larger blocks once it has seen one freed.
void GiveBackFreedMemory() {
  LimitHeaps();
  ::mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

// A command makes and drops large tables and texts one after the other. What is freed stays with
// the program, which would otherwise ask the system for it again and again, page by page.
void KeepFreedMemory() {
  LimitHeaps();
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
  ::mallopt(M_TOP_PAD, 4 << 20);
}

int PrintHelp() {
  const Toolbox toolbox;
  return Print(ProgramHelp(toolbox.tools)) ? kExitOk : kExitFailure;
}

int Run(Arguments arguments) {
  if (arguments.empty()) return UsageError("no command given");
  if (arguments.front() == "--no-cache") {
    TurnCacheOff();
    return Run(arguments.subspan(1));
  }
  const std::string_view name = arguments.front();
  const Arguments rest = arguments.subspan(1);
  if (name == "--help" || name == "-h" || name == "help") return PrintHelp();
  if (name == "--version") return Print("jarvis " JARVIS_VERSION) ? kExitOk : kExitFailure;
  const auto* command = std::find_if(std::begin(kCommands), std::end(kCommands),
                                     [&](const Command& c) { return c.name == name; });
  name == "serve" ? GiveBackFreedMemory() : KeepFreedMemory();
  if (command != std::end(kCommands)) return command->run(rest);
  return RunToolCommand(name, rest);
}

}  // namespace
}  // namespace jarvis::app

int main(int argc, char** argv) {
  // A file that would grow beyond its limit is an error of the write, not the end of the server.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    return jarvis::app::Run(arguments);
  } catch (const jarvis::CheckFailure& failure) {
    jarvis::app::PrintError(std::string("internal error: ") + failure.what());
    return jarvis::app::kExitFailure;
  } catch (const std::bad_alloc&) {
    jarvis::app::PrintError("not enough memory");
    return jarvis::app::kExitFailure;
  } catch (const std::exception& exception) {
    jarvis::app::PrintError(exception.what());
    return jarvis::app::kExitFailure;
  }
}
