#include "test/integration/http_get.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pkg/http/beast_transport.h"

namespace hekla::test {

int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

RawConnection::RawConnection(int port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
}

RawConnection::~RawConnection() {
  if (fd_ >= 0) ::close(fd_);
}

RawConnection::RawConnection(RawConnection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      received_(std::move(other.received_)),
      closed_(other.closed_) {}

void RawConnection::Send(const std::string& text) {
  ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
}

void RawConnection::Receive() {
  char piece[4096];
  while (!closed_) {
    const ssize_t n = ::recv(fd_, piece, sizeof(piece), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    closed_ = n <= 0;
    if (n > 0) received_.append(piece, static_cast<size_t>(n));
  }
}

const std::string& RawConnection::received() {
  Receive();
  return received_;
}

bool RawConnection::closed() {
  Receive();
  return closed_;
}

http::Response Get(int port, const std::string& path) {
  http::BeastTransport::Options options;
  options.url = absl::StrCat("http://127.0.0.1:", port);
  auto transport = http::BeastTransport::Create(std::move(options));
  http::Request request;
  request.method = "GET";
  request.target = path;
  const auto response = http::SendAndWait(**transport, std::move(request), absl::Seconds(5));
  return response.ok() ? *response : http::Response();
}

}  // namespace hekla::test
