import { execFile } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { installPython } from '../../support/processes/python-environment.ts'

const EXAMPLES = fileURLToPath(new URL('../../../examples/python', import.meta.url))

const run = promisify(execFile)

/** Copies the example to a folder with the client that the command in docs/clients.md generates. */
export async function preparePython(folder: string, serviceUrl: string) {
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
