// The precompiled header of unit tests.
#pragma once
#include <gtest/gtest.h>

#include "precompiled.h"
