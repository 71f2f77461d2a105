// Between the wire and the protocol. A transport turns bytes into messages for a Receiver and is
// the Channel on which the answers go back.
//
// Threads: a transport calls its Receiver from one thread at a time. Channel::Send may be called
// from any thread, also from within Receiver calls.
#pragma once

#include <string_view>

#include "json/json.h"

namespace jarvis::rpc {

class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  // Messages arrive whole and in the order of the calls. A peer that is gone is no error here.
  virtual void Send(const Json& message) = 0;
  // Nothing more comes for the message that this channel was made for, not even an answer.
  virtual void Finish() {}
  // The connection is closed although the answer is to come; the client knows how to come back
  // for it. Nothing happens where there is no such way.
  virtual void HangUp() {}
};

class Receiver {
 public:
  Receiver() = default;
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  virtual ~Receiver() = default;

  // One message, not blank; not checked in any way. The view ends with the call.
  virtual void OnMessage(std::string_view text) = 0;
  // A message over the transport's limit was skipped.
  virtual void OnOverlong() = 0;
};

}  // namespace jarvis::rpc
