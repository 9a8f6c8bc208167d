import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { DYNAMODB_ENDPOINT } from '../../lib/environment.ts'
import { dataFolder } from '../../local/data-folder.ts'
import { readServiceUrl, responds } from '../../local/running-services.ts'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import type { SharedOptions } from '../options.ts'
import { onInterrupt } from '../terminal.ts'

/** For the help: `main.mjs` starts the service before it loads any command. */
export function addStartCommand(program: CliCommand): void {
  program
    .command('start')
    .description('Start the service on this machine, with the agents in the folder agents. Ctrl-C stops.')
    .run(() => {
      throw new UserError('start takes no options. Its settings are variables, such as PORT and DATA_DIR.')
    })
}

/**
 * Starts the service if none runs on the data folder, until this process ends. If it cannot start, it says why.
 * @param print prints what it says until it is ready
 */
export async function ensureService({ stack }: SharedOptions, print: (line: string) => void): Promise<void> {
  if (stack || process.env[DYNAMODB_ENDPOINT]) return
  const url = await readServiceUrl(dataFolder())
  if (url && (await responds(url))) return
  const service = spawn(process.execPath, [process.argv[1] ?? '', 'start'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(service, 'exit')
  onInterrupt(async () => {
    service.kill()
    await exited
  })
  let hasStarted = false
  const ready = Promise.withResolvers<void>()
  createInterface(service.stdout).on('line', (line) => {
    if (line.startsWith('ready ')) ready.resolve()
    else if (!hasStarted) print(line)
  })
  await Promise.race([ready.promise, exited])
  hasStarted = true
}
