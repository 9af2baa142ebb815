// The generator's command line: `reprise_load LOAD --name value ...`.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "target.h"

namespace reprise::load {

struct Options {
  std::string load;
  Target target = Target::kReprise;
  std::uint16_t port = 0;
  pid_t server = 0;              // --pid: whose processor time is measured
  std::vector<std::string> ids;  // --ids FILE, one per line
  std::uint64_t connections = 64;
  std::uint64_t readers = 1;
  std::uint64_t batch = 1;   // events per call
  std::uint64_t count = 0;   // calls in all; 0: until --seconds are over
  std::uint64_t window = 1;  // fan-out: calls that may be under way before all readers have them
  std::uint64_t after = 0;   // open, replay: the cursor
  std::size_t size = 300;    // bytes of an event
  double seconds = 5;
  double rate = 0;           // calls per second, open loop; 0: as fast as answers come
  bool is_named = false;     // create: with a name
  std::string prefix = "s";  // create: names begin with this
  std::string out;           // create: where the new ids are written
};

Options parse_options(int count, char** words);

// One function per load; each prints one JSON line.
void run_append(const Options& options);
void run_create(const Options& options);
void run_replay(const Options& options);
void run_fanout(const Options& options);
void run_idle(const Options& options);
void run_open(const Options& options);
void run_disk(const Options& options);
void run_send(const Options& options);

}  // namespace reprise::load
