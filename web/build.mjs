// Builds the devtools page and lists its files for the binary.
//
//     node web/build.mjs DIRECTORY
//
// DIRECTORY gets page_files.inc (src/api/page_files.cpp says how it is read) and each file twice: <number> as it is,
// <number>.gz compressed. Names below /assets/ carry the hash of their content. The page may weigh 200 KiB compressed;
// a heavier one is an error.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { constants, gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';

const source = path.join(path.dirname(fileURLToPath(import.meta.url)), 'src');
const maxGzipBytes = 200 * 1024;
const contentTypes = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

// The files of the page: [{path, type, hash, bytes}], the page itself first.
export async function buildPage() {
  const worker = await bundle({ entryPoints: { monitor: path.join(source, 'monitor/worker.ts') } });
  const app = await bundle({
    entryPoints: { app: path.join(source, 'main.tsx') },
    define: { MONITOR_WORKER: JSON.stringify(nameOf(worker, '.js')) },
  });
  const icon = asset('icon.svg', readFileSync(path.join(source, 'icon.svg')));
  const page = readFileSync(path.join(source, 'index.html'), 'utf8')
    .replace('{script}', nameOf(app, '.js')).replace('{style}', nameOf(app, '.css')).replace('{icon}', icon.path);
  return [file('/', '.html', Buffer.from(page)), ...app, ...worker, icon];
}

async function bundle(options) {
  const result = await esbuild.build({
    bundle: true, write: false, minify: true, outdir: source, entryNames: '[name]', format: 'iife',
    target: ['es2022'], jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none', logLevel: 'warning',
    ...options,
  });
  return result.outputFiles.map((output) => asset(path.basename(output.path), Buffer.from(output.contents)));
}

function asset(name, bytes) {
  const { name: stem, ext } = path.parse(name);
  return file(`/assets/${stem}-${hashOf(bytes).slice(0, 10)}${ext}`, ext, bytes);
}

function file(where, extension, bytes) {
  return { path: where, type: contentTypes[extension], hash: hashOf(bytes).slice(0, 20), bytes };
}

function hashOf(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function nameOf(files, extension) {
  return files.find((made) => made.path.endsWith(extension)).path;
}

function write(files, directory) {
  mkdirSync(directory, { recursive: true });
  let total = 0;
  files.forEach(({ bytes }, number) => {
    const gzip = gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION });
    total += gzip.length;
    writeFileSync(path.join(directory, String(number)), bytes);
    writeFileSync(path.join(directory, `${number}.gz`), gzip);
  });
  if (total > maxGzipBytes) {
    throw new Error(`the page weighs ${total} bytes compressed; ${maxGzipBytes} are the most`);
  }
  const rows = files.map(({ path: where, type, hash }, number) =>
    `REPRISE_PAGE_FILE(${number}, "${where}", "${type}", "${hash}")\n`);
  // Last, and at once: the build takes it as the sign that all is there.
  const list = path.join(directory, 'page_files.inc');
  writeFileSync(`${list}.new`, rows.join(''));
  renameSync(`${list}.new`, list);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv.length !== 3) {
    console.error('usage: node web/build.mjs DIRECTORY');
    process.exit(2);
  }
  write(await buildPage(), process.argv[2]);
}
