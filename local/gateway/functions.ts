import { join } from 'node:path'
import { functionOf, operationNames } from '../../lib/api/routes.ts'
import { CONSOLE_FOLDER } from '../../lib/environment.ts'
import { dataFolder } from '../data-folder.ts'
import type { Authorizer } from './authorizer.ts'
import type { Handlers } from './gateway.ts'

type Functions = { handlers: Handlers; authorizer: Authorizer; sweep: () => Promise<void> }

/** The Lambda functions of `routes.ts`. Each is loaded at its first call, so that unused ones take no memory. */
export function localFunctions(): Functions {
  const entries = operationNames.map((name) => [name, lazyHandler(functionOf(name))])
  return {
    handlers: { ...Object.fromEntries(entries), 'serve-console': consoleHandler() } as Handlers,
    authorizer: lazyHandler('authorize-request'),
    sweep: lazyHandler('sweep-executions'),
  }
}

function lazyHandler<Args extends unknown[], Result>(name: string): (...args: Args) => Promise<Result> {
  let module: Promise<{ handler: (...args: Args) => Promise<Result> }> | undefined
  return async (...args) => {
    module ??= import(`../../functions/${name}.ts`)
    return (await module).handler(...args)
  }
}

/** Builds the console at the first request to it: a start does not wait, and a service without users saves it. */
function consoleHandler(): Handlers['serve-console'] {
  const serve = lazyHandler<[object, object], unknown>('serve-console')
  let built: Promise<void> | undefined
  return async (event, context) => {
    built ??= buildLocalConsole()
    await built.catch((error: unknown) => {
      built = undefined
      throw error
    })
    return serve(event, context)
  }
}

async function buildLocalConsole(): Promise<void> {
  if (process.env[CONSOLE_FOLDER]) return
  const { buildConsole, stopBuilder } = await import('../../lib/console-server/build-console.ts')
  const folder = join(dataFolder(), 'console')
  await buildConsole(folder, { quality: 5 })
  await stopBuilder()
  process.env[CONSOLE_FOLDER] = folder
}
