#pragma once

#include "pkg/framework/plugin.h"

namespace hekla::plugins {

// Every plugin the program has, by name.
framework::PluginRegistry AllPlugins();

}  // namespace hekla::plugins
