// One request that runs on a worker, between its arrival and its answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/job.h"
#include "json/json.h"
#include "mcp/call_context.h"
#include "mcp/envelope.h"
#include "mcp/tool.h"
#include "rpc/message.h"
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

struct CallReply {
  rpc::RpcResult<Json> result;          // in the form of the request's revision
  std::optional<InputNeeded> ask = {};  // instead
};

struct CallPlan {
  std::string label;  // "tools/call load_trace"
  ToolCost cost = ToolCost::kQuick;
  TaskUse task = TaskUse::kNever;
  bool asks_first = false;
  Json subject = {};  // what is asked for: the params that stay the same from round to round
  std::function<CallReply(const Json& subject, CallContext& context)> run = {};
};

// Stays where it is made: the job knows its address.
struct Call {
  using OnProgress = std::function<void(const Call& call, ProgressScale::Point, std::string_view)>;

  Call(Json request_id, Envelope request_envelope, CallPlan call_plan, OnProgress on_progress)
      : id(std::move(request_id)),
        envelope(std::move(request_envelope)),
        plan(std::move(call_plan)),
        job(MakeProgress(std::move(on_progress))) {}

  const Json id;
  const Envelope envelope;
  const CallPlan plan;
  Job job;
  std::shared_ptr<rpc::Channel> channel;  // of the answer and what comes before it
  // Of the run that is about to start, as in CallContext.
  Json inputs = Json::object();
  Json state;

  // Guarded by the connection.
  bool withdrawn = false;   // by the client: nothing more is sent
  std::string task;         // not empty: the client asks after it under this id
  std::size_t awaited = 0;  // answers of the client that have not come

 private:
  // Without a token or a task there is nobody to tell.
  Job::Progress MakeProgress(OnProgress on_progress) {
    if (envelope.progress_token.is_null() && plan.task == TaskUse::kNever) return {};
    return [this, scale = ProgressScale(), report = std::move(on_progress)](
               std::uint64_t done, std::uint64_t total, std::string_view what) mutable {
      if (const auto point = scale.Next(done, total)) report(*this, *point, what);
    };
  }
};

}  // namespace jarvis::mcp
