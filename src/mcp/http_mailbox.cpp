#include "mcp/http_mailbox.h"

#include <utility>

#include <sys/eventfd.h>

#include "base/check.h"

namespace jarvis::mcp {

std::shared_ptr<Mailbox> Mailbox::Make() {
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return nullptr;
  return std::shared_ptr<Mailbox>(new Mailbox(std::move(wake)));
}

void Mailbox::Send(const Json& message) {
  const std::lock_guard lock(mutex_);
  if (over_) return;
  if (message.is_array() || !message.contains("method")) {
    answer_ = message;
    over_ = true;
  } else if (notifications_.size() < kNotificationsMax) {
    notifications_.push_back(message);
  } else {
    notifications_.back() = message;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!over_ && message["method"] == "notifications/progress") {
    if (now - woken_ < kProgressInterval) return;
  }
  woken_ = now;
  WakeLocked();
}

void Mailbox::Finish() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  WakeLocked();
}

void Mailbox::HangUp() {
  const std::lock_guard lock(mutex_);
  hang_up_ = true;
  WakeLocked();
}

void Mailbox::Wake() {
  const std::lock_guard lock(mutex_);
  WakeLocked();
}

void Mailbox::WakeLocked() {
  if (!wake_.valid() || woken_up_) return;
  woken_up_ = true;
  ::eventfd_write(wake_.get(), 1);
}

void Mailbox::Sleep() {
  const std::lock_guard lock(mutex_);
  wake_ = FileDescriptor();
  woken_up_ = false;
}

bool Mailbox::Rouse() {
  const std::lock_guard lock(mutex_);
  if (!wake_.valid()) {
    wake_ = FileDescriptor(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
    woken_up_ = true;
  }
  return wake_.valid();
}

int Mailbox::wake_fd() const {
  const std::lock_guard lock(mutex_);
  JV_DCHECK(wake_.valid());
  return wake_.get();
}

Mailbox::Mail Mailbox::Take() {
  const std::lock_guard lock(mutex_);
  eventfd_t ignored = 0;
  if (std::exchange(woken_up_, false) && wake_.valid()) ::eventfd_read(wake_.get(), &ignored);
  Mail mail;
  mail.notifications.assign(notifications_.begin(), notifications_.end());
  notifications_.clear();
  mail.answer = std::exchange(answer_, Json());
  mail.over = over_;
  mail.hang_up = std::exchange(hang_up_, false);
  return mail;
}

}  // namespace jarvis::mcp
