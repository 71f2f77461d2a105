// Writes answers in HTTP/1.1: status line, headers, a body of known length or a chunked stream.
// The one place that knows cpp-httplib.
//
// The library's reading side is not used. Version 0.11.4 takes the rest of a refused request for
// the next one, limits no chunked body, decodes percent signs in header values, loses pipelined
// bytes, keeps a worker per idle connection and compresses with brotli at its slowest level. Here
// it is shown a request of two fixed lines, whatever the client sent, so none of that can happen:
// http_socket.h and http_message.h read the wire, http_server.h has the threads.
//
// Threads: one at a time.
#pragma once

#include <memory>

#include "rpc/http_message.h"
#include "rpc/http_socket.h"

namespace jarvis::rpc {

class HttpWriter {
 public:
  HttpWriter();
  HttpWriter(const HttpWriter&) = delete;
  HttpWriter& operator=(const HttpWriter&) = delete;
  ~HttpWriter();

  // `head_only`: the request was HEAD. Sends Connection: close if `close`. False: the answer is not
  // complete and the connection is of no further use.
  bool Write(HttpSocket& socket, HttpReply reply, bool head_only, bool close);

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace jarvis::rpc
