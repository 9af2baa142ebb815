// Starts the Node peer and says where it listens in the same words Reprise uses, so that the
// harness waits for both alike.
//
//     node durable-streams.mjs DATA_DIRECTORY    file-backed
//     node durable-streams.mjs                   in memory, its default
//
// Set in the peer's favour: compression is off (nobody else in the comparison compresses), and its
// pool of open files holds every stream of the largest load. The server's own `dataDir` option
// gives a pool of 100, which with 10,000 streams evicts files under way and answers most appends
// with an error, so the store is made here and put in.
import {DurableStreamTestServer, FileBackedStreamStore} from "@durable-streams/server";

const maxFileHandles = 16_000;

const server = new DurableStreamTestServer({host: "127.0.0.1", port: 0, compression: false});
const dataDir = process.argv[2];
if (dataDir) server.store = new FileBackedStreamStore({dataDir, maxFileHandles});
const url = await server.start();
process.stdout.write(`listening on ${url ?? server.url}\n`);
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => server.stop().finally(() => process.exit(0)));
}
