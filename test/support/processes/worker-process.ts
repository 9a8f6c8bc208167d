import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import type { Environment } from '../../../lib/environment.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'

const MAIN = fileURLToPath(new URL('worker-process-main.ts', import.meta.url))

type Options = {
  /** The worker kills itself after this many writes. Default: never. */
  killAfterWrites?: number
  /** Configures the model. */
  environment: Environment
}

/** Processes an execution in a child process. `report` is null for a killed process. */
export async function runWorker(id: string, { killAfterWrites = 0, environment }: Options) {
  const child = spawn(process.execPath, [MAIN, id, String(killAfterWrites)], {
    env: {
      ...process.env,
      ...environment,
      TABLE_NAME: LOCAL_TABLE,
      DYNAMODB_ENDPOINT: inject('dynamodb'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const [code, signal] = await once(child, 'close')
  return { code, signal, report: output === '' ? null : JSON.parse(output) }
}
