#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "pkg/framework/plugin_option.h"

namespace hekla::conf {

// The YAML key of an enable flag -> the flag; nullptr where the key is none. Upstream's prefixes
// are irregular (`enable`, `enabled`) and kept. Source: spec scheduler-core 2.2.
bool framework::EnableFlags::*FindEnableFlag(absl::string_view key);

// The right key for one with the other prefix ("enableOverused" -> "enabledOverused"); "" if none.
std::string RightlyPrefixed(absl::string_view key);

}  // namespace hekla::conf
