#pragma once

#include <string>

#include "pkg/http/message.h"

namespace hekla::test {

// A port that was free a moment ago.
int FreePort();

// GET on 127.0.0.1; status 0 where nobody answers.
http::Response Get(int port, const std::string& path);

}  // namespace hekla::test
