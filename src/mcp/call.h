// One tools/call between its arrival and its answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/job.h"
#include "mcp/envelope.h"
#include "mcp/tool.h"
#include "rpc/json.h"
#include "rpc/transport.h"

namespace jarvis::mcp {

// Makes the numbers of progress notifications rise strictly. A job may count each of its phases
// from zero; the phases are put one after the other.
class ProgressScale {
 public:
  struct Point {
    std::uint64_t done;
    std::uint64_t total;  // 0: not known
  };
  // Nothing when there is no progress to tell.
  std::optional<Point> Next(std::uint64_t done, std::uint64_t total) {
    if (done < last_raw_) base_ = last_sent_;
    last_raw_ = done;
    const std::uint64_t value = base_ + done;
    if (value <= last_sent_) return std::nullopt;
    last_sent_ = value;
    return Point{value, total == 0 ? 0 : base_ + total};
  }

 private:
  std::uint64_t base_ = 0;
  std::uint64_t last_raw_ = 0;
  std::uint64_t last_sent_ = 0;
};

// Stays where it is made: the job knows its address.
struct Call {
  using OnProgress = std::function<void(const Call& call, ProgressScale::Point, std::string_view)>;

  Call(const Tool& called, rpc::Json request_id, Envelope request_envelope, rpc::Json given,
       OnProgress on_progress)
      : tool(called),
        id(std::move(request_id)),
        envelope(std::move(request_envelope)),
        arguments(std::move(given)),
        job(MakeProgress(std::move(on_progress))) {}

  const Tool& tool;
  const rpc::Json id;
  const Envelope envelope;
  const rpc::Json arguments;
  Job job;
  std::shared_ptr<rpc::Channel> channel;  // of the answer and the progress
  bool withdrawn = false;  // by the client: nothing more is sent. Guarded by the connection.

 private:
  // Without a token there is nobody to tell.
  Job::Progress MakeProgress(OnProgress on_progress) {
    if (envelope.progress_token.is_null()) return {};
    return [this, scale = ProgressScale(), report = std::move(on_progress)](
               std::uint64_t done, std::uint64_t total, std::string_view what) mutable {
      if (const auto point = scale.Next(done, total)) report(*this, *point, what);
    };
  }
};

}  // namespace jarvis::mcp
