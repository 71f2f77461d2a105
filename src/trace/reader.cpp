#include "trace/reader.h"

#include <utility>

#include "trace/repair.h"
#include "trace/store_builder.h"

namespace jarvis::trace {
namespace {

// All of every slice.
class WholeSink : public SliceSink {
 public:
  explicit WholeSink(EventStore* store) : builder_(store) {}
  bool Append(const SliceText&, const DecodedSlice& slice) override {
    return builder_.Append(slice);
  }
  void Finish() { builder_.Finish(); }

 private:
  StoreBuilder builder_;
};

}  // namespace

void TakeFacts(FileFacts facts, Trace* trace) {
  EventStore& events = trace->events;
  events.elements = facts.elements;
  events.text_bytes = facts.text_bytes;
  events.dialect.bare_array = facts.bare_array;
  trace->damage = std::move(facts.damage);
  trace->partial = !trace->damage.empty();
  trace->metadata = std::move(facts.metadata);
}

Result<Trace> ReadTrace(io::ByteSource& bytes, const ReadOptions& options, Job& job) {
  Trace trace;
  {
    WholeSink sink(&trace.events);
    SliceReader reader(bytes, options.bytes_max, job);
    JV_TRY(RunPipeline(options.threads, &reader, &sink, &job, &bytes));
    sink.Finish();
    JV_ASSIGN(FileFacts facts, FactsAtEnd(bytes, reader, &trace.events.oddities));
    JV_TRY(CheckHasEvents(!trace.events.events.empty(), reader, trace.events.oddities));
    TakeFacts(std::move(facts), &trace);
  }
  trace.track_names = ReadTrackNames(trace.events);
  Repair(&trace.events);
  return trace;
}

}  // namespace jarvis::trace
