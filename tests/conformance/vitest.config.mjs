// The suite is run by durable-streams.test.mjs, not found by its name.
export default { test: { include: ['suite.vitest.mjs'] } };
