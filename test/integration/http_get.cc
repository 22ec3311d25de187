#include "test/integration/http_get.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

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
