import { type OperationName, operations } from '../lib/api/routes.ts'
import type { Authorizer } from './authorize.ts'
import type { Handlers } from './gateway.ts'

type Functions = { handlers: Handlers; authorizer: Authorizer; sweep: () => Promise<void> }

/**
 * The functions that Lambda would run, by the names that `routes.ts` gives them. Each is loaded when it is first called, as
 * there: what nobody calls takes no memory.
 */
export function localFunctions(): Functions {
  const names = Object.keys(operations) as OperationName[]
  const entries = names.map((name) => [name, lazily(name)])
  return {
    handlers: Object.fromEntries(entries) as Handlers,
    authorizer: lazily('authorize-request'),
    sweep: lazily('sweep-executions'),
  }
}

function lazily<Args extends unknown[], Result>(name: string): (...args: Args) => Promise<Result> {
  let loading: Promise<{ handler: (...args: Args) => Promise<Result> }> | undefined
  return async (...args) => {
    loading ??= import(`../functions/${name}.ts`)
    return (await loading).handler(...args)
  }
}
