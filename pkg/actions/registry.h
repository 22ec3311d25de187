#pragma once

#include "pkg/framework/plugin.h"

namespace hekla::actions {

// Every action the program has, by name.
framework::ActionRegistry AllActions();

}  // namespace hekla::actions
