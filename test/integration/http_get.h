#pragma once

#include <string>

#include "pkg/http/message.h"

namespace hekla::test {

// A port that was free a moment ago.
int FreePort();

// GET on 127.0.0.1; status 0 where nobody answers.
http::Response Get(int port, const std::string& path);

// A client on 127.0.0.1 that sends what it is told to.
class RawConnection {
 public:
  explicit RawConnection(int port);
  ~RawConnection();
  RawConnection(RawConnection&& other) noexcept;
  RawConnection& operator=(RawConnection&&) = delete;

  void Send(const std::string& text);
  // What has come until now, and whether the other side has ended the connection.
  const std::string& received();
  bool closed();

 private:
  void Receive();

  int fd_;
  std::string received_;
  bool closed_ = false;
};

}  // namespace hekla::test
