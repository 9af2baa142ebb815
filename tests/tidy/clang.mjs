// What the compiler was told: build/release/compile_commands.json and what ninja knows of each object.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import path from 'node:path';
import { root } from './tree.mjs';

export const build = path.join(root, 'build/release');

export function compileCommands() {
  const file = path.join(build, 'compile_commands.json');
  if (!existsSync(file)) throw new Error('build/release is not built: ./test --only tidy does both');
  return JSON.parse(readFileSync(file, 'utf8')).map((entry) => ({
    ...entry,
    source: path.relative(root, path.resolve(entry.directory, entry.file)),
    output: / -o (\S+) -c /.exec(entry.command)[1],
  }));
}

// object -> the files it was made from, as paths from the root; those of the system are left out.
export function dependencies() {
  const found = new Map();
  let object;
  const listed = execFileSync('ninja', ['-C', build, '-t', 'deps'], { encoding: 'utf8', maxBuffer: 256 << 20 });
  for (const line of listed.split('\n')) {
    const heading = /^(\S+): #deps/.exec(line);
    if (heading) found.set(object = heading[1], []);
    const file = /^ {4}(\S+)/.exec(line)?.[1];
    const relative = file && path.relative(root, path.resolve(build, file));
    if (relative && !relative.startsWith('..') && !relative.startsWith('build/')) found.get(object).push(relative);
  }
  return found;
}

// Runs `work` over the items, as many at a time as there are cores.
export async function inParallel(items, work) {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: availableParallelism?.() ?? cpus().length }, worker));
}

// {code, output} of a program.
export function run(program, args) {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code ?? -1 : 0, output: stdout + stderr });
    });
  });
}
