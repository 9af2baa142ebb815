// The public suite, pointed at the server under test (durable-streams.test.mjs runs it).
import { runConformanceTests } from '@durable-streams/server-conformance-tests';

runConformanceTests({
  baseUrl: process.env.REPRISE_URL,
  longPollTimeoutMs: 500,
  subscriptions: process.env.REPRISE_SUBSCRIPTIONS === '1',
});
