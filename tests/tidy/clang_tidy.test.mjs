// clang-tidy finds nothing in src and sim (.clang-tidy says what it looks for). Unit tests are left to the
// compiler's warnings: GoogleTest's macros would take most of the time. A file that was clean is not looked at
// again until it, a header it includes, its flags or .clang-tidy change; that is remembered beside ccache's files, for
// all checkouts.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { build, compileCommands, dependencies, inParallel, run } from './clang.mjs';
import { expectNone, files, isTest, read, root } from './tree.mjs';

test('clang-tidy finds nothing', async () => {
  const version = execFileSync('clang-tidy-19', ['--version'], { encoding: 'utf8' });
  const includes = dependencies();
  const known = new Set(files);
  const cache = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'reprise-tidy');
  mkdirSync(cache, { recursive: true });
  const sources = compileCommands().filter(({ source }) =>
    /^(src|sim)\/.*\.cpp$/.test(source) && known.has(source) && !isTest(source));

  const keyOf = ({ source, command, output }) => {
    const hash = createHash('sha256').update(version).update(read('.clang-tidy')).update(command.replaceAll(root, ''));
    const made = includes.get(output);
    if (!made) return null;  // not built, so its headers are not known
    for (const file of [source, ...made]) if (known.has(file)) hash.update(file).update(read(file));
    return path.join(cache, hash.digest('hex'));
  };

  const found = [];
  await inParallel(sources, async (entry) => {
    const key = keyOf(entry);
    if (key && existsSync(key)) return;
    const { code, output } = await run('clang-tidy-19', ['--quiet', '-p', build, entry.source]);
    if (code !== 0) found.push(output.replace(/^\d+ warnings? .*\n/gm, '').replaceAll(`${root}/`, ''));
    else if (key) writeFileSync(key, '');
  });
  expectNone(found);
});
