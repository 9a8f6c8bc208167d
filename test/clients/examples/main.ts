/**
 * `npm run examples`: runs the examples against a service and checks what they print, that their types are up to date,
 * and, in Python, with mypy. With `--generated`, compiles clients that are generated for Java, Go and Python instead,
 * as the night does. Skips what needs a program that is missing.
 */
import { strictEqual } from 'node:assert'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { hasPython, MIN_PYTHON_MINOR, packagePython } from '../../support/processes/python-environment.ts'
import { startService } from '../../support/service/start-service.ts'
import { checkPythonTypes } from './check-python-types.ts'
import { compileGeneratedClients } from './generated-clients.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const EXAMPLES = fileURLToPath(new URL('../../../examples/python', import.meta.url))
const TOKEN = 'example-token'
const TIMEOUT_MS = 120_000

const EXPECTED = `\
sync: Write to [EMAIL_ADDRESS].
async: IN_PROGRESS
async: waited 1 second
idempotency: same execution true
error: 422 InputSchemaMismatch at /content, /contents
`

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
    if (await hasPython()) await checkPython(service.url)
    else console.log(`Python: skipped, it needs Python 3.${MIN_PYTHON_MINOR} with venv`)
  } finally {
    await service.stop()
  }
}

async function checkPython(url: string): Promise<void> {
  const { commandOf, environment } = await packagePython()
  const command = commandOf('python')
  const args = ['-m', 'agent_execution', 'types', '--url', url, '--token', TOKEN]
  const { stdout } = await run(command, args, { env: environment, timeout: TIMEOUT_MS })
  const file = join(EXAMPLES, 'agent_types.py')
  strictEqual(readFileSync(file, 'utf8'), stdout, `${file} is not what the package writes`)
  await checkExample(url, { name: 'Python', command, args: ['-B', 'example.py'], cwd: EXAMPLES, environment })
  await checkPythonTypes(commandOf, environment, folder)
  console.log('Python types: ok')
}

async function checkTypes(url: string, file: string): Promise<void> {
  const args = ['cli/main.mjs', 'types', '--url', url, '--token', TOKEN]
  const { stdout } = await run(process.execPath, args, { cwd: ROOT, timeout: TIMEOUT_MS })
  strictEqual(readFileSync(join(ROOT, file), 'utf8'), stdout, `${file} is not what agents types writes`)
}

type Example = {
  name: string
  command: string
  args: string[]
  cwd?: string
  environment?: NodeJS.ProcessEnv
}

async function checkExample(
  url: string,
  { name, command, args, cwd = ROOT, environment = process.env }: Example,
): Promise<void> {
  const env = { ...environment, BASE_URL: url, API_TOKEN: TOKEN }
  const { stdout } = await run(command, args, { cwd, env, timeout: TIMEOUT_MS })
  strictEqual(stdout, EXPECTED, name)
  console.log(`${name}: ok`)
}
