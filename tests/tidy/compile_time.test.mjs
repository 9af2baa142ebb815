// No file takes over 8 s to compile. Ninja's log tells what the release build took; one that seems too slow there is
// compiled once more and its processor time counts, so that a busy machine is not taken for a slow file. What came
// out of ccache shows as quick: it was measured when it was compiled.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { build, compileCommands } from './clang.mjs';
import { expectNone } from './tree.mjs';

// style.md says 8 s on a quiet machine. Processor time on shared cores reads up to a quarter more, so what is
// refused here is what is over 8 s beyond that noise.
const limitMs = 10000;

test('no file takes over 8 s to compile', () => {
  const log = path.join(build, '.ninja_log');
  assert.ok(existsSync(log), 'build/release is not built: ./test --only tidy does both');
  const took = new Map();  // the last entry of an object counts
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [start, end, , output] = line.split('\t');
    if (output?.endsWith('.o')) took.set(output, Number(end) - Number(start));
  }
  const commands = compileCommands();
  assert.ok(commands.some(({ output }) => took.has(output)), 'nothing in .ninja_log is an object of the build');
  const slow = commands.filter(({ output }) => took.get(output) > limitMs)
    .map((entry) => [entry.source, processorMs(entry)]).filter(([, ms]) => ms > limitMs);
  expectNone(slow);
});

function processorMs({ directory, output }) {
  // With the precompiled header, past ccache, and without writing the object. The launcher that does both is in what
  // ninja runs, and not in compile_commands.json.
  const command = execFileSync('ninja', ['-t', 'commands', '-s', output], { cwd: directory, encoding: 'utf8' }).trim();
  const compile = command.replace(`-o ${output}`, '-o /dev/null').replace(/ -M[DTF]+( \S+\.[od])?/g, '');
  const spent = execFileSync('bash', ['-c', `TIMEFORMAT='%U %S'; { time ${compile} >&2 2>/dev/null; } 2>&1`],
                             { cwd: directory, encoding: 'utf8',
                               env: { ...process.env, REPRISE_WITHOUT_CCACHE: '1' } });
  const [user, system] = spent.trim().split('\n').at(-1).split(' ').map(Number);
  return Math.round((user + system) * 1000);
}
