// reprise_load: the load generator of bench/run. One thread, epoll, loopback only. See
// bench/README.md.
#include <sys/prctl.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>

#include "net.h"
#include "options.h"

namespace reprise::load {
namespace {

constexpr std::string_view kHelp =
    R"(reprise_load LOAD --target reprise|durable-streams|redis --port N [options]

loads
  append   durable appends over --connections, spread over --ids;
           --batch events a call; --rate for open loop
  create   new logs; --count or --seconds; --named; ids go to --out
  replay   one log from its beginning to its end on one connection; --count times, one at a time
  fanout   one writer, --readers live readers of the first id
  idle     --readers live readers of --ids; prints a line, then holds them until standard input ends
  open     opens a stream at --after, waits until it is live, closes it;
           --count times, one at a time
  disk     what one 4 KiB write with fdatasync costs in the present directory
  send     what one send to each of --readers loopback connections costs, and nothing else

options
  --pid N --ids FILE --connections 64 --readers 1 --batch 1 --count 0 --window 1 --after 0
  --size 300
  --seconds 5 --rate 0 --named --prefix s --out FILE
)";

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  if (!file) die("cannot read " + path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

}  // namespace

Options parse_options(int count, char** words) {
  if (count < 2 || std::string_view(words[1]) == "--help") {
    std::fputs(kHelp.data(), stdout);
    std::exit(count < 2 ? 2 : 0);
  }
  Options options;
  options.load = words[1];
  for (int i = 2; i < count; ++i) {
    const std::string_view name = words[i];
    if (name == "--named") {
      options.is_named = true;
      continue;
    }
    if (i + 1 == count) die(std::string(name) + " needs a value");
    const std::string value = words[++i];
    const auto number = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--target")
      options.target = parse_target(value);
    else if (name == "--port")
      options.port = static_cast<std::uint16_t>(number);
    else if (name == "--pid")
      options.server = static_cast<pid_t>(number);
    else if (name == "--ids")
      options.ids = read_lines(value);
    else if (name == "--connections")
      options.connections = number;
    else if (name == "--readers")
      options.readers = number;
    else if (name == "--batch")
      options.batch = number;
    else if (name == "--count")
      options.count = number;
    else if (name == "--window")
      options.window = number;
    else if (name == "--after")
      options.after = number;
    else if (name == "--size")
      options.size = number;
    else if (name == "--seconds")
      options.seconds = std::strtod(value.c_str(), nullptr);
    else if (name == "--rate")
      options.rate = std::strtod(value.c_str(), nullptr);
    else if (name == "--prefix")
      options.prefix = value;
    else if (name == "--out")
      options.out = value;
    else
      die("unknown option " + std::string(name));
  }
  return options;
}

}  // namespace reprise::load

int main(int count, char** words) {
  using namespace reprise::load;
  const auto options = parse_options(count, words);
  raise_descriptor_limit();
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL,
        0UL);  // paced loads wait for microseconds, not for 50 of them
  const std::map<std::string, void (*)(const Options&)> loads = {
      {"append", run_append}, {"create", run_create}, {"replay", run_replay},
      {"fanout", run_fanout}, {"idle", run_idle},     {"open", run_open},
      {"disk", run_disk},     {"send", run_send},
  };
  const auto load = loads.find(options.load);
  if (load == loads.end()) die("unknown load " + options.load);
  load->second(options);
}
