import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Starts the service with `npm start` on a free port, runs each example, checks what it prints, stops the service. */

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const READY_MS = 60_000
const EXAMPLE_MS = 60_000
const STOP_MS = 10_000

const EXPECTED = `\
sync: Write to [EMAIL_ADDRESS].
async: IN_PROGRESS
async: waited 1 second
idempotency: same execution true
error: 422 InputSchemaMismatch at /content, /contents
`

const EXAMPLES = [
  { name: 'TypeScript', command: process.execPath, args: ['examples/typescript/example.ts'] },
  { name: 'Python', command: 'python3', args: ['-B', 'examples/python/example.py'] },
]

const run = promisify(execFile)
const token = 'example-token'

const dataDir = await mkdtemp(join(tmpdir(), 'aes-examples-'))
const service = spawn('npm', ['start'], {
  cwd: ROOT,
  env: { ...process.env, PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir, DEV_TOKEN: token },
  stdio: ['ignore', 'pipe', 'inherit'],
})
/** Closed, not only exited: npm exits first, the service when it has finished its requests. */
const closed = once(service, 'close')
try {
  const baseUrl = await readUrl(service)
  for (const example of EXAMPLES) await check(example, baseUrl)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  service.kill('SIGTERM')
  const timer = setTimeout(() => {
    console.error(`The service did not stop within ${STOP_MS} ms.`)
    process.exit(1)
  }, STOP_MS)
  await closed
  clearTimeout(timer)
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
}

/** Keeps reading after the `ready` line: a full pipe would block the service. */
function readUrl({ stdout }: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  const printed: string[] = []
  const lines = createInterface({ input: stdout })
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`${reason}:\n${printed.join('\n')}`))
    const timer = setTimeout(() => fail(`The service was not ready within ${READY_MS} ms`), READY_MS)
    lines.on('line', (line) => {
      printed.push(line)
      if (!line.startsWith('ready ')) return
      clearTimeout(timer)
      resolve(line.slice('ready '.length))
    })
    lines.once('close', () => {
      clearTimeout(timer)
      fail('The service stopped before it was ready')
    })
  })
}

async function check({ name, command, args }: (typeof EXAMPLES)[number], baseUrl: string): Promise<void> {
  if (!(await isAvailable(command))) {
    console.log(`${name}: skipped, ${command} is not installed`)
    return
  }
  const env = { ...process.env, BASE_URL: baseUrl, API_TOKEN: token }
  const { stdout } = await run(command, args, { cwd: ROOT, env, timeout: EXAMPLE_MS })
  if (stdout !== EXPECTED) throw new Error(`${name}: expected\n${EXPECTED}\nbut it printed\n${stdout}`)
  console.log(`${name}: ok`)
}

async function isAvailable(command: string): Promise<boolean> {
  return run(command, ['--version']).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )
}
