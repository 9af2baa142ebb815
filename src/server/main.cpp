#include "server/cli/command_line.h"

int main(int argc, char** argv) { return reprise::server::cli::run(argc, argv); }
