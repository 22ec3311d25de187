#pragma once

// As pch.h, for test programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmake/pch.h"
