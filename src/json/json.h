#pragma once
#include "rpc/json.h"
namespace jarvis {
using rpc::Json;
}
