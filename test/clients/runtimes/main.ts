/**
 * `npm run test:runtimes`: the packed client in Node 18, this Node, Deno, Bun, workerd and Chromium, on a local
 * service. npm downloads the runtimes once (500 MB); Chromium is skipped where it is not installed.
 */
import { deepStrictEqual } from 'node:assert'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type BuildOptions, build } from 'esbuild'
import { findChromium, launch } from '../../browser/support/launch.ts'
import { runCommand } from '../../support/processes/processes.ts'
import { createClient } from '../../support/service/client.ts'
import { startService } from '../../support/service/start-service.ts'
import { packClient } from '../typescript/pack-client.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/runtimes', import.meta.url))
const TOKEN = 'runtimes-token'
const TIMEOUT_MS = 60_000

const EXPECTED = {
  run: {
    redactedContent: 'Write to [EMAIL_ADDRESS].',
    entities: [{ type: 'EMAIL_ADDRESS', start: 9, end: 24, replacement: '[EMAIL_ADDRESS]' }],
  },
  waited: 'SUCCESS',
  events: ['IN_PROGRESS', 'SUCCESS', 'done'],
  executions: 2,
  error: [422, 'InputSchemaMismatch', ['/content', '/contents']],
  abort: 'enough',
  aborted: 'Cancelled',
  webhooks: ['body', 'signature'],
  nowhere: 'ConnectionFailed',
}

const run = promisify(execFile)
const installed = (command: string) => join(CACHE, 'node_modules/.bin', command)

type Runtime = { name: string; command: string; args: string[] }
const RUNTIMES: Runtime[] = [
  { name: 'Node 18', command: installed('node'), args: [] },
  { name: `Node ${process.versions.node.split('.')[0]}`, command: process.execPath, args: [] },
  { name: 'Bun', command: installed('bun'), args: [] },
  { name: 'Deno', command: installed('deno'), args: ['run', '--allow-net', '--node-modules-dir=manual'] },
]

await installRuntimes()
const client = await packClient()
const dataDir = mkdtempSync(join(tmpdir(), 'aes-runtimes-'))
const service = await startService({ dataDir, environment: { DEV_TOKEN: TOKEN, CORS_ORIGINS: '*' } })
try {
  for (const file of ['scenario.mjs', 'run-file.mjs', 'worker.mjs', 'workerd.capnp'])
    cpSync(join(HERE, file), join(client.folder, file))
  for (const { name, command, args } of RUNTIMES) {
    const file = [...args, 'run-file.mjs', service.url, TOKEN]
    const { stdout } = await run(command, file, { cwd: client.folder, timeout: TIMEOUT_MS })
    await check(name, JSON.parse(stdout))
  }
  await check('workerd', await runInWorkerd())
  if (findChromium()) await check('Chromium', await runInChromium())
  else console.log('Chromium: skipped, it is not installed')
} finally {
  await service.stop()
  client.remove()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
}

/** Later calls reuse them until a version changes. */
async function installRuntimes(): Promise<void> {
  const wanted = readFileSync(join(HERE, 'package.json'), 'utf8')
  mkdirSync(CACHE, { recursive: true })
  cpSync(join(HERE, 'package.json'), join(CACHE, 'package.json'))
  const lists = ['ls', '--json', '--prefix', CACHE]
  const isInstalled = await run('npm', lists).then(
    () => true,
    () => false,
  )
  if (isInstalled) return
  console.log(`Installing ${Object.keys(JSON.parse(wanted).dependencies).join(', ')} (once)`)
  await runCommand('npm', ['install', '--no-audit', '--no-fund', '--silent', '--prefix', CACHE])
}

async function runInWorkerd(): Promise<unknown> {
  await bundle('worker.mjs', { outfile: join(client.folder, 'bundle.mjs'), format: 'esm' })
  const workerd = await startWorkerd(installed('workerd'), join(client.folder, 'workerd.capnp'))
  try {
    const query = new URLSearchParams({ baseUrl: service.url, token: TOKEN })
    return await (await fetch(`${workerd.url}/?${query}`)).json()
  } finally {
    await workerd.stop()
  }
}

/** On a page of another origin than that of the service. On localhost, pages without TLS have `crypto.subtle`. */
async function runInChromium(): Promise<unknown> {
  const content = await bundle('scenario.mjs', { format: 'iife', globalName: 'scenario' })
  const browser = await launch()
  try {
    const page = await browser.newPage()
    await page.goto(`${service.url.replace('127.0.0.1', 'localhost')}/v1/openapi.json`)
    await page.addScriptTag({ content })
    return await page.evaluate(`scenario.useClient('${service.url}', '${TOKEN}')`)
  } finally {
    await browser.close()
  }
}

/** Returns the code; it is empty if it is written to a file. */
async function bundle(file: string, options: BuildOptions): Promise<string> {
  const entryPoints = [join(client.folder, file)]
  const write = options.outfile !== undefined
  const { outputFiles } = await build({ ...options, entryPoints, bundle: true, write, logLevel: 'error' })
  return outputFiles?.[0]?.text ?? ''
}

/** Compares what the client saw, and removes it for the next runtime. */
async function check(name: string, seen: unknown): Promise<void> {
  deepStrictEqual(seen, EXPECTED, name)
  const call = createClient(service.url, TOKEN)
  for (const { id } of (await call('GET', '/v1/agent_executions?limit=100')).json)
    await call('DELETE', `/v1/agent_executions/${id}`)
  console.log(`${name}: ok`)
}

/** Starts workerd on a free port. It reports the port on a file descriptor. */
async function startWorkerd(command: string, config: string) {
  const child = spawn(command, ['serve', config, '--control-fd=3'], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const exited = once(child, 'exit')
  const [line] = await once(createInterface({ input: child.stdio[3] as Readable }), 'line')
  const { port } = JSON.parse(String(line)) as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}
