#include "server/cli/command_line.h"

// Read by jemalloc before main. Memory that threads leave behind when they have nothing to do goes
// back to the system all the same: without a thread for that, an arena is only looked after by who
// allocates in it.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "background_thread:true";
}

int main(int argc, char** argv) { return reprise::server::cli::run(argc, argv); }
