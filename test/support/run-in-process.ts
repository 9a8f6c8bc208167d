import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import type { Environment } from '../../lib/environment.ts'
import { LOCAL_TABLE } from '../../local/emulators/provision.ts'

const RUNNER = fileURLToPath(new URL('dying-runner.ts', import.meta.url))

/** Takes up an execution in a process of its own, which dies after so many writes; 0 for never. */
export async function runInChildProcess(id: string, killAfter: number, environment: Environment) {
  const child = spawn(process.execPath, [RUNNER, id, String(killAfter)], {
    env: {
      ...process.env,
      ...environment,
      TABLE_NAME: LOCAL_TABLE,
      DYNAMODB_ENDPOINT: inject('dynamodb'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.on('data', (chunk) => {
    printed += chunk
  })
  const [code, signal] = await once(child, 'close')
  return { code, signal, report: printed === '' ? null : JSON.parse(printed) }
}
