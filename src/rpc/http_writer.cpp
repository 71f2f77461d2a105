#include "rpc/http_writer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <httplib.h>

namespace jarvis::rpc {
namespace {

// What the library reads is the fixed request; what it writes goes to the socket.
// The library writes the head of an answer first and then its body; `join` lets them leave
// together.
class CannedStream : public httplib::Stream {
 public:
  CannedStream(HttpSocket& socket, std::string_view request, bool join)
      : socket_(socket), request_(request), join_(join) {}

  bool is_readable() const override { return !request_.empty(); }
  bool is_writable() const override { return !broken_ && !socket_.PeerGone(); }
  ssize_t read(char* to, std::size_t size) override {
    const std::size_t taken = std::min(size, request_.size());
    std::memcpy(to, request_.data(), taken);
    request_.remove_prefix(taken);
    return static_cast<ssize_t>(taken);
  }
  ssize_t write(const char* from, std::size_t size) override {
    if (join_ && held_.empty()) {
      held_.assign(from, size);
      return static_cast<ssize_t>(size);
    }
    return Send({from, size}) ? static_cast<ssize_t>(size) : -1;
  }
  // What was held back. False: that or something before it did not reach the socket.
  bool Flush() { return held_.empty() ? !broken_ : Send({}); }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return 0; }  // only compared with limits of select()

 private:
  bool Send(std::string_view piece) {
    broken_ = broken_ || !socket_.Write(held_, piece);
    held_.clear();
    join_ = false;
    return !broken_;
  }

  HttpSocket& socket_;
  std::string_view request_;
  bool join_;
  std::string held_;
  bool broken_ = false;
};

class ChunkStream : public HttpStream {
 public:
  explicit ChunkStream(httplib::DataSink& sink) : sink_(sink) {}
  // An empty piece would look like the end of the body.
  bool Write(std::string_view bytes) override {
    return bytes.empty() || sink_.write(bytes.data(), bytes.size());
  }

 private:
  httplib::DataSink& sink_;
};

}  // namespace

class HttpWriter::Library : public httplib::Server {
 public:
  Library() {
    // The library ends streams when it has no listening socket; this one is never used as one.
    svr_sock_ = 0;
    set_pre_routing_handler([this](const httplib::Request&, httplib::Response& response) {
      Fill(response);
      return HandlerResponse::Handled;
    });
    // It adds a Keep-Alive header with numbers of its own.
    set_post_routing_handler([](const httplib::Request&, httplib::Response& response) {
      response.headers.erase("Keep-Alive");
      if (response.status == 204) response.headers.erase("Content-Length");
    });
  }

  bool Write(HttpSocket& socket, HttpReply reply, bool head_only, bool close) {
    reply_ = std::move(reply);
    streamed_ = true;
    CannedStream stream(socket, head_only ? "HEAD / HTTP/1.1\r\n\r\n" : "POST / HTTP/1.1\r\n\r\n",
                        /*join=*/!reply_.stream);
    bool closed = false;
    const bool written = process_request(stream, close, closed, nullptr);
    reply_ = HttpReply();  // what it owns must not wait for the next request
    return stream.Flush() && written && streamed_;
  }

 private:
  void Fill(httplib::Response& response) {
    response.status = reply_.status;
    for (const HttpHeader& header : reply_.headers)
      response.set_header(header.name, header.value);
    if (reply_.stream) {
      response.set_chunked_content_provider(reply_.content_type,
                                            [this](std::size_t, httplib::DataSink& sink) {
                                              ChunkStream stream(sink);
                                              streamed_ = reply_.stream(stream);
                                              if (streamed_) sink.done();
                                              return streamed_;
                                            });
    } else if (!reply_.body.empty()) {
      response.body = std::move(reply_.body);
      response.set_header("Content-Type", reply_.content_type);
    }
  }

  HttpReply reply_;
  bool streamed_ = true;
};

HttpWriter::HttpWriter() : library_(std::make_unique<Library>()) {}
HttpWriter::~HttpWriter() = default;

bool HttpWriter::Write(HttpSocket& socket, HttpReply reply, bool head_only, bool close) {
  return library_->Write(socket, std::move(reply), head_only, close);
}

}  // namespace jarvis::rpc
