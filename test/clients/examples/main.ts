/**
 * `npm run examples`: runs the examples against a service and checks what they print, that their types are up to date,
 * and, in Python, with mypy. With `--generated`, compiles clients that are generated for Java and Go instead, as the
 * night does. Skips what needs a program that is missing.
 */
import { strictEqual } from 'node:assert'
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { hasPython, installPython } from '../../support/processes/python-environment.ts'
import { startService } from '../../support/service/start-service.ts'
import { checkPythonTypes } from './check-python-types.ts'
import { compileGeneratedClients } from './generated-clients.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const EXAMPLES = fileURLToPath(new URL('../../../examples/python', import.meta.url))
const TOKEN = 'example-token'
const TIMEOUT_MS = 120_000

/** `NotRequired` and the generated client need it. */
const MIN_PYTHON_MINOR = 11

const EXPECTED = `\
sync: Write to [EMAIL_ADDRESS].
async: IN_PROGRESS
async: waited 1 second
idempotency: same execution true
error: 422 InputSchemaMismatch at /content, /contents
`

const HOSTILE = `\
page: UnexpectedResponse
null: UnexpectedResponse
list: UnexpectedResponse returned {}
text: UnexpectedResponse
object: UnexpectedResponse
half: ConnectionFailed
problem: UnexpectedResponse
proxy: UnexpectedResponse
nothing: ConnectionFailed
garbage: ConnectionFailed
parameter: got an unexpected keyword argument 'unknown'
`

const WAITING = 'True 200\n'

const run = promisify(execFile)
const { generated } = parseArgs({ options: { generated: { type: 'boolean', default: false } } }).values
const folder = mkdtempSync(join(tmpdir(), 'aes-examples-'))
try {
  await (generated ? compileGeneratedClients(folder) : checkExamples())
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

async function checkExamples(): Promise<void> {
  const service = await startService({ dataDir: join(folder, 'data'), environment: { DEV_TOKEN: TOKEN } })
  try {
    await checkTypes(service.url, 'examples/typescript/agents.ts')
    const example = join(ROOT, 'examples/typescript/example.ts')
    await checkExample(service.url, { name: 'TypeScript', command: process.execPath, args: [example] })
    if (await hasPython(MIN_PYTHON_MINOR)) await checkPython(service.url)
    else console.log(`Python: skipped, it needs Python 3.${MIN_PYTHON_MINOR} with venv`)
  } finally {
    await service.stop()
  }
}

function environmentOf(url: string) {
  return { ...process.env, BASE_URL: url, API_TOKEN: TOKEN }
}

async function checkPython(url: string): Promise<void> {
  await checkTypes(url, 'examples/python/agent_types.py', '--python')
  const { commandOf, sources } = await preparePython(folder, url)
  const args = ['-B', 'example.py']
  await checkExample(url, { name: 'Python', command: commandOf('python'), args, cwd: sources })
  await checkHostileResponses(commandOf('python'), sources)
  await checkWaiting(url, commandOf('python'), sources)
  await checkPythonTypes(commandOf('mypy'), sources)
  console.log('Python types: ok')
}

/** No exception of a library reaches the caller of `runs.py`. */
async function checkHostileResponses(python: string, sources: string): Promise<void> {
  cpSync(join(ROOT, 'test/clients/examples/hostile.py'), join(sources, 'hostile.py'))
  const { stdout } = await run(python, ['-B', 'hostile.py'], { cwd: sources, timeout: TIMEOUT_MS })
  strictEqual(stdout, HOSTILE, 'errors of runs.py')
  console.log('Python errors: ok')
}

/** `run` of `runs.py` returns the output of a run that has waited for an approval. */
async function checkWaiting(url: string, python: string, sources: string): Promise<void> {
  cpSync(join(ROOT, 'test/clients/examples/waiting.py'), join(sources, 'waiting.py'))
  const { stdout } = await run(python, ['-B', 'waiting.py'], {
    cwd: sources,
    env: environmentOf(url),
    timeout: TIMEOUT_MS,
  })
  strictEqual(stdout, WAITING, 'output of a run that waits')
  console.log('Python, a run that waits: ok')
}

async function checkTypes(url: string, file: string, ...options: string[]): Promise<void> {
  const args = ['cli/main.mjs', 'types', '--url', url, '--token', TOKEN, ...options]
  const { stdout } = await run(process.execPath, args, { cwd: ROOT, timeout: TIMEOUT_MS })
  strictEqual(readFileSync(join(ROOT, file), 'utf8'), stdout, `${file} is not what agents types writes`)
}

type Example = { name: string; command: string; args: string[]; cwd?: string }

async function checkExample(url: string, { name, command, args, cwd = ROOT }: Example): Promise<void> {
  const { stdout } = await run(command, args, { cwd, env: environmentOf(url), timeout: TIMEOUT_MS })
  strictEqual(stdout, EXPECTED, name)
  console.log(`${name}: ok`)
}

/** Copies the example to a folder with the client that the command in docs/clients.md generates. */
async function preparePython(folder: string, serviceUrl: string) {
  const commandOf = await installPython(new URL('requirements.txt', import.meta.url))
  const sources = join(folder, 'python')
  cpSync(EXAMPLES, sources, { recursive: true })
  const options = ['--meta', 'none', '--output-path', 'agent_execution_service_client']
  const source = ['--url', `${serviceUrl}/v1/openapi.json`]
  // It formats its output with ruff, which it looks for in PATH.
  const env = { ...process.env, PATH: `${join(commandOf('python'), '..')}:${process.env.PATH}` }
  await run(commandOf('openapi-python-client'), ['generate', ...source, ...options], { cwd: sources, env })
  return { commandOf, sources }
}
