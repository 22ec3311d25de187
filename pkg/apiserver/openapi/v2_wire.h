#pragma once

#include <string>

#include "pkg/apis/json/value.h"

namespace hekla::apiserver::openapi {

// An OpenAPI v2 document (as V2Document gives it) in the protobuf form of `openapi.v2.Document`:
// swagger, info and the definitions with what kubectl reads of a schema. Keywords that v2 does not
// know are left out.
std::string EncodeV2(const apis::json::Value& document);

}  // namespace hekla::apiserver::openapi
