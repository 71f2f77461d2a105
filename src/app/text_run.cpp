#include "app/text_run.h"

#include <unistd.h>

#include "app/progress_line.h"
#include "rpc/signal_watcher.h"

namespace jarvis::app {

Result<std::string> RunForText(const std::function<Result<std::string>(Job& job)>& make) {
  ProgressLine line(STDERR_FILENO);
  Job job([&](std::uint64_t done, std::uint64_t total, std::string_view what) {
    line.Show(done, total, what);
  });
  const auto watcher = rpc::SignalWatcher::Start([&](int) { job.Stop(); });
  return make(job);
}

}  // namespace jarvis::app
