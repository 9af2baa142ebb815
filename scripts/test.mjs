// Builds and runs every test, two processes at a time, and counts. ./test installs what this needs and calls it.
//
// A stage is a name, what it builds, and what it runs. A run ends as {passed, failed, output}; the output of
// what failed is kept and printed at the end, where a reader finds it. A crash, a time-out, a skipped test and a
// build that fails are failures. The last line is `N passed, N failed`.
import { execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
const stageNames = ['unit', 'tidy', 'sim', 'page', 'e2e', 'web', 'conformance', 'crash', 'budget', 'fuzz', 'asan', 'tsan'];
const jobs = Math.max(2, availableParallelism?.() ?? cpus().length);
const outputKept = 64 * 1024;

const options = parseArguments(process.argv.slice(2));
const totals = { passed: 0, failed: 0 };
const failures = [];  // {what, output}
const times = [];     // {what, seconds}
const children = new Set();
const builds = new Map();  // preset -> whether it was built
let secondsBuilding = 0;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const child of children) killGroup(child, 'SIGKILL');
    process.exit(130);
  });
}

for (const stage of stageNames) {
  if (options.stages.has(stage)) await runStage(stage);
}
report();

function parseArguments(args) {
  const stages = new Set();
  let quick = false;
  for (let i = 0; i < args.length; ++i) {
    if (args[i] === '--quick') quick = true;
    else if (args[i] === '--only' && stageNames.includes(args[i + 1])) stages.add(args[++i]);
    else usage(args[i]);
  }
  if (stages.size === 0) {
    for (const stage of stageNames) if (!quick || !['asan', 'tsan'].includes(stage)) stages.add(stage);
  }
  return { stages, quick };
}

function usage(argument) {
  console.error(`test: ${argument} is not understood. ./test [--quick] [--only ${stageNames.join('|')}]...`);
  process.exit(2);
}

async function runStage(stage) {
  const run = {
    unit: async () => await built('release') && runPrograms(unitTests('release'), gtest('release', 300)),
    asan: async () => await built('asan') && runPrograms(unitTests('asan'), gtest('asan', 600)),
    tsan: async () => await built('tsan') && runPrograms(unitTests('tsan'), gtest('tsan', 600)),
    fuzz: async () => await built('asan') && runPrograms(fuzzers(), fuzz),
    sim: async () => await built('release') && runPrograms(simulations(), simulate),
    tidy: async () => await built('release') && runPrograms(nodeTests('tests/tidy'), nodeTest),
    page: async () => runPrograms(nodeTests('tests/page'), nodeTest),
    e2e: async () => await built('release') && runPrograms(nodeTests('tests/e2e'), nodeTest),
    web: async () => await built('release') && await installed('tests/web') && runPrograms(nodeTests('tests/web'), nodeTest),
    conformance: async () => await built('release') && await installed('tests/conformance') &&
      runPrograms(nodeTests('tests/conformance'), nodeTest),
    crash: async () => await built('release') && runPrograms(nodeTests('tests/crash'), nodeTest),
    budget: async () => await built('release') && runPrograms(executables('bench/budget', /^run$/), budget),
  }[stage];
  const before = { ...totals };
  const builtBefore = secondsBuilding;
  const seconds = await timed(run) - (secondsBuilding - builtBefore);
  const passed = totals.passed - before.passed;
  const failed = totals.failed - before.failed;
  times.push({ what: stage, seconds, passed, failed });
}

// --- building -----------------------------------------------------------------------------------------------


// Configures and builds what the tests of a preset need, once; false, and one failure, if that does not work.
function built(preset) {
  if (!builds.has(preset)) builds.set(preset, build(preset));
  return builds.get(preset);
}

async function build(preset) {
  let isBuilt = false;
  const seconds = await timed(async () => {
    progress(`build ${preset}`);
    const settings = preset === 'release' ? ['-DREPRISE_TESTS=ON'] : [];
    const configured = await execute('scripts/configure.sh', [preset, ...settings], { seconds: 300 });
    if (configured.code !== 0) return fail(`configure ${preset}`, configured.output);
    const targets = buildTargets(preset);
    if (targets.length > 0) {
      // Other work on the machine shows in the time, never in the result.
      const made = await execute('ninja', ['-C', `build/${preset}`, ...targets], { seconds: 1800, isShown: true });
      if (made.code !== 0) return fail(`build ${preset}`, made.output);
    }
    isBuilt = true;
  });
  secondsBuilding += seconds;
  times.push({ what: `build ${preset}`, seconds });
  return isBuilt;
}

// The npm packages of a directory, installed once; false, and one failure, if that does not work.
async function installed(directory) {
  const mark = path.join(directory, 'node_modules/.package-lock.json');
  if (existsSync(mark) && statSync(mark).mtimeMs >= statSync(path.join(directory, 'package-lock.json')).mtimeMs) {
    return true;
  }
  progress(`npm install in ${directory}`);
  // Not `npm ci`: it refuses a lock file without registry addresses when a package has parts for other platforms.
  const done = await execute('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'],
                             { seconds: 300, cwd: directory });
  return done.code === 0 || fail(`npm install in ${directory}`, done.output);
}

// Release builds everything; the sanitizers build the unit tests, and asan the fuzzers too (a build of their own would
// compile every library once more).
function buildTargets(preset) {
  if (preset === 'release') return ['all'];
  return preset === 'asan' ? [...unitTestNames(preset), ...fuzzerNames(preset)] : unitTestNames(preset);
}

function unitTestNames(preset) {
  return knownPrograms(preset, /^(\w+_test): CXX_EXECUTABLE/);
}

function fuzzerNames(preset) {
  return knownPrograms(preset, /^(\w+_fuzz): CXX_EXECUTABLE/);
}

function knownPrograms(preset, wanted) {
  const listed = execFileSync('ninja', ['-C', `build/${preset}`, '-t', 'targets', 'all'],
                              { encoding: 'utf8', maxBuffer: 64 << 20 });
  return listed.split('\n').map((line) => wanted.exec(line)?.[1]).filter(Boolean);
}

// --- what there is to run -----------------------------------------------------------------------------------

function executables(directory, name) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory).filter((entry) => name.test(entry))
    .map((entry) => path.join(directory, entry))
    .filter((file) => {
      try {
        accessSync(file, constants.X_OK);
        return statSync(file).isFile();
      } catch {
        return false;
      }
    });
}

// A program whose sources are gone is still in the build directory; only what the build knows is run.
function unitTests(preset) {
  return unitTestNames(preset).map((name) => `build/${preset}/${name}`);
}

function simulations() {
  return [...executables('build/release/sim', /_test$|^sim_|_sim$/), ...executables('build/release', /^sim_|_sim$/)];
}

function fuzzers() {
  return fuzzerNames('asan').map((name) => `build/asan/${name}`);
}

function nodeTests(directory) {
  return filesUnder(directory).filter((file) => /\.test\.m?js$/.test(file));
}

function filesUnder(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules') return [];
    const file = path.join(directory, entry.name);
    return entry.isDirectory() ? filesUnder(file) : [file];
  }).sort();
}

// --- how each kind is run -----------------------------------------------------------------------------------

function gtest(preset, seconds) {
  return async (program) => {
    const results = path.resolve('build', preset, 'results', `${path.basename(program)}.json`);
    mkdirSync(path.dirname(results), { recursive: true });
    rmSync(results, { force: true });
    const run = await execute(program, [`--gtest_output=json:${results}`, '--gtest_color=no'],
                              { seconds, env: sanitizerOptions() });
    return countGtest(run, results);
  };
}

function sanitizerOptions() {
  const suppressions = path.resolve('tests/tsan-suppressions.txt');
  const tsan = ['halt_on_error=1', 'second_deadlock_stack=1'];
  if (existsSync(suppressions)) tsan.push(`suppressions=${suppressions}`);
  const symbolizer = ['/usr/bin/llvm-symbolizer-19', '/usr/lib/llvm-19/bin/llvm-symbolizer'].find(existsSync);
  return {
    ...(symbolizer ? { ASAN_SYMBOLIZER_PATH: symbolizer, TSAN_SYMBOLIZER_PATH: symbolizer } : {}),
    ASAN_OPTIONS: 'detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1',
    UBSAN_OPTIONS: 'print_stacktrace=1',
    TSAN_OPTIONS: tsan.join(':'),
  };
}

function countGtest(run, results) {
  const counted = { passed: 0, failed: 0, output: run.output };
  if (existsSync(results)) {
    for (const suite of JSON.parse(readFileSync(results, 'utf8')).testsuites) {
      for (const test of suite.testsuite ?? []) {
        if (test.failures || test.result === 'SKIPPED' || test.status === 'NOTRUN') counted.failed += 1;
        else counted.passed += 1;
      }
    }
    if (run.code !== 0 && counted.failed === 0) counted.failed = 1;  // a leak or a race found at exit
  } else {
    // It crashed or hung: what had passed or failed until then counts, and the crash is one failure more.
    counted.passed = run.output.match(/^\[ {7}OK \]/gm)?.length ?? 0;
    counted.failed = 1 + (run.output.match(/^\[ {2}FAILED {2}\] .* ms\)$/gm)?.length ?? 0);
    counted.output += `\n${run.verdict} in ${run.output.match(/^\[ RUN {6}\] (.*)$/gm)?.at(-1) ?? 'the program'}`;
  }
  return counted;
}

async function fuzz(program) {
  const name = path.basename(program);
  const found = path.join('build/asan/corpus', name);
  const artifacts = path.join('build/asan/artifacts', '/');
  mkdirSync(found, { recursive: true });
  mkdirSync(artifacts, { recursive: true });
  const corpus = filesUnder('src').map(path.dirname).find((directory) => directory.endsWith(`corpus/${name}`));
  const seconds = options.quick ? 2 : 10;
  const run = await execute(program, [
    `-max_total_time=${seconds}`, '-timeout=10', '-rss_limit_mb=2048', '-print_final_stats=0',
    `-artifact_prefix=${artifacts}${name}-`, found, ...(corpus ? [corpus] : []),
  ], { seconds: seconds + 120, env: sanitizerOptions() });
  return asOneTest(run);
}

async function simulate(program) {
  if (program.endsWith('_test')) return gtest('release', 600)(program);
  return asOneTest(await execute(program, [], { seconds: 600 }));
}

async function budget(program) {
  return asOneTest(await execute(program, [], { seconds: 900 }));
}

// A program that prints `N passed, N failed` is taken at its word; another is one test.
function asOneTest(run) {
  const said = /(\d+) passed, (\d+) failed\s*$/.exec(run.output);
  const counted = { passed: Number(said?.[1] ?? 0), failed: Number(said?.[2] ?? 0), output: run.output };
  if (run.code !== 0 && counted.failed === 0) {
    counted.failed = 1;
    counted.output += `\n${run.verdict}`;
  } else if (!said) {
    counted.passed = 1;
  }
  return counted;
}

async function nodeTest(file) {
  const run = await execute(process.execPath, ['--test', '--test-reporter=tap', file], {
    seconds: 1800,
    env: { NODE_OPTIONS: '', ...(options.quick ? { TEST_QUICK: '1' } : {}) },
  });
  const count = (name) => Number(new RegExp(`^# ${name} (\\d+)`, 'm').exec(run.output)?.[1] ?? 0);
  const failed = count('fail') + count('cancelled') + count('skipped') + count('todo');
  const isLost = run.code !== 0 && failed === 0;
  return {
    passed: count('pass'),
    failed: isLost ? 1 : failed,
    output: isLost ? `${run.output}\n${run.verdict}` : failedParts(run.output),
  };
}

// Of TAP, what a reader of failures wants: without the tests that passed.
function failedParts(tap) {
  const kept = [];
  let isPassing = false;
  for (const line of tap.split('\n')) {
    if (/^\s*(ok \d+|# Subtest)/.test(line)) isPassing = true;
    else if (/^\s*not ok \d+/.test(line) || /^#/.test(line)) isPassing = false;
    if (!isPassing) kept.push(line);
  }
  return kept.join('\n');
}

// --- running ------------------------------------------------------------------------------------------------

// Runs each program with `runOne`, two at a time, and counts.
async function runPrograms(programs, runOne) {
  const queue = [...programs];
  const worker = async () => {
    for (let program = queue.shift(); program; program = queue.shift()) {
      let result;
      const seconds = await timed(async () => { result = await runOne(program); });
      totals.passed += result.passed;
      totals.failed += result.failed;
      progress(`${program}: ${result.passed} passed, ${result.failed} failed (${seconds.toFixed(1)} s)`);
      if (result.failed > 0) failures.push({ what: program, output: result.output });
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
}

// Runs a program in a process group of its own, without input; what it leaves behind is ended with it.
function execute(program, args, { seconds, env = {}, cwd, isShown = false }) {
  return new Promise((resolve) => {
    const file = program.includes('/') ? path.resolve(program) : program;
    const child = spawn(file, args, {
      cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true,
    });
    children.add(child);
    let output = '';
    let isLate = false;
    const take = (text) => {
      output += text;
      if (output.length > 4 * outputKept) output = `[...]\n${output.slice(-2 * outputKept)}`;
      if (isShown) showBuildStep(text);
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    const timer = setTimeout(() => {
      isLate = true;
      killGroup(child, 'SIGABRT');
      setTimeout(() => killGroup(child, 'SIGKILL'), 5000).unref();
    }, seconds * 1000);
    const done = (code, signal) => {
      clearTimeout(timer);
      children.delete(child);
      const verdict = isLate ? `timed out after ${seconds} s` : signal ? `ended by ${signal}` : `exit status ${code}`;
      resolve({ code: isLate ? -1 : code ?? -1, output, verdict });
    };
    child.on('error', (error) => { output += `${program}: ${error.message}\n`; done(-1, null); });
    child.on('exit', (code, signal) => {
      // What it left behind in its group is ended, then the rest of the output is read. A process that has left the
      // group may hold the pipes open for ever; it is not waited for.
      killGroup(child, 'SIGKILL');
      const patience = setTimeout(() => done(code, signal), 5000);
      child.on('close', () => { clearTimeout(patience); done(code, signal); });
    });
  });
}

function killGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Nobody is left.
  }
}

// Ninja's progress: every tenth step, and a line for what is not a step (a warning, an error).
function showBuildStep(text) {
  for (const line of text.split('\n')) {
    const step = /^\[(\d+)\/(\d+)\]/.exec(line);
    if (step && Number(step[1]) % 10 === 0) console.log(`   ${line.slice(0, 110)}`);
  }
}

// --- reporting ----------------------------------------------------------------------------------------------

async function timed(work) {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e9;
}

function progress(text) {
  console.log(`== ${text}`);
}

function fail(what, output) {
  totals.failed += 1;
  failures.push({ what, output });
}

function report() {
  for (const { what, output } of failures) {
    console.log(`\n---- FAILED ${what}`);
    console.log(output.length > outputKept ? `[...]\n${output.slice(-outputKept)}` : output.trimEnd());
  }
  console.log('\nstage          seconds   passed   failed');
  for (const { what, seconds, passed, failed } of times) {
    const counts = passed === undefined ? '' : `${String(passed).padStart(9)}${String(failed).padStart(9)}`;
    console.log(`${what.padEnd(14)} ${seconds.toFixed(1).padStart(7)}${counts}`);
  }
  for (const { what } of failures) console.log(`failed: ${what}`);
  console.log(`${totals.passed} passed, ${totals.failed} failed`);
  process.exit(totals.failed > 0 ? 1 : 0);
}
