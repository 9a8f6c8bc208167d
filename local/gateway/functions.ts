import { type OperationName, operations } from '../../lib/api/routes.ts'
import type { Authorizer } from './authorizer.ts'
import type { Handlers } from './gateway.ts'

type Functions = { handlers: Handlers; authorizer: Authorizer; sweep: () => Promise<void> }

/** The Lambda functions of `routes.ts`. Each is loaded at its first call, so that unused ones take no memory. */
export function localFunctions(): Functions {
  const names = Object.keys(operations) as OperationName[]
  const entries = names.map((name) => [name, lazyHandler(name)])
  return {
    handlers: Object.fromEntries(entries) as Handlers,
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
